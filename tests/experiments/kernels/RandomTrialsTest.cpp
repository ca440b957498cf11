// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels that codegen really makes, on the emulator, in strict mode. KW_SEED chooses the series
// (default: another one each day), KW_TRIALS its length, KW_FIRST where it begins,
// KW_FAMILY restricts it to a family, KW_TIMINGS adds runs under adversarial time, KW_VERBOSE lists
// it, KW_COMPILE_ONLY validates nothing (to look for spills).
#include "tests/experiments/kernels/RandomTrials.h"

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

namespace kw {
namespace {

std::uint64_t fromEnvironment(const char *name, std::uint64_t fallback) {
  const char *text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : fallback;
}

std::optional<Family> familyFromEnvironment() {
  const char *text = std::getenv("KW_FAMILY");
  for (const Family family : {Family::gemm, Family::rmsnorm, Family::attention}) {
    if (text && name(family) == text) {
      return family;
    }
  }
  return std::nullopt;
}

std::uint64_t today() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::hours>(now).count() /
                                    24);
}

/// Every trial validates; at most one in 200 spills.
void runSeries(std::uint64_t trials) {
  const std::uint64_t seed = fromEnvironment("KW_SEED", today());
  const std::uint64_t first = fromEnvironment("KW_FIRST", 0);
  const int timings = static_cast<int>(fromEnvironment("KW_TIMINGS", 0));
  trials = fromEnvironment("KW_TRIALS", trials);
  const std::unique_ptr<Device> device = makeEmulatedDevice();
  const bool validates = !std::getenv("KW_COMPILE_ONLY");
  std::uint64_t spilled = 0;
  double compileMilliseconds = 0;
  double validateSeconds = 0;
  for (std::uint64_t i = first; i < first + trials; ++i) {
    const RandomTrial trial = randomTrial(seed, i, familyFromEnvironment());
    if (std::getenv("KW_VERBOSE")) { // a compiler that aborts leaves the culprit's name behind
      fmt::print("trial {}: {}\n", i, trial.text());
      std::fflush(stdout);
    }
    const TrialOutcome outcome = runTrial(trial, *device, 1, timings, validates);
    if (std::getenv("KW_VERBOSE")) {
      fmt::print("  {} VGPRs, planned {}\n", outcome.vgpr, outcome.plannedVgpr);
    }
    compileMilliseconds += outcome.compileMilliseconds;
    validateSeconds += outcome.validateSeconds;
    if (outcome.state == TrialOutcome::State::spilled) {
      ++spilled;
      fmt::print("spill: KW_SEED={} trial {}: {}: {}\n", seed, i, trial.text(), outcome.detail);
    } else if (outcome.state != TrialOutcome::State::ok) {
      ADD_FAILURE() << "KW_SEED=" << seed << " trial " << i << ": " << trial.text() << "\n  "
                    << outcome.detail;
    }
  }
  EXPECT_LE(spilled, (trials + 199) / 200);
  fmt::print("seed {}: {} trials, {} spilled, {:.0f} ms a compile, {:.2f} s a validation\n", seed,
             trials, spilled, compileMilliseconds / static_cast<double>(trials),
             validateSeconds / static_cast<double>(trials));
}

TEST(RandomTrials, SameSeedSameTrials) {
  for (std::uint64_t i = 0; i < 5; ++i) {
    EXPECT_EQ(randomTrial(3, i).text(), randomTrial(3, i).text());
  }
  EXPECT_NE(randomTrial(3, 0).text(), randomTrial(4, 0).text());
}

#ifdef KW_SLOW
TEST(RandomTrials, AThousandValidate) { runSeries(1000); }
#else
TEST(RandomTrials, SixtyValidate) { runSeries(60); }
#endif

} // namespace
} // namespace kw
