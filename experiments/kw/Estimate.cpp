// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/CostModel.h"
#include "experiments/kw/Arguments.h"
#include "experiments/kw/CalibrationInForce.h"
#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"
#include "experiments/rungs/ModelRung.h"
#include "experiments/support/Files.h"
#include "experiments/support/FirstError.h"
#include "experiments/support/ProblemFiles.h"
#include "experiments/sweep/SweepReport.h"

#include <algorithm>
#include <fmt/format.h>
#include <map>
#include <memory>
#include <optional>

namespace kw {

namespace {

struct Options {
  std::vector<std::string> words;
  std::string generator = "kw";
  std::optional<std::string> schedule, schedules, sweep, out;
  bool explain = false;
  CalibrationOptions calibration;
  std::shared_ptr<const CalibrationInForce> inForce; ///< what `calibration` names
};

std::string lineText(const Json &estimate) {
  return fmt::format("{:.2f} us ({}), limited by {}  {}\n", estimate["time_us"].get<double>(),
                     estimate["source"].get<std::string>(), estimate["limiter"].get<std::string>(),
                     estimate["schedule"].get<std::string>());
}

std::string explainText(const Json &estimate) {
  const double total = estimate["time_us"].get<double>();
  std::vector<std::vector<std::string>> rows{{"term", "us", "share"}};
  for (const auto &[term, value] : estimate["terms"].items()) {
    const double us = value.get<double>();
    if (us != 0) {
      rows.push_back({term, fmt::format("{:.3f}", us), fmt::format("{:.1f} %", 100 * us / total)});
    }
  }
  return fmt::format(
      "{}\n{}\n{:.3f} us (source: {}), 80 % interval {:.3f} to {:.3f} us, limited by {}\n"
      "{:.1f} TFLOP/s, {:.0f} GB/s, occupancy {}, {} VGPRs, {} AGPRs, {} bytes of LDS\n"
      "calibration {}, own runs {}\n{}",
      estimate["problem"].get<std::string>(), estimate["schedule"].get<std::string>(), total,
      estimate["source"].get<std::string>(), estimate["interval_us"][0].get<double>(),
      estimate["interval_us"][1].get<double>(), estimate["limiter"].get<std::string>(),
      estimate["tflops"].get<double>(), estimate["gbps"].get<double>(),
      estimate["occupancy"].get<int>(), estimate["vgpr"].get<int>(), estimate["agpr"].get<int>(),
      estimate["lds_bytes"].get<std::int64_t>(), estimate["calibration"]["name"].get<std::string>(),
      estimate["calibration"]["own_runs"].get<std::size_t>(), table(rows));
}

/// The model of one problem with what the calibration says of each generator, made when needed.
class ModelOfProblem {
public:
  ModelOfProblem(const Problem &problem, const Target &target, const CalibrationInForce &inForce)
      : problem(problem), target(target), inForce(inForce) {}

  Json operator()(const Schedule &schedule) {
    const Generator generator = kindOf(schedule).generator;
    auto at = models.find(generator);
    if (at == models.end()) {
      const ProblemCalibration calibration = inForce.of(problem, generator, target);
      at = models
               .emplace(generator,
                        std::pair(CostModel(problem, target, calibration), brief(calibration)))
               .first;
    }
    auto &[model, calibration] = at->second;
    Json json = estimateJson(problem, schedule, target, model.estimate(schedule));
    json["calibration"] = calibration;
    return json;
  }

private:
  static Json brief(const ProblemCalibration &calibration) {
    return {{"name", calibration.name}, {"own_runs", calibration.ownRuns}};
  }

