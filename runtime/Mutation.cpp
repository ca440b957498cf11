// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Mutation.h"

#include "runtime/emulator/Emulator.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <fmt/format.h>
#include <mutex>
#include <optional>
#include <set>
#include <thread>

namespace kw {
namespace {

constexpr std::uint32_t nopWord = 0xBF800000, waitOpcode = 0xBF8C0000, opcodeMask = 0xFFFF0000;

std::vector<std::uint8_t> bytesOf(std::uint32_t word) {
  std::vector<std::uint8_t> bytes(4);
  std::memcpy(bytes.data(), &word, 4);
  return bytes;
}

/// Counts of an s_waitcnt. [gfx950.md 4.2]
struct WaitCounts {
  unsigned vmcnt, expcnt, lgkmcnt;
  static WaitCounts of(std::uint32_t word) {
    return {(word & 15) | (word >> 10 & 48), word >> 4 & 7, word >> 8 & 15};
  }
  std::uint32_t word() const {
    return waitOpcode | (vmcnt & 15) | (vmcnt & 48) << 10 | expcnt << 4 | lgkmcnt << 8;
  }
};

/// Field of the immediate offset in the first word, and a step that keeps alignment.
struct OffsetField {
  std::uint32_t mask = 0, step = 0;
};
OffsetField offsetOf(std::string_view text) {
  const std::uint32_t step = text.find("x4") != text.npos || text.find("b128") != text.npos  ? 16
                             : text.find("x2") != text.npos || text.find("b64") != text.npos ? 8
                                                                                             : 4;
  if (text.starts_with("ds_read2") || text.starts_with("ds_write2")) {
    return {0xff, 1};
  }
  if (text.starts_with("ds_read") || text.starts_with("ds_write")) {
    return {0xffff, step};
  }
  if (text.starts_with("buffer_load") || text.starts_with("buffer_store")) {
    return {0xfff, step};
  }
  if (text.starts_with("global_load") || text.starts_with("global_store")) {
    return {0xfff, step};
  }
  return {};
}

/// The mutations of one kernel.
class Mutator {
public:
  Mutator(const CodeObject &object, const std::string &kernel, std::vector<CodeInstruction> code,
          std::vector<Mutation> &out)
      : object(object), kernel(kernel), code(std::move(code)), out(out) {}

  void run() {
    for (std::size_t i = 0; i < code.size(); ++i) {
      const CodeInstruction &instruction = code[i];
      std::uint32_t word = 0;
      std::memcpy(&word, object.hsaco.data() + instruction.fileOffset, 4);
      if (instruction.text.starts_with("s_endpgm")) {
        padding = true; // the s_nop behind it are never reached
      } else if (!instruction.text.starts_with("s_nop")) {
        padding = false;
      }
      if ((word & opcodeMask) == waitOpcode) {
        wait(instruction, word);
      } else if (instruction.text == "s_barrier") {
        add(MutationKind::barrier, instruction, instruction.text, bytesOf(nopWord));
      } else if (instruction.text.starts_with("s_nop") && !padding) {
        nop(i, word);
      } else if (const OffsetField field = offsetOf(instruction.text); field.mask != 0) {
        const std::uint32_t offset = (word & field.mask) + field.step;
        if (offset <= field.mask) {
          add(MutationKind::address, instruction,
              fmt::format("{}: {} further", instruction.text, field.step),
              bytesOf((word & ~field.mask) | offset));
        }
      }
    }
  }

private:
  void add(MutationKind kind, const CodeInstruction &at, std::string what,
           std::vector<std::uint8_t> bytes) {
    out.push_back({kind, kernel, at.pc, std::move(what), {at.fileOffset, std::move(bytes)}});
  }

  void wait(const CodeInstruction &at, std::uint32_t word) {
    add(MutationKind::wait, at, at.text, bytesOf(nopWord));
    WaitCounts counts = WaitCounts::of(word);
    if (counts.vmcnt < 63) {
      WaitCounts looser = counts;
      ++looser.vmcnt;
      add(MutationKind::loosened, at, fmt::format("{}: vmcnt {}", at.text, looser.vmcnt),
          bytesOf(looser.word()));
    }
    if (counts.lgkmcnt < 15) {
      ++counts.lgkmcnt;
      add(MutationKind::loosened, at, fmt::format("{}: lgkmcnt {}", at.text, counts.lgkmcnt),
          bytesOf(counts.word()));
    }
  }

