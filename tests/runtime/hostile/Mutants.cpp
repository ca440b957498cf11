// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kw_mutants SEEDS FIRST COUNT [--keep FOLDER]: attacks with mutants FIRST ... FIRST + COUNT - 1
// of the manifests in the folder SEEDS. Ends with 1 at the first broken promise; a crash or a hang
// (60 s for one mutant) names the mutant. --keep writes each mutant as SEEDS would hold it,
// instead. kw_mutants SEEDS --corpus FOLDER: the seeds as inputs of kw_fuzz.
#include "Attack.h"
#include "Seeds.h"

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <fstream>
#include <unistd.h>

namespace {

using namespace kw::test;
namespace fs = std::filesystem;

constexpr unsigned secondsPerMutant = 60;
char current[64] = "no mutant";

extern "C" void onAlarm(int) {
  constexpr std::string_view hangs = " hangs\n";
  (void)!write(2, current, std::strlen(current));
  (void)!write(2, hangs.data(), hangs.size());
  std::abort();
}

void writeCorpus(const std::vector<Victim> &seeds, const fs::path &folder) {
  fs::create_directories(folder);
  for (std::size_t i = 0; i < seeds.size(); ++i) {
    const auto bytes = pack(seeds[i]);
    std::ofstream(folder / fmt::format("seed{}", i), std::ios::binary)
        .write(reinterpret_cast<const char *>(bytes.data()), std::ssize(bytes));
  }
}

void keep(const Victim &victim, std::uint64_t number, const fs::path &folder) {
  fs::create_directories(folder);
  std::ofstream(folder / fmt::format("mutant{}.json", number)) << victim.manifest;
  std::ofstream(folder / fmt::format("mutant{}.hsaco", number), std::ios::binary)
      .write(reinterpret_cast<const char *>(victim.hsaco.data()), std::ssize(victim.hsaco));
}

int attackAll(const Mutator &mutator, std::uint64_t first, std::uint64_t count) {
  const fs::path outer = fs::temp_directory_path() / fmt::format("kw-mutants-{}", getpid());
  const fs::path folder = outer / "inner";
  fs::create_directories(folder);
  std::array<std::uint64_t, outcomeNames.size()> tally{};
  int status = 0;
  for (std::uint64_t number = first; number < first + count && status == 0; ++number) {
    fmt::format_to_n(current, sizeof(current) - 1, "mutant {}{}", number, '\0');
    alarm(secondsPerMutant);
    const Attacked result = attack(mutator.make(number), number, folder);
    ++tally[static_cast<std::size_t>(result.outcome)];
    if (!result.broken.empty()) {
      fmt::print(stderr, "{}: {}\n", current, result.broken);
      status = 1;
    }
  }
  alarm(0);
  fs::remove_all(outer);
  fmt::print("{} mutants from {}", count, first);
  for (std::size_t i = 0; i < tally.size(); ++i) {
    fmt::print(", {} {}", tally[i], outcomeNames[i]);
  }
  fmt::print("\n");
  return status;
}

} // namespace

/// A sanitizer ends the process.
extern "C" void __sanitizer_set_death_callback(void (*callback)());
extern "C" void onDeath() { fmt::print(stderr, "{}\n", current); }

int main(int argc, char **argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  if (words.size() != 3 && words.size() != 5) {
    fmt::print(stderr, "kw_mutants SEEDS (FIRST COUNT [--keep FOLDER] | --corpus FOLDER)\n");
    return 2;
  }
  const std::vector<Victim> seeds = seedsOf(words[0]);
  if (seeds.empty()) {
    fmt::print(stderr, "{}: no manifests\n", words[0]);
    return 2;
  }
  if (words[1] == "--corpus") {
    writeCorpus(seeds, words[2]);
    return 0;
  }
  const Mutator mutator(seeds);
  const std::uint64_t first = std::stoull(words[1]), count = std::stoull(words[2]);
  if (words.size() == 5) {
    for (std::uint64_t number = first; number < first + count; ++number) {
      keep(mutator.make(number), number, words[4]);
    }
    return 0;
  }
  std::signal(SIGALRM, onAlarm);
  __sanitizer_set_death_callback(onDeath);
  return attackAll(mutator, first, count);
}
