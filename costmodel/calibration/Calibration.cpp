// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/calibration/Calibration.h"

#include "costmodel/Residual.h"
#include "costmodel/calibration/PhysicalConstants.h"

#include <fmt/format.h>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using Json = nlohmann::json;

constexpr std::string_view formatName = "kw-calibration";
constexpr int formatVersion = 1;

class NoCalibration final : public Calibration {
public:
  Correction correct(const ModelCase &modelCase) const override {
    return uncalibrated().correct(modelCase);
  }
};

class FittedCalibration final : public Calibration {
public:
  FittedCalibration(std::string model, FittedConstants constants,
                    std::map<std::string, Residual, std::less<>> residuals)
      : model(std::move(model)), constants(std::move(constants)), residuals(std::move(residuals)) {}

  Target calibrated(const Target &target) const override { return constants.apply(target); }

  Correction correct(const ModelCase &modelCase) const override {
    const auto found = residuals.find(modelCase.family);
    return found == residuals.end() ? uncalibrated().correct(modelCase)
                                    : found->second.correct(modelCase);
  }

  std::string_view fittedModel() const override { return model; }

private:
  std::string model;
  FittedConstants constants;
  std::map<std::string, Residual, std::less<>> residuals; ///< by operator family
};

} // namespace

Expected<std::unique_ptr<Calibration>> parseCalibration(std::string_view text,
                                                        std::string_view name) {
  const auto bad = [&](std::string_view what) {
    return badInput(fmt::format("calibration {}: {}", name, what));
  };
  const Json json = Json::parse(text, nullptr, false);
  if (!json.is_object() || json.value("format", Json()) != Json(formatName)) {
    return bad("not a calibration file (no \"format\": \"kw-calibration\")");
  }
  if (json.value("version", Json()) != Json(formatVersion)) {
    return bad(fmt::format("version {} isn't known, accepted is {}",
                           json.value("version", Json()).dump(), formatVersion));
  }
  const auto families = json.find("families");
  if (families == json.end() || !families->is_object()) {
    return bad("no \"families\"");
  }
  std::map<std::string, Residual, std::less<>> residuals;
  for (const auto &[family, entry] : families->items()) {
    auto residual = Residual::parse(entry);
    if (!residual) {
      return bad(fmt::format("{}: {}", family, residual.error().message));
    }
    residuals.emplace(family, std::move(*residual));
  }
  auto constants = parseConstants(json);
  if (!constants) {
    return bad(constants.error().message);
  }
  const Json provenance = json.value("provenance", Json::object());
  const Json model = provenance.is_object() ? provenance.value("model", Json()) : Json();
  return std::make_unique<FittedCalibration>(model.is_string() ? model.get<std::string>() : "",
                                             std::move(*constants), std::move(residuals));
}

Expected<std::unique_ptr<Calibration>> loadCalibration(std::string_view which) {
  if (which == "none") {
    return std::make_unique<NoCalibration>();
  }
  if (which == "shipped") {
    return parseCalibration(shippedCalibration(), which);
  }
  std::ifstream file{std::string(which), std::ios::binary};
  if (!file) {
    return badInput(
        fmt::format("--calibration {}: no such file; accepted are shipped, none or a file", which));
  }
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  return parseCalibration(text, which);
}

} // namespace kw