  void nop(std::size_t i, std::uint32_t word) {
    const CodeInstruction &at = code[i];
    if ((word & 0xffff) != 0) {
      add(MutationKind::nop, at, fmt::format("{}: one less", at.text), bytesOf(word - 1));
      return;
    }
    if (i + 1 == code.size() || code[i + 1].text.starts_with("s_")) {
      return;
    }
    const CodeInstruction &next = code[i + 1];
    const auto *from = object.hsaco.data() + next.fileOffset;
    std::vector<std::uint8_t> swapped(from, from + next.bytes);
    const std::vector<std::uint8_t> last = bytesOf(word);
    swapped.insert(swapped.end(), last.begin(), last.end());
    add(MutationKind::nop, at, fmt::format("{} behind {}", at.text, next.text), std::move(swapped));
  }

  const CodeObject &object;
  const std::string &kernel;
  const std::vector<CodeInstruction> code;
  std::vector<Mutation> &out;
  bool padding = false;
};

using Runner = std::function<Expected<TimedRun>(const CodeObject &, const RunOptions &)>;

class Trial {
public:
  Trial(const CodeObject &object, const MutationOptions &options, const Runner &run)
      : object(object), options(options), run(run) {
    strictly.seed = options.seed;
  }

  /// Runs the original: what it gives, and how long a wave of a mutant may take.
  Expected<std::vector<Finding>> begin() {
    Expected<TimedRun> original = run(object, strictly);
    if (!original) {
      return tl::unexpected<Error>(original.error());
    }
    expected = std::move(*original);
    strictly.instructionBudget = 0;
    std::uint64_t most = expected.result.instructions;
    for (const Timing &timing : timings(options.schedules, options.seed + 1)) {
      Expected<TimedRun> other = run(object, underTiming(strictly, timing));
      if (!other) {
        return tl::unexpected<Error>(other.error());
      }
      most = std::max(most, other->result.instructions);
      noteLoose(*other);
    }
    // One wave may have polled while all others waited.
    strictly.instructionBudget = 2 * most + 10'000;
    for (const Finding &finding : expected.result.findings) {
      known.insert({finding.kind, finding.pc});
    }
    return expected.result.findings;
  }

  MutantOutcome judge(const Mutation &mutation) const {
    MutantOutcome outcome;
    outcome.mutation = mutation;
    CodeObject mutant = object;
    std::copy(mutation.patch.bytes.begin(), mutation.patch.bytes.end(),
              mutant.hsaco.begin() + static_cast<std::ptrdiff_t>(mutation.patch.offset));
    judgeStrictly(mutant, outcome);
    if (mutation.kind == MutationKind::nop) {
      outcome.harmful = outcome.hasFinding; // the table says so
      outcome.harm = outcome.finding;
    } else {
      judgeHarm(mutant, outcome);
    }
    return outcome;
  }

private:
  void judgeStrictly(const CodeObject &mutant, MutantOutcome &outcome) const {
    Expected<TimedRun> strict = run(mutant, strictly);
    if (!strict) {
      outcome.hasFinding = true;
      outcome.finding = strict.error().message.substr(0, strict.error().message.find('\n'));
      return;
    }
    for (const Finding &finding : strict->result.findings) {
      if (!known.contains({finding.kind, finding.pc}) && !outcome.hasFinding) {
        outcome.hasFinding = true;
        outcome.finding = fmt::format("{} at {:#x}: {}", finding.kind, finding.pc, finding.detail);
      }
    }
    outcome.wrongOutput = differs(*strict);
  }

  void judgeHarm(const CodeObject &mutant, MutantOutcome &outcome) const {
    for (const Timing &timing : timings(options.schedules, options.seed + 1)) {
      Expected<TimedRun> other = run(mutant, underTiming(strictly, timing));
      if (!other || differs(*other) || hangs(*other)) {
        outcome.harmful = true;
        outcome.harm = fmt::format("{} with {}",
                                   !other          ? "an error"
                                   : hangs(*other) ? "a hang"
                                                   : "another output",
                                   describe(timing));
        return;
      }
    }
  }

