// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/calibration/PhysicalConstants.h"

#include <algorithm>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

constexpr PhysicalConstant table[] = {
    {"launch", "s", &Target::launchSeconds, 1e-6, 3.5e-6, 0.4,
     "MI300A back to back 1 us; cold launches 3 us and some"},
    {"hbm_fraction", "1", &Target::hbmAchievableFraction, 0.65, 0.95, 0.08,
     "refresh and turnaround cost 5%; published models assume 0.75"},
    {"sustained_16_bit", "1", &Target::sustainedFraction16, 0.5, 0.91, 0.15,
     "half: MI300X's published share; 0.91: registers alone"},
    {"sustained_8_bit", "1", &Target::sustainedFraction8, 0.4, 0.91, 0.2,
     "as 16 bits, power up to a quarter higher"},
    {"sustained_4_bit", "1", &Target::sustainedFraction4, 0.4, 0.91, 0.2, "as 8 bits"},
    {"loaded_round_trip", "clocks", &Target::loadedRoundTripCycles, 500, 1900, 0.02,
     "an unloaded L2 hit; the cold load of the thread traces. Measured where it matters, so held"},
    {"barrier", "clocks", &Target::barrierCycles, 10, 200, 0.7,
     "s_barrier's issue; Origami's 100 for a whole barrier, doubled"},
};

} // namespace

std::span<const PhysicalConstant> physicalConstants() { return table; }

Target FittedConstants::apply(const Target &source) const {
  Target result = source;
  if (source.name == target) {
    for (const PhysicalConstant &constant : table) {
      const auto found = values.find(std::string(constant.name));
      if (found != values.end()) {
        result.*constant.field = found->second;
      }
    }
  }
  return result;
}

Expected<FittedConstants> parseConstants(const nlohmann::json &calibration) try {
  FittedConstants fitted;
  const auto constants = calibration.find("constants");
  if (constants == calibration.end()) {
    return fitted;
  }
  fitted.target = constants->at("target").get<std::string>();
  for (const auto &[name, value] : constants->at("values").items()) {
    const auto *found = std::ranges::find(table, name, &PhysicalConstant::name);
    if (found == std::end(table)) {
      return badInput(fmt::format("constants: no such constant: {}", name));
    }
    const double number = value.get<double>();
    if (!(number >= found->least && number <= found->most)) {
      return badInput(fmt::format("constants: {} is {} {}, accepted are {} to {}", name, number,
                                  found->unit, found->least, found->most));
    }
    fitted.values.emplace(name, number);
  }
  return fitted;
} catch (const nlohmann::json::exception &e) {
  return badInput(fmt::format("constants: {}", e.what()));
}

} // namespace kw