  const Problem &problem;
  const Target &target;
  const CalibrationInForce &inForce;
  std::map<Generator, std::pair<CostModel, Json>> models;
};

/// One estimate a line of the file, in its order. A line that is not a legal schedule gets its
/// error in its place, and the exit status is 2.
Expected<ExitStatus> estimateFile(const Problem &problem, const Target &target,
                                  const Options &options, const CommonOptions &common) {
  const Expected<std::vector<TextLine>> lines = readLines(*options.schedules);
  if (!lines) {
    return tl::unexpected(lines.error());
  }
  ModelOfProblem model(problem, target, *options.inForce);
  Json list = Json::array();
  std::string text;
  ExitStatus status = exitDone;
  for (const TextLine &line : *lines) {
    const Expected<Schedule> schedule = parseLegalSchedule(problem, line.text, target);
    if (!schedule) {
      Error error = schedule.error();
      error.message = fmt::format("{}:{}: {}", *options.schedules, line.number, error.message);
      printError(error, false);
      list.push_back({{"problem", print(problem)},
                      {"schedule", line.text},
                      {"target", target.name},
                      {"time_us", nullptr},
                      {"source", "model"},
                      {"error", error.message}});
      status = exitBadInput;
      continue;
    }
    list.push_back(model(*schedule));
    text += options.explain ? explainText(list.back()) : lineText(list.back());
  }
  if (Expected<void> printed = print(common, list, text); !printed) {
    return tl::unexpected(printed.error());
  }
  return status;
}

/// Of the schedule that was given, or of the best that the model finds.
Expected<Json> estimateOne(const Problem &problem, const Target &target, Generator generator,
                           const Options &options, const CommonOptions &common) {
  const Expected<Schedule> schedule = options.schedule
                                          ? parseLegalSchedule(problem, *options.schedule, target)
                                          : bestByModel(problem, target, options.inForce->fitted(),
                                                        common.jobs, common.seed, generator);
  if (!schedule) {
    return tl::unexpected(schedule.error());
  }
  return ModelOfProblem(problem, target, *options.inForce)(*schedule);
}

/// The problem of each point: one that cannot be read is refused before anything is begun.
Expected<std::vector<Problem>> sweptProblems(const SweepAxis &axis, const Options &options) {
  std::vector<Problem> problems;
  for (const std::int64_t value : axis.values) {
    Expected<Problem> problem = readProblem(withKey(options.words, axis.key, value));
    if (!problem) {
      return tl::unexpected(problem.error());
    }
    problems.push_back(std::move(*problem));
  }
  return problems;
}

/// The points as they come into the CSV, so that a sweep that is killed keeps what it has. A point
/// without an estimate gets its error in its place; `kind` is then that of the first such.
Expected<std::vector<SweepPoint>> sweepPoints(const SweepAxis &axis, const Target &target,
                                              Generator generator, const Options &options,
                                              const CommonOptions &common,
                                              std::optional<Error::Kind> &kind) {
  const Expected<std::vector<Problem>> problems = sweptProblems(axis, options);
  if (!problems) {
    return tl::unexpected(problems.error());
  }
  Expected<void> written =
      options.out ? writeFile(*options.out, sweepCsvHeader(axis)) : Expected<void>();
  std::vector<SweepPoint> points;
  Progress progress(common.quiet);
  for (const Problem &problem : *problems) {
    if (!written) {
      return tl::unexpected(written.error());
    }
    SweepPoint &point = points.emplace_back();
    point.value = axis.values[points.size() - 1];
    progress(
        fmt::format("{}={} ({} of {})", axis.key, point.value, points.size(), axis.values.size()));
    setRoofs(point, problem, target);
    if (Expected<Json> json = estimateOne(problem, target, generator, options, common)) {
      point.estimate = std::move(*json);
    } else {
      point.error = json.error().message;
      kind = kind.value_or(json.error().kind);
    }
    written = options.out ? appendToFile(*options.out, sweepCsvRow(point)) : Expected<void>();
  }
  return written ? Expected<std::vector<SweepPoint>>(std::move(points))
                 : tl::unexpected(written.error());
}

/// With points that have no estimate, the exit status is that of the first such.
Expected<ExitStatus> estimateSweep(const SweepAxis &axis, const Target &target, Generator generator,
                                   const Options &options, const CommonOptions &common) {
  std::optional<Error::Kind> kind;
  const Expected<std::vector<SweepPoint>> points =
      sweepPoints(axis, target, generator, options, common, kind);
  if (!points) {
    return tl::unexpected(points.error());
  }
  const Error missing{kind.value_or(Error::Kind::failed), missingPoints(axis, *points)};
  if (std::ranges::all_of(*points, [](const SweepPoint &point) { return !point.error.empty(); })) {
    return tl::unexpected(missing);
  }
  Json document = sweepJson(axis, *points);
  document["target"] = target.name;
  document["csv"] = options.out ? Json(absolutePath(*options.out).string()) : Json();
  if (Expected<void> printed = print(common, document, sweepText(axis, *points)); !printed) {
    return tl::unexpected(printed.error());
  }
  if (kind) {
    printError(missing, false);
    return exitStatus(missing);
  }
  return exitDone;
}

Expected<ExitStatus> run(Options options, const CommonOptions &common) {
  const Expected<const Target *> target = common.target();
  const Expected<Generator> generator = parseGenerator(options.generator);
  if (const Error *error = firstError(target, generator)) {
    return tl::unexpected(*error);
  }
  auto inForce = CalibrationInForce::load(options.calibration, common, **target);
  if (!inForce) {
    return tl::unexpected(inForce.error());
  }
  options.inForce = std::make_shared<CalibrationInForce>(std::move(*inForce));
  if (options.sweep) {
    const Expected<SweepAxis> axis = parseSweepAxis(*options.sweep);
    return axis ? estimateSweep(*axis, **target, *generator, options, common)
                : tl::unexpected(axis.error());
  }
  const Expected<Problem> problem = problemOf(options.words);
  if (!problem) {
    return tl::unexpected(problem.error());
  }
  if (options.schedules) {
    return estimateFile(*problem, **target, options, common);
  }
  const Expected<Json> document = estimateOne(*problem, **target, *generator, options, common);
  if (!document) {
    return tl::unexpected(document.error());
  }
  if (Expected<void> printed =
          print(common, *document, options.explain ? explainText(*document) : lineText(*document));
      !printed) {
    return tl::unexpected(printed.error());
  }
  return exitDone;
}

} // namespace

RunCommand addEstimate(CLI::App &app, const CommonOptions &common) {
  const auto options = std::make_shared<Options>();
  app.add_option("PROBLEM", options->words, "FAMILY key=value ...");
  CLI::Option *one = app.add_option("--schedule", options->schedule,
                                    "the schedule (default: the best that the model finds)");
  app.add_option("--generator", options->generator,
                 "without a schedule: whose decisions, kw or triton")
      ->capture_default_str();
  CLI::Option *many =
      app.add_option("--schedules", options->schedules, "file with one schedule a line")
          ->excludes(one);
  addCalibrationOptions(app, options->calibration);
  app.add_flag("--explain", options->explain, "print the terms as a table");
  CLI::Option *sweep =
      app.add_option(
             "--sweep", options->sweep,
             "a key of the problem through a range: m=1..32768*2, skv=1024..8192+1024, m=1,16")
          ->excludes(many);
  app.add_option("-o,--out", options->out, "with --sweep: CSV with the terms of each point")
      ->needs(sweep);
  return [options, &common] { return run(*options, common); };
}

} // namespace kw
