// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Features.h"

#include "costmodel/Constants.h"

#include <algorithm>
#include <array>
#include <cmath>

namespace kw {
namespace {

/// No run of any generator is known.
class Uncalibrated final : public Calibration {
public:
  Correction correct(const ModelCase &) const override {
    return unseenGenerator(0, constants::logSpread80);
  }
};

} // namespace

Correction unseenGenerator(double log, double halfWidth80) {
  const double deviation = halfWidth80 / constants::deviationsOf80;
  return {log, halfWidth80, deviation * std::sqrt(constants::generatorVarianceShare)};
}

std::size_t featureIndex(std::string_view name) {
  const auto names = featureNames();
  return std::size_t(std::ranges::find(names, name) - names.begin());
}

std::string typeName(ElementType a, ElementType b, ScaleMode scale) {
  constexpr std::array<std::string_view, 5> suffix{"", "_tensor", "_row", "_block128", ""};
  const std::string mx = scale == ScaleMode::mx && a != ElementType::bf16 ? "mx" : "";
  std::string text = mx + std::string(name(a));
  if (b != a) {
    text += "_" + std::string(name(b));
  }
  return text + std::string(suffix[static_cast<std::size_t>(scale)]);
}

const Calibration &uncalibrated() {
  static const Uncalibrated none;
  return none;
}

} // namespace kw
