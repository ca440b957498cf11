// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Residual.h"

#include "costmodel/calibration/Categories.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace kw {
namespace {

using Json = nlohmann::json;

/// No interval is narrower than the repeat noise or wider than a factor of e^1.5.
constexpr double leastHalfWidth = 0.01, mostHalfWidth = 1.5;
/// A correction beyond a factor of 20 is a broken file or a case far outside of the data.
constexpr double mostCorrection = 3;
/// How far beyond the runs' least and most rows a factor of a problem still holds [guess].
constexpr float nearbyOctaves = 1;

Expected<Effect> parseEffect(const Json &json) {
  Effect effect;
  effect.of = json.at("of").get<std::vector<std::string>>();
  for (const std::string &category : effect.of) {
    if (!categoryNamed(category)) {
      return badInput(fmt::format("effects: no such category: {}", category));
    }
  }
  for (const auto &[key, value] : json.at("values").items()) {
    effect.values.emplace(key, value.get<float>());
  }
  return effect;
}

Correction parseCorrection(const Json &json) {
  return {json.at("log").get<double>(), json.at("half_width").get<double>()};
}

float logRowsOf(const ModelCase &modelCase) {
  static const std::size_t rows = featureIndex("log_rows");
  return modelCase.features[rows];
}

Correction bounded(Correction c) {
  return {std::clamp(c.log, -mostCorrection, mostCorrection),
          std::clamp(c.halfWidth80, leastHalfWidth, mostHalfWidth)};
}

} // namespace

Expected<Residual::Input> Residual::inputNamed(const std::string &text, std::size_t effects) {
  using Kind = Input::Kind;
  if (text == "log_us") {
    return Input{Kind::logTime, 0};
  }
  if (text == "nearest_run") {
    return Input{Kind::nearestRun, 0};
  }
  if (text.starts_with("effect:")) {
    const std::size_t index = std::strtoul(text.c_str() + 7, nullptr, 10);
    return index < effects ? Expected<Input>(Input{Kind::effect, index})
                           : badInput(fmt::format("inputs: {}: no such effect", text));
  }
  if (text.starts_with("share:")) {
    for (std::size_t i = 0; i < termCount; ++i) {
      if (text.substr(6) == name(static_cast<Term>(i))) {
        return Input{Kind::share, i};
      }
    }
  }
  const std::size_t feature = featureIndex(text);
  return feature < featureNames().size()
             ? Expected<Input>(Input{Kind::feature, feature})
             : badInput(fmt::format("inputs: no such feature or term: {}", text));
}

Expected<WidthScales> WidthScales::parse(const Json &json) {
  WidthScales scales;
  scales.edges = json.at("log_rows").get<std::vector<float>>();
  scales.single = json.at("scale").get<std::vector<float>>();
  scales.near = json.value("scale_near", scales.single);
  scales.fused = json.value("scale_fused", scales.single);
  scales.nearFrom = json.value("near", 1.0f);
  for (const auto *list : {&scales.single, &scales.near, &scales.fused}) {
    if (list->size() != scales.edges.size() + 1) {
      return badInput("width_by_rows: needs one scale more than edges");
    }
  }
  return scales;
}

double WidthScales::of(const ModelCase &modelCase, double likeness) const {
  static const std::size_t second = featureIndex("second_share");
  const bool isFused = !std::isnan(modelCase.features[second]);
  const std::vector<float> &list = isFused ? fused : likeness >= nearFrom ? near : single;
  const float logRows = logRowsOf(modelCase);
  const auto at = std::ranges::lower_bound(edges, logRows) - edges.begin();
  return list[std::isnan(logRows) ? list.size() - 1 : at];
}

