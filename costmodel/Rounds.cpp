// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Rounds.h"

#include <algorithm>

namespace kw {
namespace {

std::int64_t ceilDivide(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Loops one after the other, and the CUs that work meanwhile.
void setWalks(Rounds &rounds, double walks, const LaunchProfile &profile, const Target &target) {
  rounds.walks = walks;
  rounds.activeCus = std::min<double>(target.cus, static_cast<double>(profile.workgroups) / walks);
}

/// All sharers are resident and end together, but for a step; as often as one has a new piece the
/// CU starts and ends one.
Rounds sharedRounds(const LaunchProfile &profile, const Target &target) {
  const std::int64_t together = ceilDivide(profile.sharers, target.cus);
  const double pieces = profile.longestShare * static_cast<double>(profile.workgroups) /
                        static_cast<double>(profile.sharers);
  Rounds rounds;
  rounds.workgroups = pieces * static_cast<double>(together);
  rounds.wavesOfSimd =
      pieces * static_cast<double>(ceilDivide(together * profile.waves, target.simdsPerCu));
  rounds.batches = rounds.walks = std::max(1.0, pieces);
  rounds.residentCopies = static_cast<double>(together);
  rounds.activeCus = std::min<double>(target.cus, static_cast<double>(profile.sharers));
  return rounds;
}

/// Workgroups as if all were as long as the mean.
Rounds alikeRounds(const LaunchProfile &profile, const Target &target) {
  const std::int64_t resident = profile.workgroupsPerCu;
  const std::int64_t workgroups = ceilDivide(profile.workgroups, target.cus);
  const auto wavesOfSimd = [&](std::int64_t together) {
    return ceilDivide(together * profile.waves, target.simdsPerCu);
  };
  Rounds rounds;
  rounds.workgroups = static_cast<double>(workgroups);
  rounds.wavesOfSimd = static_cast<double>(workgroups / resident * wavesOfSimd(resident) +
                                           wavesOfSimd(workgroups % resident));
  rounds.batches = static_cast<double>(ceilDivide(workgroups, resident));
  rounds.residentCopies = static_cast<double>(resident);
  setWalks(rounds, rounds.batches, profile, target);
  return rounds;
}

} // namespace

Rounds exactRounds(const LaunchProfile &profile, const Target &target) {
  if (profile.sharers > 0) {
    return sharedRounds(profile, target);
  }
  Rounds rounds = alikeRounds(profile, target);
  setWalks(rounds, std::max(rounds.batches, profile.longestShare), profile, target);
  const std::int64_t waves = ceilDivide(profile.waves, target.simdsPerCu);
  rounds.workgroups = std::max(rounds.workgroups, profile.longestShare);
  rounds.wavesOfSimd =
      std::max(rounds.wavesOfSimd, profile.longestShare * static_cast<double>(waves));
  return rounds;
}

Rounds evenRounds(const LaunchProfile &profile, const Target &target) {
  Rounds rounds =
      profile.sharers > 0 ? sharedRounds(profile, target) : alikeRounds(profile, target);
  if (rounds.batches <= 1) {
    return rounds;
  }
  rounds.workgroups = static_cast<double>(profile.workgroups) / target.cus;
  rounds.wavesOfSimd = rounds.workgroups * profile.waves / target.simdsPerCu;
  rounds.batches = std::max(1.0, rounds.workgroups / profile.workgroupsPerCu);
  setWalks(rounds, rounds.batches, profile, target);
  return rounds;
}

} // namespace kw
