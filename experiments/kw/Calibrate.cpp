// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// kw calibrate: fits the model's constants and residual to measured rows.
#include "costmodel/CostModel.h"
#include "costmodel/calibration/Calibration.h"
#include "costmodel/calibration/PhysicalConstants.h"
#include "experiments/calibrate/ConstantFit.h"
#include "experiments/calibrate/LearningRows.h"
#include "experiments/calibrate/ResidualFit.h"
#include "experiments/kw/Arguments.h"
#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"
#include "experiments/ownruns/LearningCurve.h"
#include "experiments/score/ScoreParts.h"
#include "experiments/support/Files.h"
#include "experiments/support/Sha256.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <filesystem>
#include <fmt/chrono.h>
#include <fmt/format.h>
#include <memory>

namespace kw {
namespace {

namespace fs = std::filesystem;

/// What the shipped calibration is made from, relative to the checkout.
constexpr std::string_view dataFolder = "../shared/data/measured";
constexpr std::string_view dataFiles[] = {"gemm_gfx950.csv.gz", "moe_gfx950.csv.gz",
                                          "moe_candidates_gfx950.csv.gz",
                                          "attention_gfx950.csv.gz"};

struct CalibrateOptions {
  std::vector<std::string> data;
  std::string out = "calibration.json", python = "python3", family;
  std::string leftOut; ///< "dtype=mxfp4", "gfx=gfx950"
  bool cross = false;
  std::vector<int> runs;

