// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Mutation.h"

#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"
#include "experiments/rungs/CodeObjectFiles.h"
#include "experiments/rungs/ValidatedRung.h"
#include "runtime/Launcher.h"

#include <array>
#include <fmt/format.h>
#include <memory>

namespace kw {

namespace {

struct Options {
  std::string path;
  int schedules = 6;
  std::size_t limit = 0;
};

struct Count {
  int mutants = 0, harmful = 0, withFinding = 0, found = 0;
};
using Counts = std::array<Count, mutationKinds>;

Counts countMutants(const MutationReport &report) {
  Counts counts;
  for (const MutantOutcome &mutant : report.mutants) {
    Count &count = counts[static_cast<std::size_t>(mutant.mutation.kind)];
    ++count.mutants;
    count.harmful += mutant.harmful;
    count.withFinding += mutant.harmful && mutant.hasFinding;
    count.found += mutant.harmful && mutant.found();
  }
  return counts;
}

Json mutantJson(const MutantOutcome &mutant) {
  return {{"kind", name(mutant.mutation.kind)}, {"kernel", mutant.mutation.kernel},
          {"pc", mutant.mutation.pc},           {"what", mutant.mutation.what},
          {"harmful", mutant.harmful},          {"harm", mutant.harm},
          {"finding", mutant.finding},          {"wrong_output", mutant.wrongOutput}};
}

Json reportJson(const MutationReport &report) {
  Json kinds = Json::object(), mutants = Json::array();
  const Counts counts = countMutants(report);
  for (int kind = 0; kind < mutationKinds; ++kind) {
    const Count &count = counts[static_cast<std::size_t>(kind)];
    kinds[std::string(name(static_cast<MutationKind>(kind)))] = {
        {"mutants", count.mutants},
        {"harmful", count.harmful},
        {"with_finding", count.withFinding},
        {"found", count.found}};
  }
  for (const MutantOutcome &mutant : report.mutants) {
    mutants.push_back(mutantJson(mutant));
  }
  return {{"original", findingsJson(report.original)},
          {"kinds", std::move(kinds)},
          {"mutants", std::move(mutants)}};
}

std::string reportText(const MutationReport &report) {
  std::vector<std::vector<std::string>> rows = {
      {"kind", "mutants", "harmful", "with a finding", "finding or wrong output"}};
  const Counts counts = countMutants(report);
  for (int kind = 0; kind < mutationKinds; ++kind) {
    const Count &count = counts[static_cast<std::size_t>(kind)];
    rows.push_back({std::string(name(static_cast<MutationKind>(kind))),
                    std::to_string(count.mutants), std::to_string(count.harmful),
                    std::to_string(count.withFinding), std::to_string(count.found)});
  }
  std::string text = table(rows);
  for (const Finding &finding : report.original) {
    text +=
        fmt::format("the original: {} at {:#x}: {}\n", finding.kind, finding.pc, finding.detail);
  }
  for (const MutantOutcome &mutant : report.mutants) {
    if (mutant.escaped()) {
      text += fmt::format("escaped: {} {} at {:#x} of {}: {}\n", name(mutant.mutation.kind),
                          mutant.mutation.what, mutant.mutation.pc, mutant.mutation.kernel,
                          mutant.harm);
    }
  }
  return text;
}

Expected<MutationReport> reportOf(const LoadedCodeObject &loaded, const Options &options,
                                  const CommonOptions &common) {
  const auto folder = loaded.manifestFile.parent_path();
  const auto runFresh = [&](const CodeObject &object, const RunOptions &how) {
    return runFromFresh(object, folder, *makeEmulatedDevice(), how);
  };
  Progress progress(common.quiet);
  progress.onTerminal("running the original");
  const auto tell = [&](std::size_t done, std::size_t all) {
    progress.onTerminal(fmt::format("mutants: {} of {}", done, all));
  };
  return mutate(loaded.object, {options.schedules, common.seed, common.jobs, options.limit, tell},
                runFresh);
}

Expected<ExitStatus> run(const Options &options, const CommonOptions &common) {
  const Expected<LoadedCodeObject> loaded = openCodeObject(options.path);
  if (!loaded) {
    return tl::unexpected(loaded.error());
  }
  const Expected<MutationReport> report = reportOf(*loaded, options, common);
  if (!report) {
    return tl::unexpected(report.error());
  }
  if (Expected<void> printed = print(common, reportJson(*report), reportText(*report)); !printed) {
    return tl::unexpected(printed.error());
  }
  const bool escaped = std::any_of(report->mutants.begin(), report->mutants.end(),
                                   [](const MutantOutcome &mutant) { return mutant.escaped(); });
  return report->original.empty() && !escaped ? exitDone : exitFailed;
}

} // namespace

RunCommand addMutate(CLI::App &app, const CommonOptions &common) {
  const auto options = std::make_shared<Options>();
  app.add_option("DIR|FILE.json", options->path, "launch manifest, or the folder with one")
      ->required();
  app.add_option("--schedules", options->schedules,
                 "runs under adversarial time that decide whether a mutant is harmful")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--limit", options->limit, "mutants at most, evenly spread; 0: all")
      ->capture_default_str();
  return [options, &common] { return run(*options, common); };
}

} // namespace kw
