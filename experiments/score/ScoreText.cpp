// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/ScoreText.h"

#include "experiments/kw/Output.h"

#include <fmt/format.h>

namespace kw {
namespace {

std::string percent(const Json &value) {
  return value.is_number() ? fmt::format("{:.1f}%", 100 * value.get<double>()) : std::string("-");
}

std::string rampText(const Json &ramp) {
  if (ramp.is_null()) {
    return {};
  }
  std::vector<std::vector<std::string>> lines{
      {"bandwidth, m <= 16", "shapes", "measured GB/s", "predicted", "error"}};
  for (const Json &cell : ramp["cells"]) {
    const double to = cell["to_mb"].get<double>();
    lines.push_back(
        {fmt::format("{} {}{} MB", cell["dtype"].get<std::string>(), to > 1e6 ? ">= " : "",
                     to > 1e6 ? fmt::format("{}", cell["from_mb"].get<double>())
                              : fmt::format("{}-{}", cell["from_mb"].get<double>(), to)),
         fmt::format("{}", cell["shapes"].get<std::size_t>()),
         fmt::format("{:.0f}", cell["measured_gbps"].get<double>()),
         fmt::format("{:.0f}", cell["predicted_gbps"].get<double>()), percent(cell["error"])});
  }
  return table(lines) + fmt::format("worst cell {}\n", percent(ramp["worst"]));
}

std::string trafficText(const Json &traffic) {
  if (traffic.is_null()) {
    return {};
  }
  std::vector<std::vector<std::string>> lines{{"bytes read beyond L2", "rows", "MAPE", "median",
                                               "p90", "within 10%", "within 20%", "bias"}};
  const auto add = [&](const std::string &name, const Json &of) {
    lines.push_back({name, fmt::format("{}", of["rows"].get<std::size_t>()), percent(of["mape"]),
                     percent(of["median_ape"]), percent(of["p90_ape"]), percent(of["within10"]),
                     percent(of["within20"]), percent(of["log_bias"])});
  };
  add("all", traffic);
  for (const auto &[by, groups] : traffic["by"].items()) {
    for (const auto &[name, errors] : groups.items()) {
      add(fmt::format("{} {}", by, name), errors);
    }
  }
  return table(lines);
}

std::string tileText(const Json &efficiency) {
  if (efficiency.is_null()) {
    return {};
  }
  std::vector<std::vector<std::string>> lines{
      {"busy matrix pipes in the loop", "measured", "predicted", "schedule"}};
  for (const Json &tile : efficiency["tiles"]) {
    lines.push_back({tile["tile"].get<std::string>(), percent(tile["measured"]),
                     percent(tile["predicted"]), tile["schedule"].get<std::string>()});
  }
  return table(lines) +
         fmt::format("off by {:.1f} points on average\n", efficiency["mean_points"].get<double>());
}

} // namespace

std::string scoreText(const Json &score) {
  std::vector<std::vector<std::string>> lines{
      {"", "rows", "MAPE", "median", "p90", "within 10%", "within 20%", "in interval", "bias"}};
  const auto add = [&](const std::string &name, const Json &errors, std::size_t rows) {
    lines.push_back(
        {name, fmt::format("{}", rows), percent(errors["mape"]), percent(errors["median_ape"]),
         percent(errors["p90_ape"]), percent(errors["within10"]), percent(errors["within20"]),
         percent(errors.value("coverage80", Json())), percent(errors.value("log_bias", Json()))});
  };
  add("all", score, score["counted"].get<std::size_t>());
  for (const auto &[by, groups] : score["by"].items()) {
    for (const auto &[name, errors] : groups.items()) {
      add(fmt::format("{} {}", by, name.empty() ? "-" : name), errors,
          errors["rows"].get<std::size_t>());
    }
  }
  for (const auto &[name, errors] : score["baselines"].items()) {
    if (errors["rows"].get<std::size_t>() > 0) {
      add("baseline " + name, errors, errors["rows"].get<std::size_t>());
    }
  }
  std::string text = table(lines);
  text += fmt::format("{} rows, {} modelled, {} counted, by weight shape {}\n",
                      score["rows"].get<std::size_t>(), score["modelled"].get<std::size_t>(),
                      score["counted"].get<std::size_t>(), percent(score["mape_by_weight_shape"]));
  if (score.contains("doubtful")) {
    const Json &doubtful = score["doubtful"];
    text += fmt::format("{} doubtful rows: off by {}; by {} if the best factor for each of their "
                        "times were known\n",
                        doubtful["rows"].get<std::size_t>(), percent(doubtful["mape"]),
                        percent(doubtful["best_factor_mape"]));
  }
  const Json &ranking = score["ranking"];
  if (ranking["groups"].get<std::size_t>() > 0) {
    text += fmt::format("ranking of {} groups: top-1 regret {} (random {}), top-5 {}, tau {:.2f}\n",
                        ranking["groups"].get<std::size_t>(), percent(ranking["top1_regret"]),
                        percent(ranking["random_regret"]), percent(ranking["top5_regret"]),
                        ranking["tau"].get<double>());
  }
  const Json &picks = score["picks"];
  if (picks["shapes"].get<std::size_t>() > 0) {
    text += fmt::format("{} shapes with 3 or more kernels: pick within 5% {} (random {})\n",
                        picks["shapes"].get<std::size_t>(), percent(picks["within5"]),
                        percent(picks["random_within5"]));
  }
  text += rampText(score["bandwidth_ramp"]) + trafficText(score["read_traffic"]) +
          tileText(score.value("tile_efficiency", Json()));
  for (const auto &[status, count] : score["status"].items()) {
    text += fmt::format("{:>8} rows: {}\n", count.get<std::size_t>(), status);
  }
  return text;
}

} // namespace kw