Expected<Residual> Residual::parse(const Json &json) try {
  Residual residual;
  for (const Json &entry : json.at("effects")) {
    auto effect = parseEffect(entry);
    if (!effect) {
      return tl::unexpected(effect.error());
    }
    residual.effects.push_back(std::move(*effect));
  }
  for (const Json &entry : json.at("inputs")) {
    const auto input = inputNamed(entry.get<std::string>(), residual.effects.size());
    if (!input) {
      return tl::unexpected(input.error());
    }
    residual.inputs.push_back(*input);
  }
  for (const auto &[trees, key] :
       {std::pair{&residual.mean, "trees"}, std::pair{&residual.width, "width_trees"}}) {
    auto parsed = Trees::parse(json.at(key), residual.inputs.size());
    if (!parsed) {
      return tl::unexpected(parsed.error());
    }
    *trees = std::move(*parsed);
  }
  auto scales = WidthScales::parse(json.at("width_by_rows"));
  if (!scales) {
    return tl::unexpected(scales.error());
  }
  residual.widthScales = std::move(*scales);
  if (json.contains("near_runs")) {
    auto near = NearRuns::parse(json.at("near_runs"));
    if (!near) {
      return tl::unexpected(near.error());
    }
    residual.near = std::move(*near);
  }
  for (const auto &[generator, runs] : json.at("generators").items()) {
    residual.generators.emplace(generator, runs.get<float>());
  }
  residual.unseenAny = parseCorrection(json.at("unseen").at("any"));
  for (const auto &[type, correction] : json.at("unseen").at("by_dtype").items()) {
    residual.unseenByType.emplace(type, parseCorrection(correction));
  }
  residual.rowsSeen = json.at("unseen").value("log_rows", std::vector<float>());
  if (!residual.rowsSeen.empty() && residual.rowsSeen.size() != 2) {
    return badInput("unseen: log_rows: needs the least and the most");
  }
  residual.newTypeHalfWidth = json.at("unseen").value("new_type_half_width", 0.0);
  return residual;
} catch (const Json::exception &e) {
  return badInput(e.what());
}

bool Residual::knows(std::string_view generator) const {
  return generators.find(generator) != generators.end();
}

float Residual::value(const Input &input, const ModelCase &modelCase,
                      const std::vector<float> &effectValues, float likeness) const {
  switch (input.kind) {
  case Input::Kind::feature:
    return modelCase.features[input.index];
  case Input::Kind::share:
    return static_cast<float>(modelCase.analytic.termsUs[input.index] / modelCase.analytic.timeUs);
  case Input::Kind::logTime:
    return static_cast<float>(std::log2(modelCase.analytic.timeUs));
  case Input::Kind::nearestRun:
    return likeness;
  case Input::Kind::effect:
    break;
  }
  return effectValues[input.index];
}

bool Residual::isFarFromRuns(const ModelCase &modelCase) const {
  const float rows = logRowsOf(modelCase);
  return !rowsSeen.empty() &&
         (rows < rowsSeen[0] - nearbyOctaves || rows > rowsSeen[1] + nearbyOctaves);
}

Correction Residual::unseen(const ModelCase &modelCase) const {
  const auto found = unseenByType.find(modelCase.dtype);
  const Correction c = bounded(found == unseenByType.end() ? unseenAny : found->second);
  return isFarFromRuns(modelCase) ? unseenGenerator(0, std::max(c.halfWidth80, newTypeHalfWidth))
                                  : unseenGenerator(c.log, c.halfWidth80);
}

Correction Residual::correct(const ModelCase &modelCase) const {
  Correction correction = correctWhole(modelCase);
  if (!modelCase.parts.empty()) {
    double us = 0;
    for (const ModelCase &part : modelCase.parts) {
      us += part.analytic.timeUs * std::exp(correctWhole(part).log);
    }
    correction.log = std::log(us / modelCase.analytic.timeUs);
  }
  return correction;
}

Correction Residual::correctWhole(const ModelCase &modelCase) const {
  if (!knows(modelCase.generator)) {
    return unseen(modelCase);
  }
  std::vector<float> effectValues;
  for (const Effect &effect : effects) {
    const auto found = effect.values.find(categoryKey(effect.of, modelCase));
    effectValues.push_back(found == effect.values.end() ? 0 : found->second);
  }
  const NearRuns::Answer runs = near.at(modelCase);
  std::vector<float> values(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const float v = value(inputs[i], modelCase, effectValues, float(runs.likeness));
    values[i] = std::isnan(v) ? missingInput : v;
  }
  const bool newType = !unseenByType.contains(modelCase.dtype);
  const double halfWidth = width.evaluate(values) * widthScales.of(modelCase, runs.likeness);
  return bounded(
      {mean.evaluate(values) + runs.log, std::max(halfWidth, newType ? newTypeHalfWidth : 0.0)});
}

} // namespace kw
