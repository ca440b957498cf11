// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/tune/TuneSpec.h"

#include "codegen/Compile.h"
#include "costmodel/CostModel.h"
#include "experiments/support/FirstError.h"
#include "experiments/support/ProblemFiles.h"
#include "experiments/support/Sha256.h"
#include "experiments/trials/TrialMessage.h"
#include "ir/support/JsonReader.h"
#include "runtime/Validator.h"
#include "search/Strategy.h"

#include <algorithm>
#include <charconv>
#include <fmt/format.h>
#include <limits>

namespace kw {

namespace {

struct BudgetUnit {
  std::string_view suffix;
  double seconds; ///< of one; 0: evaluations
};
constexpr BudgetUnit budgetUnits[] = {{"evals", 0}, {"s", 1}, {"m", 60}, {"h", 3600}};

} // namespace

Expected<Budget> parseBudget(std::string_view text) {
  std::int64_t number = 0;
  const char *end = text.data() + text.size();
  const auto [rest, code] = std::from_chars(text.data(), end, number);
  const std::string_view suffix(rest, static_cast<std::size_t>(end - rest));
  for (const BudgetUnit &unit : budgetUnits) {
    if (code == std::errc() && number >= 1 && number <= 1'000'000'000 && suffix == unit.suffix) {
      Budget budget;
      budget.evaluations = unit.seconds > 0 ? 0 : number;
      budget.seconds = unit.seconds * static_cast<double>(number);
      return budget;
    }
  }
  return badInput(fmt::format("budget '{}': expected a number of evaluations or seconds, as in "
                              "500evals, 60s or 5m",
                              text));
}

std::string print(const Budget &budget) {
  return budget.seconds > 0 ? fmt::format("{:.0f}s", budget.seconds)
                            : fmt::format("{}evals", budget.evaluations);
}

bool TuneSpec::compiles() const {
  return std::any_of(rungs.begin(), rungs.end(), [](Rung rung) { return rung > Rung::model; });
}

Expected<std::vector<Rung>> parseRungs(std::string_view text) {
  std::vector<Rung> rungs{Rung::model};
  for (bool more = true; more;) {
    const std::size_t comma = std::min(text.find(','), text.size());
    const std::string_view word = text.substr(0, comma);
    more = comma < text.size();
    text.remove_prefix(more ? comma + 1 : comma);
    const std::optional<Rung> rung = parseRung(word);
    if (!rung) {
      return badInput(fmt::format("rung '{}': expected model, compiled, validated, simulated or "
                                  "measured",
                                  word));
    }
    if (*rung == Rung::simulated || *rung == Rung::measured) {
      return failed(fmt::format("rung {} is not available yet", word));
    }
    if (std::find(rungs.begin(), rungs.end(), *rung) == rungs.end()) {
      rungs.push_back(*rung);
    }
  }
  std::sort(rungs.begin(), rungs.end());
  return rungs;
}

Json toJson(const TuneSpec &spec) {
  Json rungs = Json::array();
  for (const Rung rung : spec.rungs) {
    rungs.push_back(name(rung));
  }
  Json json{{"problem", print(spec.problem)},
            {"target", spec.target->name},
            {"generator", name(spec.generator)},
            {"strategy", spec.strategy},
            {"seed", spec.seed},
            {"budget", print(spec.budget)},
            {"top", spec.top},
            {"rungs", std::move(rungs)},
            {"device", spec.device},
            {"deterministic", spec.deterministic}};
  for (const Schedule &schedule : spec.schedules) { // no key without any: ids of searches stay
    json["schedules"].push_back(print(schedule));
  }
  if (!spec.calibration.isNone()) {
    json["calibration"] = toJson(spec.calibration);
  }
  return json;
}

Expected<TuneSpec> parseTuneSpec(const nlohmann::json &json) {
  std::optional<Error> complaint;
  const JsonReader reader(json, "", complaint);
  const Expected<Problem> problem = readProblem(reader.at("problem").string());
  const Expected<const Target *> target = findTarget(reader.at("target").string());
  const Expected<Budget> budget = parseBudget(reader.at("budget").string());
  std::string rungNames;
  for (const JsonReader &rung : reader.at("rungs").elements()) {
    rungNames += (rungNames.empty() ? "" : ",") + rung.string();
  }
  const Expected<std::vector<Rung>> rungs = parseRungs(rungNames);
  const Expected<Generator> generator = parseGenerator(reader.at("generator").string());
  if (complaint) {
    return tl::unexpected(*complaint);
  }
  if (const Error *error = firstError(problem, target, budget, rungs, generator)) {
    return tl::unexpected(*error);
  }
  TuneSpec spec{*problem, *target, *generator, reader.at("strategy").string()};
  spec.seed = static_cast<std::uint64_t>(
      reader.at("seed").integer(0, std::numeric_limits<std::int64_t>::max()));
  spec.budget = *budget;
  spec.top = static_cast<int>(reader.at("top").integer(1, std::numeric_limits<int>::max()));
  spec.rungs = *rungs;
  spec.device = reader.at("device").string();
  spec.deterministic = reader.at("deterministic").json() == true;
  if (reader.has("schedules")) {
    for (const JsonReader &text : reader.at("schedules").elements()) {
      const Expected<Schedule> schedule = parseSchedule(text.string());
      if (!schedule && !complaint) {
        return tl::unexpected(schedule.error());
      }
      spec.schedules.push_back(schedule.value_or(Schedule()));
    }
  }
  if (complaint) {
    return tl::unexpected(*complaint);
  }
  if (reader.has("calibration")) {
    Expected<ProblemCalibration> calibration =
        parseProblemCalibration(reader.at("calibration").json());
    if (!calibration) {
      return tl::unexpected(calibration.error());
    }
    spec.calibration = std::move(*calibration);
  }
  return spec;
}

std::string runId(const TuneSpec &spec) {
  const std::string all = fmt::format("{}\n{}\n{}\n{}", printJson(toJson(spec)), modelVersion(),
                                      compilerFingerprint(), validatorVersion());
  return sha256(all).substr(0, 12);
}

} // namespace kw
