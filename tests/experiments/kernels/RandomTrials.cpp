// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "tests/experiments/kernels/RandomTrials.h"

#include "codegen/Compile.h"
#include "ir/KernelPlan.h"
#include "ir/Rule.h"
#include "runtime/RandomValues.h"
#include "search/Space.h"

#include <array>
#include <chrono>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

/// Draws of one trial, one after the other.
class Dice {
public:
  Dice(std::uint64_t seed, std::uint64_t stream) : seed(randomBits(seed, stream)) {}
  std::uint64_t bits() { return randomBits(seed, drawn++); }
  std::int64_t below(std::int64_t count) {
    return static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(count));
  }
  template <std::size_t n> auto pick(const std::array<const char *, n> &choices) {
    return choices[static_cast<std::size_t>(below(n))];
  }

private:
  std::uint64_t seed, drawn = 0;
};

constexpr std::array<std::int64_t, 16> primes{1,   2,   3,   5,   7,   13,  31,  61,
                                              101, 127, 193, 257, 389, 509, 769, 1021};

/// Of every magnitude: a prime, a multiple of a power of two, or anything.
std::int64_t size(Dice &dice, std::int64_t largest) {
  std::int64_t result = 0;
  switch (dice.below(4)) {
  case 0:
    result = primes[static_cast<std::size_t>(dice.below(primes.size()))];
    break;
  case 1:
  case 2:
    result = (1 + dice.below(12)) << (3 + dice.below(5));
    break;
  default:
    result = 1 + dice.below(largest);
    break;
  }
  return std::min(result, largest);
}

/// In half of the cases nothing; else some of the steps in any order, alpha and beta, with integers
/// (exact) and without.
std::string epilogueText(Dice &dice) {
  if (dice.below(2) == 0) {
    return "";
  }
  constexpr std::array factors{"0", "1", "2", "-3", "0.75", "1e-3"};
  std::string text = fmt::format(" alpha={} beta={}", dice.pick(factors), dice.pick(factors));
  std::vector<const char *> steps{"bias", "silu", "gelu", "relu", "mul", "add"};
  std::string list;
  for (std::int64_t wanted = dice.below(5); wanted > 0; --wanted) {
    const auto at = steps.begin() + dice.below(static_cast<std::int64_t>(steps.size()));
    list += (list.empty() ? "" : ",") + std::string(*at);
    steps.erase(at);
  }
  return list.empty() ? text : text + " epilogue=" + list;
}

/// Gaps behind rows (not of b with `lengthB` 0), and matrices that all products share.
std::string gemmStrides(Dice &dice, std::int64_t lengthA, std::int64_t lengthB, std::int64_t n,
                        std::int64_t batch) {
  std::string text;
  if (dice.below(3) == 0) {
    text += fmt::format(" lda={} ldc={}", lengthA + 8 * dice.below(5), n + 4 * dice.below(5));
  }
  if (dice.below(4) == 0 && lengthB > 0) {
    text += fmt::format(" ldb={}", lengthB + 8 * dice.below(5));
  }
  if (batch > 1) {
    text += fmt::format(" batch={}", batch);
    text += dice.below(3) == 0 ? " sa=0" : "";
    text += dice.below(3) == 0 ? " sb=0" : "";
  }
  return text;
}

std::string gemmText(Dice &dice) {
  const std::int64_t batch = dice.below(4) == 0 ? 2 + dice.below(4) : 1;
  const std::int64_t most = batch > 1 ? 400 : 1200;
  const std::int64_t m = size(dice, most);
  const std::int64_t n = size(dice, most);
  const std::int64_t k = size(dice, 1500);
  const std::string a = dice.pick(std::array{"mk", "mk", "km"});
  const std::string b = dice.pick(std::array{"nk", "kn"});
  const std::string type = dice.pick(std::array{"f16", "bf16", "f16", "bf16", "f32", "i8"});
  const bool packed = dice.below(6) == 0 && type != "f32" && k % (type == "i8" ? 64 : 32) == 0;
  const bool sums = type == "i8" && dice.below(2) == 0; // as they are
  return fmt::format("gemm m={} n={} k={} dtype={}{} a={} b={} preshuffle={}", m, n, k, type,
                     sums ? " out=i32" : "", a, b, packed ? 1 : 0) +
         (sums ? "" : epilogueText(dice)) +
         gemmStrides(dice, a == "mk" ? k : m,
                     packed      ? 0
                     : b == "nk" ? k
                                 : n,
                     n, batch);
}

std::string rmsNormText(Dice &dice) {
  return fmt::format("rmsnorm rows={} cols={} dtype={} weight={} residual={}", size(dice, 300),
                     size(dice, 9000), dice.pick(std::array{"f16", "bf16", "f32"}), dice.below(2),
                     dice.below(2));
}

/// Decode: up to 16 queries, groups of any size, from one column on; also fewer columns than
/// queries.
std::string attentionText(Dice &dice) {
  constexpr std::array<std::int64_t, 8> groups{1, 2, 3, 4, 7, 8, 12, 16};
  const std::int64_t heads = 1 + dice.below(3);
  const std::int64_t group = groups[static_cast<std::size_t>(dice.below(groups.size()))];
  const std::int64_t queries = dice.below(2) == 0 ? 1 : 1 + dice.below(16);
  return fmt::format("attention b={} hq={} hkv={} sq={} skv={} d={} dtype={} mask={} lse={} "
                     "layout={}{}",
                     1 + dice.below(3), heads * group, heads, queries, size(dice, 3000),
                     dice.pick(std::array{"64", "128"}), dice.pick(std::array{"f16", "bf16"}),
                     dice.pick(std::array{"none", "causal"}), dice.below(2),
                     dice.pick(std::array{"bhsd", "bshd"}), dice.below(4) == 0 ? " scale=0.3" : "");
}

