// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Profiles and targets that the tests of the model share.
#pragma once

#include "costmodel/KernelProfile.h"
#include "costmodel/Rounds.h"
#include "costmodel/terms/Terms.h"

#include <functional>
#include <random>
#include <string_view>
#include <vector>

namespace kw::samples {

inline const Target &gfx950() { return **findTarget("gfx950"); }

/// 512 workgroups of 4 waves, one a CU: two full rounds.
inline LaunchProfile twoRounds() {
  LaunchProfile profile;
  profile.workgroups = 512;
  profile.waves = 4;
  profile.workgroupsPerCu = 1;
  return profile;
}

/// Any profile that a plan could give: every count between 0 and large.
inline LaunchProfile randomProfile(std::mt19937_64 &random) {
  const auto upTo = [&](double most) {
    std::uniform_real_distribution<double> exponent(0, 1);
    return std::bernoulli_distribution(0.1)(random) ? 0.0 : std::pow(most, exponent(random));
  };
  LaunchProfile profile;
  profile.workgroups = 1 + static_cast<std::int64_t>(upTo(20000));
  profile.waves = 1 << std::uniform_int_distribution<int>(0, 4)(random);
  profile.workgroupsPerCu = std::uniform_int_distribution<int>(1, 8)(random);
  profile.sustainedMatrixFraction = std::uniform_real_distribution<double>(0.5, 1)(random);
  profile.matrixCycles = upTo(1e6);
  profile.valuCycles = upTo(1e6);
  profile.ldsCycles = upTo(1e5);
  profile.chainCycles = upTo(1e6);
  profile.chainedLoads = upTo(500);
  profile.prefetchedTrips = upTo(500);
  profile.barriers = upTo(500);
  profile.prologueCycles = upTo(3000);
  profile.startLoads = upTo(4);
  profile.reductionCycles = upTo(3000);
  profile.epilogueCycles = upTo(3000);
  profile.storeInstructions = upTo(2000);
  profile.loadBytes = upTo(1e7);
  profile.l2ReadBytes = profile.loadBytes * static_cast<double>(profile.workgroups);
  profile.mallReadBytes = profile.l2ReadBytes / 2;
  profile.hbmReadBytes = profile.mallReadBytes / 2;
  profile.writtenBytes = upTo(1e9);
  return profile;
}

/// One way in which a machine can be better.
struct Improvement {
  std::string_view what;
  std::function<void(Target &)> apply;
  /// The rate also steers the order that the modulo schedule emits. A list schedule may come out
  /// worse at a better rate, so the promise holds for a given profile only.
  bool steersLoopOrder = false;
};

inline std::vector<Improvement> improvements() {
  return {
      {"hbm", [](Target &t) { t.hbmBytesPerSecond *= 1.3; }},
      {"sustained rates",
       [](Target &t) {
         t.sustainedFraction16 *= 1.1;
         t.sustainedFraction8 *= 1.1;
       }},
      {"round trip", [](Target &t) { t.loadedRoundTripCycles /= 1.5; }},
      {"barrier", [](Target &t) { t.barrierCycles /= 2; }},
      {"hbm fraction", [](Target &t) { t.hbmAchievableFraction *= 1.1; }},
      {"mall", [](Target &t) { t.mallBytesPerSecond *= 1.3; }},
      {"mall size", [](Target &t) { t.mallBytes *= 2; }},
      {"l2", [](Target &t) { t.l2BytesPerClockPerXcd += 256; }},
      {"l2 size", [](Target &t) { t.l2BytesPerXcd *= 4; }},
      {"l1", [](Target &t) { t.l1BytesPerClock *= 2; }, true},
      {"in flight", [](Target &t) { t.bytesInFlightPerCu += 4096; }},
      {"clock", [](Target &t) { t.peakClockHz *= 1.07; }},
      {"one CU more an XCD", [](Target &t) { t.cus += t.xcds; }},
      {"one CU more", [](Target &t) { t.cus += 1; }},
      {"a third more CUs", [](Target &t) { t.cus += t.cus / 3; }},
      {"twice the CUs", [](Target &t) { t.cus *= 2; }},
      {"hbm latency", [](Target &t) { t.hbmLatencyCycles -= 100; }},
      {"launch", [](Target &t) { t.launchSeconds /= 2; }},
  };
}

} // namespace kw::samples