  bool leavesOut(const ScoredRow &row) const {
    return !leftOut.empty() && row.modelCase &&
           (leftOut == "dtype=" + row.modelCase->dtype || leftOut == "gfx=" + row.row.gfx);
  }
};

/// Six digits: more would only say on which machine the fit was made.
double rounded(double value) { return std::stod(fmt::format("{:.6g}", value)); }

Expected<Json> provenanceOf(std::span<const TextTable> tables, std::span<const ScoredRow> rows,
                            const CalibrateOptions &options) {
  Json data = Json::array();
  for (std::size_t i = 0; i < tables.size(); ++i) {
    const auto bytes = readBytes(tables[i].name());
    if (!bytes) {
      return tl::unexpected(bytes.error());
    }
    // As fit.py's read().
    const auto counted = std::ranges::count_if(rows, [i](const ScoredRow &row) {
      return row.file == i && (row.counts() || row.time.flags == "wrong_result");
    });
    data.push_back({{"file", fs::path(tables[i].name()).filename().string()},
                    {"sha256", sha256(*bytes)},
                    {"rows", tables[i].rows()},
                    {"learnt_from", counted}});
  }
  return Json{
      {"command", "kw calibrate" +
                      (options.leftOut.empty() ? std::string() : " --left-out " + options.leftOut)},
      {"date", fmt::format("{:%Y-%m-%d}", fmt::gmtime(std::time(nullptr)))},
      {"model", modelVersion()},
      {"data", data},
      {"splits", "train and val"}};
}

Json constantsJson(const FittedConstants &constants) {
  Json values = Json::object();
  for (const auto &[name, value] : constants.values) {
    values[name] = rounded(value);
  }
  return {{"target", constants.target}, {"values", values}};
}

/// Learns the constants, then sees the rows with them.
Expected<std::vector<ScoredRow>> rowsWithConstants(const std::vector<TextTable> &tables,
                                                   const CalibrateOptions &options,
                                                   const Target &target, Json &constants) {
  auto rows = scoreRows(tables, uncalibrated());
  if (!rows) {
    return rows;
  }
  std::erase_if(*rows, [&](const ScoredRow &row) { return options.leavesOut(row); });
  constants = constantsJson(fitConstants(*rows, target));
  const auto calibration = parseCalibration(Json{{"format", "kw-calibration"},
                                                 {"version", 1},
                                                 {"constants", constants},
                                                 {"families", Json::object()}}
                                                .dump(),
                                            "constants");
  if (!calibration) {
    return tl::unexpected(calibration.error());
  }
  rows = learningRows(tables, **calibration);
  if (rows) {
    std::erase_if(*rows, [&](const ScoredRow &row) {
      const bool other =
          !options.family.empty() && row.modelCase && row.modelCase->family != options.family;
      return other || (!options.cross && options.leavesOut(row)); // those are judged
    });
  }
  return rows;
}

std::string learningText(const Json &families) {
  std::vector<std::vector<std::string>> lines{{"own runs of a new shape", "shapes", "rows", "MAPE",
                                               "with one absurd", "by shape", "with one absurd",
                                               "within 80%"}};
  const auto change = [](const Json &errors, const char *after) {
    return fmt::format("{:.2f} -> {:.2f}%", 100 * errors["before"].get<double>(),
                       100 * errors[after].get<double>());
  };
  for (const auto &[family, entries] : families.items()) {
    for (const Json &entry : entries) {
      lines.push_back(
          {fmt::format("{} {}", family, entry["runs"].get<int>()),
           fmt::format("{}", entry["groups"].get<std::size_t>()),
           fmt::format("{}", entry["rows"].get<std::size_t>()), change(entry["mape"], "after"),
           change(entry["mape"], "after_absurd"), change(entry["mape_by_group"], "after"),
           change(entry["mape_by_group"], "after_absurd"), change(entry["coverage80"], "after")});
    }
  }
  return table(lines);
}

Expected<ExitStatus> crossCommand(std::vector<ScoredRow> rows, const std::vector<TextTable> &tables,
                                  const CalibrateOptions &options, const CommonOptions &common) {
  const auto begin = std::chrono::steady_clock::now();
  if (auto done = crossValidate(rows, tables, options.python, options.leftOut); !done) {
    return tl::unexpected(done.error());
  }
  // Single kernels of fused operators were learnt from; the tables' own rows are judged.
  std::vector<ScoredRow> judged;
  std::vector<std::size_t> last(tables.size(), 0);
  for (ScoredRow &row : rows) {
    if (row.row.number > last[row.file]) {
      last[row.file] = row.row.number;
      judged.push_back(std::move(row));
    }
  }
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - begin;
  Json json = scorePartsJson(judged, tables, seconds.count(), common.seed);
  std::string text = scorePartsText(json);
  if (!options.runs.empty()) {
    json["own_runs"] = learningCurve(judged, {.runs = options.runs, .seed = common.seed});
    text += learningText(json["own_runs"]);
  }
  const auto printed = print(common, json, text);
  return printed ? Expected<ExitStatus>(exitDone) : tl::unexpected(printed.error());
}

Expected<ExitStatus> calibrate(const CalibrateOptions &options, const CommonOptions &common) {
  std::vector<std::string> files = options.data;
  for (std::size_t i = 0; options.data.empty() && i < std::size(dataFiles); ++i) {
    files.push_back(fmt::format("{}/{}", dataFolder, dataFiles[i]));
  }
  const auto target = common.target();
  const auto tables = readTables(files);
  if (!target || !tables) {
    return tl::unexpected(target ? tables.error() : target.error());
  }
  Json constants;
  auto rows = rowsWithConstants(*tables, options, **target, constants);
  if (!rows) {
    return tl::unexpected(rows.error());
  }
  if (options.cross) {
    return crossCommand(std::move(*rows), *tables, options, common);
  }
  const auto provenance = provenanceOf(*tables, *rows, options);
  auto families = fitResiduals(*rows, *tables, options.python);
  if (!provenance || !families) {
    return tl::unexpected(provenance ? families.error() : provenance.error());
  }
  Json errors = Json::object();
  for (const auto &[family, fit] : families->items()) {
    errors[family] = fit.value("errors", Json::object());
  }
  const Json file{{"format", "kw-calibration"},
                  {"version", 1},
                  {"provenance", *provenance},
                  {"constants", constants},
                  {"families", *families}};
  const std::string text = file.dump() + "\n";
  if (const auto readable = parseCalibration(text, options.out); !readable) {
    return tl::unexpected(readable.error());
  }
  if (const auto written = writeFile(options.out, text); !written) {
    return tl::unexpected(written.error());
  }
  const Json summary{
      {"out", options.out}, {"bytes", text.size()}, {"constants", constants}, {"errors", errors}};
  const auto printed = print(common, summary, summary.dump(2) + "\n");
  return printed ? Expected<ExitStatus>(exitDone) : tl::unexpected(printed.error());
}

} // namespace

RunCommand addCalibrate(CLI::App &app, const CommonOptions &common) {
  const auto options = std::make_shared<CalibrateOptions>();
  app.add_option("--data", options->data,
                 "measured rows, .csv or .csv.gz (default: the tables of ../shared/data/measured)")
      ->check(notEmpty);
  app.add_option("--out", options->out, "the calibration file")->capture_default_str();
  app.add_option("--python", options->python, "a Python with numpy, pandas and lightgbm")
      ->capture_default_str();
  app.add_option("--left-out", options->leftOut,
                 "rows that aren't learnt from: dtype=TYPE (dtype=mxfp4) or gfx=TARGET");
  app.add_option("--family", options->family,
                 "one family of operators: gemm, grouped_gemm, "
                 "attention");
  CLI::Option *cross = app.add_flag(
      "--cross-validate", options->cross,
      "instead of fitting a file: the errors of fits that left each row's group out, or "
      "of one fit without the rows of --left-out");
  app.add_option("--runs", options->runs,
                 "with --cross-validate: what so many runs of a new shape are worth, e.g. 4,16")
      ->delimiter(',')
      ->needs(cross)
      ->check(CLI::Range(1, int(Refinement::mostRuns)));
  return [options, &common] { return calibrate(*options, common); };
}

} // namespace kw
