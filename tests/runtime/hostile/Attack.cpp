// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Attack.h"

#include "JsonDamage.h"

#include "runtime/Launcher.h"
#include "runtime/emulator/Emulator.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

namespace kw::test {
namespace {

namespace fs = std::filesystem;

/// Runs a few workgroups, each for a moment, so that a hundred thousand mutants take minutes.
class ImpatientDevice final : public Device {
public:
  explicit ImpatientDevice(std::uint64_t number) : number(number) {}
  std::string_view name() const override { return "emulated"; }
  Expected<RunResult> run(const CodeObject &object, std::span<const BufferView> buffers,
                          const RunOptions &options) override {
    RunOptions how = options;
    how.instructionBudget = 400 + number % 1200;
    for (const Launch &launch : object.manifest.launches) {
      const std::uint64_t all = std::uint64_t{launch.grid[0]} * launch.grid[1] * launch.grid[2];
      std::set<std::uint64_t> chosen{0, all - 1};
      how.workgroups.emplace_back(chosen.begin(), chosen.end());
    }
    return emulated->run(object, buffers, how);
  }

private:
  std::uint64_t number;
  std::unique_ptr<Device> emulated = makeEmulatedDevice();
};

/// Small buffers where their size costs time here: filled with random values, or saved.
void shrink(Manifest &manifest) {
  constexpr std::int64_t enough = 1 << 16;
  for (Buffer &buffer : manifest.buffers) {
    const bool filled =
        buffer.init.kind != BufferInit::Kind::zero && buffer.init.kind != BufferInit::Kind::poison;
    if (filled || !buffer.save.empty()) {
      buffer.bytes = std::min(buffer.bytes, enough);
    }
  }
}

/// What the other commands ask of a code object.
void inspect(const std::vector<std::uint8_t> &hsaco) {
  const auto code = LoadedCode::load(hsaco);
  if (!code) {
    return;
  }
  for (const std::string &kernel : code->kernelNames()) {
    (void)code->disassemble(kernel);
    (void)code->instructions(kernel);
    (void)code->unknownInstructions(kernel);
  }
}

/// Anything in or beside the folder that no `save` names.
std::string strayFiles(const fs::path &folder, const std::vector<SavedBuffer> &saved) {
  for (const char *escape : escapes) {
    if (fs::exists(folder / escape)) {
      fs::remove(folder / escape);
      return fmt::format("{} was written", escape);
    }
  }
  std::set<std::string> named;
  for (const SavedBuffer &buffer : saved) {
    named.insert(buffer.file);
  }
  for (const auto &entry : fs::recursive_directory_iterator(folder)) {
    const std::string file = fs::absolute(entry.path()).lexically_normal().string();
    if (entry.is_regular_file() && !named.contains(file)) {
      return fmt::format("{} was written", file);
    }
  }
  return {};
}

Attacked refusal(Outcome outcome, const Error &error) {
  return {outcome, error.message, error.message.empty() ? "an error without a word" : ""};
}

} // namespace

Attacked attack(const Victim &victim, std::uint64_t number, const fs::path &folder) {
  if (number % 16 == 0) {
    inspect(victim.hsaco);
  }
  const auto json = nlohmann::json::parse(victim.manifest, nullptr, /*throws*/ false);
  if (json.is_discarded()) {
    return {Outcome::manifestRefused, "not JSON", {}};
  }
  Expected<Manifest> manifest = parseManifest(json);
  if (!manifest) {
    return refusal(Outcome::manifestRefused, manifest.error());
  }
  (void)toJson(*manifest);
  shrink(*manifest);
  ImpatientDevice device(number);
  LaunchOptions options;
  options.strict = number % 4 != 0;
  options.seed = number;
  options.jobs = number % 32 == 1 ? 2 : 1;
  options.schedules = number % 8 == 5 ? 2 : 0;
  const Expected<LaunchOutcome> launched =
      launch({victim.hsaco, std::move(*manifest), {}}, folder, device, options);
  Attacked result;
  if (!launched) {
    result = refusal(Outcome::refused, launched.error());
  } else {
    result.outcome = launched->ok() ? Outcome::clean : Outcome::findings;
  }
  const std::string stray =
      strayFiles(folder, launched ? launched->outputs : std::vector<SavedBuffer>());
  result.broken = stray.empty() ? result.broken : stray;
  for (const auto &entry : fs::directory_iterator(folder)) {
    fs::remove_all(entry.path());
  }
  return result;
}

} // namespace kw::test
