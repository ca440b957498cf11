// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kw score FILE...: the model beside published timings.
#include "experiments/import/ImportedTimings.h"
#include "experiments/kw/Arguments.h"
#include "experiments/kw/CalibrationInForce.h"
#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"
#include "experiments/score/Metrics.h"
#include "experiments/score/ScoreReport.h"
#include "experiments/score/ScoreText.h"
#include "experiments/score/TileEfficiency.h"

#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <span>

namespace kw {
namespace {

struct ScoreOptions {
  std::vector<std::string> files;
  std::string rowsFile, featuresFile, without;
  /// A table's times must not help to predict its rows, so no run counts unless it is asked for.
  CalibrationOptions calibration{"shipped", "none"};
  bool ablation = false;
};

Expected<TermSet> termNamed(const std::string &text) {
  TermSet set;
  std::string names;
  for (std::size_t i = 0; i < termCount; ++i) {
    const std::string_view term = name(static_cast<Term>(i));
    names += fmt::format("{}{}", names.empty() ? "" : " ", term);
    set[i] = set[i] || term == text;
  }
  return text.empty() || set.any()
             ? Expected<TermSet>(set)
             : badInput(fmt::format("--without {}: no such term; accepted are {}", text, names));
}

/// Mean distance of log(predicted / measured) from its median: what is left of an error once a
/// common factor is taken out, so that a term isn't praised for making up for one.
double spreadOf(std::span<const ErrorSample> samples) {
  std::vector<double> logs;
  for (const ErrorSample &sample : samples) {
    logs.push_back(std::log1p(sample.error));
  }
  const double median = logs.empty() ? 0 : quantile(logs, 0.5);
  double sum = 0;
  for (const double log : logs) {
    sum += std::abs(log - median);
  }
  return logs.empty() ? 0 : sum / double(logs.size());
}

/// Errors without each term, one pass each.
Expected<Json> ablationJson(const std::vector<TextTable> &tables, const Calibration &calibration) {
  Json all = Json::object();
  for (std::size_t i = 0; i <= termCount; ++i) {
    TermSet without;
    if (i < termCount) {
      without.set(i);
    }
    const auto rows = scoreRows(tables, calibration, without);
    if (!rows) {
      return tl::unexpected(rows.error());
    }
    const std::vector<ErrorSample> samples = samplesOf(*rows);
    const Errors errors = errorsOf(samples);
    const std::string term(i < termCount ? name(static_cast<Term>(i)) : "none");
    all[term] = {{"mape", errors.mape},
                 {"median_ape", errors.medianApe},
                 {"mape_by_weight_shape", mapeByGroup(samples)},
                 {"log_bias", errors.bias},
                 {"spread", spreadOf(samples)}};
  }
  return all;
}

std::string ablationText(const Json &ablation) {
  std::vector<std::vector<std::string>> lines{
      {"without", "MAPE", "median", "by weight shape", "bias", "spread"}};
  for (const auto &[term, errors] : ablation.items()) {
    lines.push_back({term, fmt::format("{:.2f}%", 100 * errors["mape"].get<double>()),
                     fmt::format("{:.2f}%", 100 * errors["median_ape"].get<double>()),
                     fmt::format("{:.2f}%", 100 * errors["mape_by_weight_shape"].get<double>()),
                     fmt::format("{:.1f}%", 100 * errors["log_bias"].get<double>()),
                     fmt::format("{:.2f}%", 100 * errors["spread"].get<double>())});
  }
  return table(lines);
}

/// Judges tables of tile efficiencies, which are taken out of `tables`; null: there are none.
Expected<Json> tileEfficiencyJson(std::vector<TextTable> &tables, const Target &target) {
  Json json;
  for (auto table = tables.begin(); table != tables.end();) {
    if (!isTileEfficiencyTable(*table)) {
      ++table;
      continue;
    }
    const auto rows = tileEfficiencies(*table, target);
    if (!rows) {
      return tl::unexpected(rows.error());
    }
    for (const TileEfficiency &row : *rows) {
      json["tiles"].push_back({{"tile", fmt::format("{}x{}x{}", row.tileM, row.tileN, row.tileK)},
                               {"waves", row.waves},
                               {"measured", row.measured},
                               {"predicted", row.predicted > 0 ? Json(row.predicted) : Json()},
                               {"schedule", row.schedule}});
    }
    json["mean_points"] = 100 * meanPoints(*rows);
    table = tables.erase(table);
  }
  return json;
}

/// Of the rows that are scored: stored runs of the same teach nothing.
std::set<std::string> ownIdentities(const std::vector<TextTable> &tables) {
  std::set<std::string> identities;
  for (const TextTable &table : tables) {
    const auto rows = measuredRows(table);
    for (const MeasuredRow &row : rows ? *rows : std::vector<MeasuredRow>()) {
      identities.insert(identityOf(row));
    }
  }
  return identities;
}

Expected<ExitStatus> score(const ScoreOptions &options, const CommonOptions &common) {
  const auto begin = std::chrono::steady_clock::now();
  const auto without = termNamed(options.without);
  if (!without) {
    return tl::unexpected(without.error());
  }
  auto tables = readTables(options.files);
  const auto target = common.target();
  if (!tables || !target) {
    return tl::unexpected(tables ? target.error() : tables.error());
  }
  const auto inForce = CalibrationInForce::load(
      options.calibration, common, **target,
      options.calibration.ownRuns == "none" ? std::set<std::string>() : ownIdentities(*tables));
  if (!inForce) {
    return tl::unexpected(inForce.error());
  }
  const Calibration &calibration = inForce->fitted();
  const auto efficiency = tileEfficiencyJson(*tables, calibration.calibrated(**target));
  if (!efficiency) {
    return tl::unexpected(efficiency.error());
  }
  const auto rows = scoreRows(*tables, calibration, *without);
  if (!rows) {
    return tl::unexpected(rows.error());
  }
  for (const auto &[file, write] :
       {std::pair{options.rowsFile, &writeRows}, std::pair{options.featuresFile, &writeFeatures}}) {
    if (const auto written = file.empty() ? Expected<void>() : write(file, *rows, *tables);
        !written) {
      return tl::unexpected(written.error());
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  Json json = scoreJson(*rows, seconds.count(), common.seed);
  json["tile_efficiency"] = *efficiency;
  json["calibration"] = {{"name", options.calibration.calibration},
                         {"own_runs", inForce->ownRuns()}};
  std::string text = scoreText(json);
  if (options.ablation) {
    const auto ablation = ablationJson(*tables, calibration);
    if (!ablation) {
      return tl::unexpected(ablation.error());
    }
    json["ablation"] = *ablation;
    text += ablationText(*ablation);
  }
  const auto printed = print(common, json, text);
  return printed ? Expected<ExitStatus>(exitDone) : tl::unexpected(printed.error());
}

} // namespace

RunCommand addScore(CLI::App &app, const CommonOptions &common) {
  const auto options = std::make_shared<ScoreOptions>();
  app.add_option("FILE", options->files, "published timings, .csv or .csv.gz")
      ->required()
      ->check(notEmpty);
  addCalibrationOptions(app, options->calibration);
  app.add_option("--rows", options->rowsFile, "writes every row's prediction");
  app.add_option("--features", options->featuresFile,
                 "writes what a fit may look at: terms, features, categories");
  app.add_option("--without", options->without, "leaves a term of the model out");
  app.add_flag("--ablation", options->ablation, "the error without each term");
  return [options, &common] { return score(*options, common); };
}

} // namespace kw
