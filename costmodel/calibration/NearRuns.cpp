// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/calibration/NearRuns.h"

#include "costmodel/calibration/Categories.h"
#include "costmodel/calibration/Trees.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using Json = nlohmann::json;

/// Sizes that a list of runs may have.
constexpr std::size_t mostSizes = 8;

/// The runs of one kernel, their sizes over their lengths; empty: not whole runs of finite numbers.
std::vector<float> scaledRuns(std::vector<float> values, const std::vector<float> &inverseLengths) {
  const std::size_t stride = inverseLengths.size() + 1;
  if (values.size() % stride != 0 ||
      !std::ranges::all_of(values, [](float value) { return std::isfinite(value); })) {
    return {};
  }
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] *= i % stride < inverseLengths.size() ? inverseLengths[i % stride] : 1;
  }
  return values;
}

} // namespace

Expected<NearRuns> NearRuns::parse(const Json &json) {
  NearRuns near;
  near.of = json.at("of").get<std::vector<std::string>>();
  for (const std::string &category : near.of) {
    if (!categoryNamed(category)) {
      return badInput(fmt::format("near_runs: no such category: {}", category));
    }
  }
  for (const Json &name : json.at("sizes")) {
    near.sizes.push_back(featureIndex(name.get<std::string>()));
    if (near.sizes.back() >= featureNames().size()) {
      return badInput(fmt::format("near_runs: no such feature: {}", name.get<std::string>()));
    }
  }
  for (const Json &length : json.at("lengths")) {
    near.inverseLengths.push_back(1 / length.get<float>());
    if (!(length.get<float>() > 0)) {
      return badInput("near_runs: lengths: not above 0");
    }
  }
  if (near.sizes.size() != near.inverseLengths.size() || near.sizes.size() > mostSizes) {
    return badInput(fmt::format("near_runs: needs a length a size, at most {}", mostSizes));
  }
  for (const auto &[key, values] : json.at("runs").items()) {
    auto runs = scaledRuns(values.get<std::vector<float>>(), near.inverseLengths);
    if (runs.empty()) {
      return badInput(fmt::format("near_runs: {}: not whole runs", key));
    }
    near.runs.emplace(key, std::move(runs));
  }
  return near;
}

NearRuns::Answer NearRuns::at(const ModelCase &modelCase) const {
  const auto found = runs.empty() ? runs.end() : runs.find(categoryKey(of, modelCase));
  if (found == runs.end()) {
    return {};
  }
  std::array<float, mostSizes> own;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const float value = modelCase.features[sizes[i]];
    own[i] = (std::isnan(value) ? missingInput : value) * inverseLengths[i];
  }
  Answer answer;
  const float *run = found->second.data(), *end = run + found->second.size();
  for (; run != end; run += sizes.size() + 1) {
    float square = 0;
    for (std::size_t i = 0; i < sizes.size(); ++i) {
      square += (own[i] - run[i]) * (own[i] - run[i]);
    }
    const double likeness = std::exp(-std::sqrt(square));
    answer.log += likeness * run[sizes.size()];
    answer.likeness = std::max(answer.likeness, likeness);
  }
  return answer;
}

} // namespace kw
