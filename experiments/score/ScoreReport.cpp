// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/ScoreReport.h"

#include "experiments/score/BandwidthRamp.h"
#include "experiments/score/Baselines.h"
#include "experiments/score/Metrics.h"
#include "experiments/score/Ranking.h"
#include "experiments/score/Traffic.h"
#include "experiments/support/Files.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <iterator>

namespace kw {
namespace {

Json errorsJson(const Errors &errors) {
  if (errors.rows == 0) {
    return {{"rows", 0}, {"mape", nullptr}};
  }
  return {{"rows", errors.rows},
          {"mape", errors.mape},
          {"median_ape", errors.medianApe},
          {"p90_ape", errors.p90Ape},
          {"within10", errors.within10},
          {"within20", errors.within20},
          {"coverage80", errors.coverage80},
          {"log_bias", errors.bias}};
}

Json intervalJson(const Interval &interval) { return {interval.low, interval.high}; }

Json byJson(std::span<const ScoredRow> rows,
            const std::function<std::string(const ScoredRow &)> &key) {
  Json all = Json::object();
  for (const auto &[name, errors] : errorsBy(rows, key)) {
    all[name] = errorsJson(errors);
  }
  return all;
}

Json rankingJson(std::span<const ScoredRow> rows) {
  const Ranking ranking = rankingOf(rankingGroups(rows));
  if (ranking.groups == 0) {
    return {{"groups", 0}, {"top1_regret", nullptr}, {"top5_regret", nullptr}, {"tau", nullptr}};
  }
  return {{"groups", ranking.groups},
          {"top1_regret", ranking.top1Regret},
          {"top5_regret", ranking.top5Regret},
          {"tau", ranking.tau},
          {"top1_regret_p90", ranking.top1RegretP90},
          {"random_regret", ranking.randomRegret}};
}

Json baselinesJson(std::span<const ScoredRow> rows) {
  Json all = Json::object();
  for (const Baseline &baseline : baselines()) {
    const std::vector<ScoredRow> replaced = withBaseline(rows, baseline);
    Json json = errorsJson(errorsOf(samplesOf(replaced)));
    json.erase("coverage80"); // a baseline has no interval
    all[std::string(baseline.name)] = std::move(json);
  }
  return all;
}

/// The cells, and the worst of them; empty: no such rows.
Json rampJson(std::span<const ScoredRow> rows) {
  Json cells = Json::array();
  double worst = 0;
  for (const RampCell &cell : bandwidthRamp(rows)) {
    cells.push_back({{"dtype", cell.dtype},
                     {"from_mb", cell.fromMb},
                     {"to_mb", cell.toMb},
                     {"shapes", cell.shapes},
                     {"measured_gbps", cell.measuredGbps},
                     {"predicted_gbps", cell.predictedGbps},
                     {"error", cell.error()}});
    worst = std::max(worst, std::abs(cell.error()));
  }
  return cells.empty() ? Json() : Json{{"cells", std::move(cells)}, {"worst", worst}};
}

Json trafficJson(std::span<const ScoredRow> rows) {
  const TrafficErrors errors = trafficErrors(rows);
  const auto plain = [](const Errors &of) {
    Json json = errorsJson(of);
    json.erase("coverage80"); // bytes have no interval
    return json;
  };
  Json json = plain(errors.all);
  for (const auto &[stage, of] : errors.byStage) {
    json["by"]["stage"][stage] = plain(of);
  }
  for (const auto &[bucket, of] : errors.byRows) {
    json["by"]["m_bucket"][bucket] = plain(of);
  }
  return errors.all.rows == 0 ? Json() : json;
}

/// Rows by status; of those not modelled the reason is the status.
Json statusJson(std::span<const ScoredRow> rows) {
  std::map<std::string, std::size_t> counts;
  for (const ScoredRow &row : rows) {
    ++counts[row.status()];
  }
  return counts;
}

std::string cell(const std::string &text) {
  if (text.find_first_of(",\"\n") == std::string::npos) {
    return text;
  }
  std::string quoted = "\"";
  for (const char c : text) {
    quoted += c == '"' ? "\"\"" : std::string(1, c);
  }
  return quoted + "\"";
}

std::string number(std::optional<double> value) {
  return value ? fmt::format("{:.6g}", *value) : std::string();
}

} // namespace

Json scoreJson(std::span<const ScoredRow> rows, double seconds, std::uint64_t seed) {
  const std::vector<ErrorSample> samples = samplesOf(rows);
  Json json;
  json["rows"] = rows.size();
  json["modelled"] =
      std::ranges::count_if(rows, [](const ScoredRow &row) { return row.modelCase.has_value(); });
  Json errors = errorsJson(errorsOf(samples));
  for (const char *key : {"mape", "median_ape", "p90_ape", "within10", "within20", "coverage80"}) {
    json[key] = errors.contains(key) ? errors[key] : Json();
  }
  json["seconds"] = seconds;
  json["by"]["dtype"] = byJson(rows, [](const ScoredRow &row) { return row.modelCase->dtype; });
  json["by"]["m_bucket"] = byJson(rows, [](const ScoredRow &row) { return bucketOf(row.m()); });
  json["by"]["family"] = byJson(rows, [](const ScoredRow &row) { return row.modelCase->family; });
  json["by"]["generator"] =
      byJson(rows, [](const ScoredRow &row) { return row.modelCase->generator; });
  json["by"]["split"] = byJson(rows, [](const ScoredRow &row) { return row.time.split; });
  json["by"]["dtype_m_bucket"] = byJson(
      rows, [](const ScoredRow &row) { return row.modelCase->dtype + " " + bucketOf(row.m()); });
  json["ranking"] = rankingJson(rows);
  json["baselines"] = baselinesJson(rows);
  json["bandwidth_ramp"] = rampJson(rows);
  json["read_traffic"] = trafficJson(rows);
  json["counted"] = samples.size();
  json["mape_by_weight_shape"] = samples.empty() ? Json() : Json(mapeByGroup(samples));
  const BootstrapIntervals intervals = bootstrap(samples, seed);
  json["bootstrap90"] = {{"mape", intervalJson(intervals.mape)},
                         {"mape_by_weight_shape", intervalJson(intervals.mapeByGroup)}};
  const PickShare picks = pickShare(rows);
  json["picks"] = {{"shapes", picks.shapes},
                   {"within5", picks.within5},
                   {"random_within5", picks.randomWithin5}};
  json["status"] = statusJson(rows);
  return json;
}

Expected<void> writeRows(const std::string &file, std::span<const ScoredRow> rows,
                         std::span<const TextTable> tables) {
  std::string text = "row,family,predicted_us,lo_us,hi_us,measured_us,status,file\n";
  for (const ScoredRow &row : rows) {
    const auto predicted = [&](double us) { return row.modelCase ? number(us) : std::string(); };
    const std::string family = row.modelCase                        ? row.modelCase->family
                               : row.row.kind == RowKind::gemm      ? "gemm"
                               : row.row.kind == RowKind::attention ? "attention"
                                                                    : "grouped_gemm";
    fmt::format_to(std::back_inserter(text), "{},{},{},{},{},{},{},{}\n", row.row.number, family,
                   predicted(row.predictedUs), predicted(row.lowUs), predicted(row.highUs),
                   number(row.time.us), cell(row.status()), cell(tables[row.file].name()));
  }
  return writeFile(file, text);
}

Expected<void> writeFeatures(const std::string &file, std::span<const ScoredRow> rows,
                             std::span<const TextTable> tables) {
  std::string text =
      "file,row,split,flags,doubtful,gfx,err,exhaustive,m,measured_us,analytic_us,family,dtype,"
      "generator,variant,kernel,group";
  for (std::size_t i = 0; i < termCount; ++i) {
    text += fmt::format(",term_{}", name(static_cast<Term>(i)));
  }
  for (const std::string_view feature : featureNames()) {
    text += fmt::format(",{}", feature);
  }
  text += '\n';
  const auto out = std::back_inserter(text);
  for (const ScoredRow &row : rows) {
    if (!row.modelCase) {
      continue;
    }
    const ModelCase &modelCase = *row.modelCase;
    fmt::format_to(out, "{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{},{}",
                   cell(tables[row.file].name()), row.row.number, row.time.split, row.time.flags,
                   row.doubtful ? 1 : 0, row.row.gfx.empty() ? "gfx950" : row.row.gfx,
                   number(row.time.err), row.time.exhaustive ? 1 : 0, row.m(), number(row.time.us),
                   number(modelCase.analytic.timeUs), modelCase.family, modelCase.dtype,
                   modelCase.generator, modelCase.variant, cell(modelCase.kernel), modelCase.group);
    for (const double us : modelCase.analytic.termsUs) {
      fmt::format_to(out, ",{:.5g}", us);
    }
    for (const float value : modelCase.features) {
      fmt::format_to(out, ",{}", value == value ? fmt::format("{:.5g}", value) : std::string());
    }
    text += '\n';
  }
  return writeFile(file, text);
}

} // namespace kw