  static bool hangs(const TimedRun &other) {
    return std::any_of(other.result.findings.begin(), other.result.findings.end(),
                       [](const Finding &finding) { return finding.kind == "hang"; });
  }

  /// Calls different(buffer, byte) until it returns true.
  template <class F> bool anyDifference(const TimedRun &other, F different) const {
    for (std::size_t i = 0; i < object.manifest.buffers.size(); ++i) {
      if (object.manifest.buffers[i].role != BufferRole::output) {
        continue;
      }
      const auto a = expected.contents[i].bytes(), b = other.contents[i].bytes();
      for (auto at = std::mismatch(a.begin(), a.end(), b.begin()); at.first != a.end();
           at = std::mismatch(at.first + 1, a.end(), at.second + 1)) {
        if (different(i, static_cast<std::uint64_t>(at.first - a.begin()))) {
          return true;
        }
      }
    }
    return false;
  }
  void noteLoose(const TimedRun &other) {
    anyDifference(other, [&](std::size_t buffer, std::uint64_t byte) {
      loose.insert({buffer, byte});
      return false;
    });
  }
  bool differs(const TimedRun &other) const {
    return anyDifference(other, [&](std::size_t buffer, std::uint64_t byte) {
      return !loose.contains({buffer, byte});
    });
  }

  const CodeObject &object;
  const MutationOptions &options;
  const Runner &run;
  RunOptions strictly;
  TimedRun expected;
  /// Buffer and byte: what depends on the order in the original already, as tickets and sums by
  /// floating-point atomics do.
  std::set<std::pair<std::size_t, std::uint64_t>> loose;
  std::set<std::pair<std::string, std::uint64_t>> known;
};

} // namespace

std::string_view name(MutationKind kind) {
  constexpr std::string_view names[mutationKinds] = {"wait", "loosened", "barrier", "nop",
                                                     "address"};
  return names[static_cast<std::size_t>(kind)];
}

Expected<std::vector<Mutation>> mutationsOf(const CodeObject &object) {
  Expected<LoadedCode> code = LoadedCode::load(object.hsaco);
  if (!code) {
    return tl::unexpected<Error>(code.error());
  }
  std::vector<Mutation> mutations;
  std::set<std::string> seen;
  for (const Launch &launch : object.manifest.launches) {
    if (seen.insert(launch.kernel).second) {
      Mutator(object, launch.kernel, code->instructions(launch.kernel), mutations).run();
    }
  }
  return mutations;
}

Expected<MutationReport> mutate(const CodeObject &object, const MutationOptions &options,
                                const Runner &run) {
  Expected<std::vector<Mutation>> all = mutationsOf(object);
  if (!all) {
    return tl::unexpected<Error>(all.error());
  }
  std::vector<Mutation> chosen;
  const std::size_t count = options.limit == 0 ? all->size() : std::min(options.limit, all->size());
  for (std::size_t i = 0; i < count; ++i) {
    chosen.push_back((*all)[i * all->size() / count]);
  }
  Trial trial(object, options, run);
  MutationReport report;
  Expected<std::vector<Finding>> original = trial.begin();
  if (!original) {
    return tl::unexpected<Error>(original.error());
  }
  report.original = std::move(*original);
  report.mutants.resize(count);
  std::atomic<std::size_t> next{0};
  std::mutex telling;
  std::size_t done = 0;
  const auto work = [&] {
    for (std::size_t i = next++; i < count; i = next++) {
      report.mutants[i] = trial.judge(chosen[i]);
      const std::lock_guard lock(telling);
      ++done;
      if (options.progress) {
        options.progress(done, count);
      }
    }
  };
  std::vector<std::thread> others;
  for (int job = 1; job < options.jobs; ++job) {
    others.emplace_back(work);
  }
  work();
  for (std::thread &other : others) {
    other.join();
  }
  return report;
}

} // namespace kw
