// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/calibration/ProblemCalibration.h"

#include "costmodel/OwnCase.h"

#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {

ProblemCalibration problemCalibration(const Problem &problem, Generator generator,
                                      const Target &target, const Calibration &calibration,
                                      std::string name, std::size_t ownRuns) {
  ProblemCalibration result;
  result.name = std::move(name);
  result.ownRuns = ownRuns;
  const Target fitted = calibration.calibrated(target);
  for (const PhysicalConstant &constant : physicalConstants()) {
    if (fitted.*constant.field != target.*constant.field) {
      result.constants.target = target.name;
      result.constants.values.emplace(constant.name, fitted.*constant.field);
    }
  }
  result.correction = calibration.correct(ownCase(problem, generator));
  return result;
}

nlohmann::ordered_json toJson(const ProblemCalibration &calibration) {
  nlohmann::ordered_json json{{"name", calibration.name},
                              {"own_runs", calibration.ownRuns},
                              {"log", calibration.correction.log},
                              {"half_width", calibration.correction.halfWidth80}};
  if (!calibration.constants.values.empty()) {
    json["constants"] = {{"target", calibration.constants.target},
                         {"values", calibration.constants.values}};
  }
  return json;
}

Expected<ProblemCalibration> parseProblemCalibration(const nlohmann::json &json) try {
  ProblemCalibration result;
  result.name = json.at("name").get<std::string>();
  result.ownRuns = json.at("own_runs").get<std::size_t>();
  result.correction = {json.at("log").get<double>(), json.at("half_width").get<double>()};
  auto constants = parseConstants(json);
  if (!constants) {
    return tl::unexpected(constants.error());
  }
  result.constants = std::move(*constants);
  return result;
} catch (const nlohmann::json::exception &e) {
  return badInput(fmt::format("calibration: {}", e.what()));
}

} // namespace kw