std::string problemText(Family family, Dice &dice) {
  switch (family) {
  case Family::gemm:
    return gemmText(dice);
  case Family::rmsnorm:
    return rmsNormText(dice);
  case Family::attention:
    return attentionText(dice);
  case Family::groupedGemm:
  case Family::topk:
    break; // nothing to compile
  }
  return {};
}

Family familyOf(Dice &dice) {
  constexpr std::array often{Family::gemm, Family::gemm, Family::gemm, Family::attention,
                             Family::rmsnorm};
  return often[static_cast<std::size_t>(dice.below(often.size()))];
}

Target targetOf(Dice &dice) {
  Target target = *targets().front();
  if (dice.below(3) == 0) {
    target.cus = 2 << dice.below(3);
    target.xcds = 1 << dice.below(2);
  }
  return target;
}

/// The space doesn't search what only the compiler sees.
void askForOccupancy(RandomTrial &trial, Dice &dice) {
  auto *gemm = std::get_if<GemmSchedule>(&trial.schedule);
  if (gemm && dice.below(4) == 0) {
    const Schedule without = trial.schedule;
    gemm->pipeline.wavesPerSimd = static_cast<int>(1 + dice.below(4));
    if (!checkLegal(trial.problem, trial.schedule, trial.target).empty()) {
      trial.schedule = without;
    }
  }
}

/// The space has rows through LDS only where the model may see a gain.
void storeRows(RandomTrial &trial, Dice &dice) {
  auto *gemm = std::get_if<GemmSchedule>(&trial.schedule);
  if (gemm && dice.below(4) == 0) {
    const Schedule without = trial.schedule;
    gemm->epilogue = EpiloguePath::lds;
    if (!checkLegal(trial.problem, trial.schedule, trial.target).empty()) {
      trial.schedule = without;
    }
  }
}

/// Nor sums whose rounding depends on timing.
void addAtomically(RandomTrial &trial, Dice &dice) {
  auto *gemm = std::get_if<GemmSchedule>(&trial.schedule);
  const bool adds = gemm && (gemm->split.k > 1 || gemm->mapping.grid == GridKind::streamk);
  if (adds && dice.below(2) == 0) {
    gemm->split.reduce = Reduction::atomic;
  }
}

} // namespace

RandomTrial randomTrial(std::uint64_t seed, std::uint64_t index, std::optional<Family> only) {
  Dice dice(seed, index);
  while (true) {
    const Target target = targetOf(dice);
    const Family family = familyOf(dice);
    const auto problem = parseProblem(problemText(only.value_or(family), dice));
    if (!problem) {
      continue;
    }
    const std::vector<Schedule> drawn = Space(*problem, target).sample(1, dice.bits());
    if (!drawn.empty()) {
      RandomTrial trial{*problem, drawn.front(), target};
      askForOccupancy(trial, dice);
      addAtomically(trial, dice);
      storeRows(trial, dice);
      return trial;
    }
  }
}

namespace {

void proveTrial(const CodeObject &object, const Target &target, Device &device,
                const ValidateOptions &options, TrialOutcome &outcome) {
  using Clock = std::chrono::steady_clock;
  const auto start = Clock::now();
  const auto validation = validate(object, target, device, options);
  outcome.validateSeconds = std::chrono::duration<double>(Clock::now() - start).count();
  if (validation && validation->ok) {
    return;
  }
  outcome.state = TrialOutcome::State::wrong;
  outcome.detail = "error: " + (validation ? std::string() : validation.error().message);
  if (validation) {
    const Finding &finding = validation->findings.front();
    outcome.detail = fmt::format("{} pc {:#x} {}: {}", finding.kind, finding.pc,
                                 finding.instruction, finding.detail);
  }
}

} // namespace

TrialOutcome runTrial(const RandomTrial &trial, Device &device, int jobs, int timings,
                      bool validates) {
  TrialOutcome outcome;
  const Target &target = trial.target;
  const auto compiled = compile(trial.problem, trial.schedule, target);
  if (!compiled) {
    return {TrialOutcome::State::compileFailed, compiled.error().message};
  }
  outcome.compileMilliseconds = compiled->milliseconds;
  outcome.vgpr = compiled->object.kernels.front().vgpr;
  outcome.plannedVgpr =
      makePlan(trial.problem, trial.schedule, target).launches.front().registers.vgpr();
  ValidateOptions options;
  options.jobs = jobs;
  options.schedules = timings;
  if (validates) {
    proveTrial(compiled->object, target, device, options, outcome);
    if (outcome.state == TrialOutcome::State::wrong) {
      return outcome;
    }
  }
  for (const KernelResources &kernel : compiled->object.kernels) {
    if (kernel.vgprSpills + kernel.sgprSpills > 0 || kernel.scratchBytes > 0) {
      outcome.state = TrialOutcome::State::spilled;
      outcome.detail = fmt::format("{} vgpr, {} sgpr spills, {} bytes of scratch",
                                   kernel.vgprSpills, kernel.sgprSpills, kernel.scratchBytes);
    }
  }
  return outcome;
}

} // namespace kw
