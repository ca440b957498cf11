// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `kw export` and `kw check-bundle`: finished runs of the store as a bundle, and its proof.
#include "experiments/inductor/Bundle.h"
#include "experiments/inductor/LookupRow.h"
#include "experiments/kw/Arguments.h"
#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"
#include "experiments/rungs/TargetSupport.h"
#include "experiments/store/Store.h"
#include "experiments/support/Files.h"
#include "experiments/support/FirstError.h"
#include "experiments/tune/Tuner.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <iterator>
#include <memory>
#include <optional>

namespace kw {

namespace {

struct Options {
  std::string format, out;
  std::vector<std::string> words;
  std::optional<std::string> run, suite;
  std::string keys = "device", safety = "none", templateHash;
  int top = 1;
};

/// The problems that are named; none when a run is named instead, or nothing is.
Expected<std::vector<Problem>> namedProblems(const Options &options) {
  const int ways = static_cast<int>(!options.words.empty()) +
                   static_cast<int>(options.run.has_value()) +
                   static_cast<int>(options.suite.has_value());
  if (ways != 1) {
    return badInput("give PROBLEM..., --run RUN or --suite FILE: one of them");
  }
  if (options.suite) {
    return readSuite(*options.suite);
  }
  return problemsOf(options.words);
}

/// Whether a document has something to export: a run of ours that ranked by the model alone has no
/// kernel, one of an earlier version none that can be proven.
bool isExportable(const Json &document) {
  return generatorOf(document) != Generator::kw ||
         (isCurrent(document) && document["candidates"].front()["manifest"].is_string());
}

/// The newest finished run of a problem and generator, on the target that is asked for; null: there
/// is none.
Expected<Json> newestRun(Store &store, const std::vector<RunRecord> &runs, const Problem &problem,
                         const Target &target, Generator generator) {
  const std::string text = print(problem);
  for (const RunRecord &run : runs) {
    if (run.problem != text || run.target != target.name) {
      continue;
    }
    const Expected<std::optional<Json>> document = finishedRun(store, run);
    if (!document) {
      return tl::unexpected(document.error());
    }
    if (*document && generatorOf(**document) == generator && isExportable(**document)) {
      return **document;
    }
  }
  return Json();
}

/// The newest runs of a problem, one a generator.
Expected<std::vector<Json>> newestRuns(Store &store, const std::vector<RunRecord> &runs,
                                       const Problem &problem, const Target &target) {
  std::vector<Json> list;
  for (const Generator generator : {Generator::kw, Generator::triton}) {
    Expected<Json> document = newestRun(store, runs, problem, target, generator);
    if (!document) {
      return tl::unexpected(document.error());
    }
    if (!document->is_null()) {
      list.push_back(std::move(*document));
    }
  }
  if (list.empty()) {
    if (Expected<void> compiles = checkCompiles(problem, target); !compiles) {
      return tl::unexpected(compiles.error());
    }
    return badInput(fmt::format("{}: there is no finished run in {}; `kw tune {}` makes one",
                                print(problem), store.file().string(), print(problem)));
  }
  return list;
}

Expected<std::vector<Json>> documents(const Options &options, Store &store, const Target &target) {
  std::vector<Json> list;
  if (options.run) {
    Expected<std::optional<RunRecord>> run = store.findRun(*options.run);
    if (!run) {
      return tl::unexpected(run.error());
    }
    if (!*run) {
      return badInput(fmt::format("run '{}': there is none in {}; `kw runs` lists them",
                                  *options.run, store.file().string()));
    }
    Expected<std::optional<Json>> document = finishedRun(store, **run);
    if (!document) {
      return tl::unexpected(document.error());
    }
    if (!*document) {
      return badInput(fmt::format("run {} is not finished; `kw resume {}` goes on with it",
                                  (*run)->id, (*run)->id));
    }
    list.push_back(std::move(**document));
    return list;
  }
  const Expected<std::vector<Problem>> problems = namedProblems(options);
  const Expected<std::vector<RunRecord>> runs = store.runs();
  if (const Error *error = firstError(problems, runs)) {
    return tl::unexpected(*error);
  }
  for (const Problem &problem : *problems) {
    Expected<std::vector<Json>> newest = newestRuns(store, *runs, problem, target);
    if (!newest) {
      return tl::unexpected(newest.error());
    }
    std::ranges::move(*newest, std::back_inserter(list));
  }
  return list;
}

Expected<LookupOptions> lookupOptionsOf(const Options &options) {
  const Expected<LookupKeys> keys = parseLookupKeys(options.keys);
  if (!keys) {
    return tl::unexpected(keys.error());
  }
  if (options.safety != "none" && options.safety != "aten") {
    return badInput(fmt::format("unknown safety '{}', expected none or aten", options.safety));
  }
  return LookupOptions{*keys, options.safety == "aten", options.templateHash};
}

Expected<ExitStatus> exportBundle(const Options &options, const CommonOptions &common) {
  if (options.format != "inductor") {
    return badInput(fmt::format("unknown format '{}', expected inductor", options.format));
  }
  if (options.run && (!options.words.empty() || options.suite)) {
    return tl::unexpected(namedProblems(options).error());
  }
  const Expected<const Target *> target = common.target();
  if (!target) {
    return tl::unexpected(target.error());
  }
  Expected<Store> store = Store::open(common.db, Store::Access::read);
  if (!store) {
    return tl::unexpected(store.error());
  }
  const Expected<std::vector<Json>> list = documents(options, *store, **target);
  if (!list) {
    return tl::unexpected(list.error());
  }
  const Expected<std::vector<BundleEntry>> entries = bundleEntries(*list);
  if (!entries) {
    return tl::unexpected(entries.error());
  }
  const Expected<LookupOptions> lookupOptions = lookupOptionsOf(options);
  const Expected<std::vector<LookupEntry>> rows = lookupEntries(*list, options.top);
  if (const Error *error = firstError(lookupOptions, rows)) {
    return tl::unexpected(*error);
  }
  const Expected<LookupTable> lookup = makeLookupTable(*rows, **target, *lookupOptions);
  if (!lookup) {
    return tl::unexpected(lookup.error());
  }
  Json kernels = Json::array();
  for (const BundleEntry &entry : *entries) {
    kernels.push_back({{"problem", print(entry.problem)},
                       {"schedule", print(entry.schedule)},
                       {"time_us", entry.timeUs},
                       {"source", entry.source}});
  }
  if (Expected<void> writable = makeWritableFolder(options.out); !writable) {
    return tl::unexpected(writable.error());
  }
  const Expected<std::filesystem::path> written =
      writeBundle(absolutePath(options.out), **target, *entries, *lookup);
  if (!written) {
    return tl::unexpected(written.error());
  }
  const Json document = {
      {"bundle", written->string()}, {"kernels", std::move(kernels)}, {"lookup", lookup->notes}};
  const std::string text = fmt::format("{} kernels and {} rows in {}\n", entries->size(),
                                       lookup->notes.size(), written->string());
  if (Expected<void> printed = print(common, document, text); !printed) {
    return tl::unexpected(printed.error());
  }
  return exitDone;
}

Expected<ExitStatus> check(const std::string &folder, bool validateKernels,
                           const CommonOptions &common) {
  const std::filesystem::path path = absolutePath(folder);
  const Expected<BundleCheck> checked = checkBundle(path, {validateKernels, common.jobs});
  if (!checked) {
    return tl::unexpected(checked.error());
  }
  const bool ok = checked->lie.empty();
  const Json document = {{"ok", ok},
                         {"bundle", path.string()},
                         {"kernels", checked->kernels},
                         {"rows", checked->rows},
                         {"lie", ok ? Json() : Json(checked->lie)},
                         {"unnamed", checked->unnamed}};
  std::string text = ok ? fmt::format("{}: {} kernels and {} rows, all true\n", path.string(),
                                      checked->kernels, checked->rows)
                        : fmt::format("{}\n", checked->lie);
  if (ok && !checked->unnamed.empty()) {
    text += fmt::format("not of the bundle, not checked: {}\n", fmt::join(checked->unnamed, " "));
  }
  if (Expected<void> printed = print(common, document, text); !printed) {
    return tl::unexpected(printed.error());
  }
  return ok ? exitDone : exitFailed;
}

} // namespace

RunCommand addExport(CLI::App &app, const CommonOptions &common) {
  const auto options = std::make_shared<Options>();
  app.add_option("FORMAT", options->format, "inductor")->required();
  app.add_option("PROBLEM", options->words, "problems that were tuned: FAMILY key=value ...");
  app.add_option("--run", options->run, "a run instead of problems");
  app.add_option("--suite", options->suite, "file with one problem a line");
  app.add_option("--key", options->keys, "keys of rows: device, agnostic or both")
      ->capture_default_str();
  app.add_option("--topk", options->top, "rows of a problem; Inductor benchmarks more than one")
      ->capture_default_str()
      ->check(CLI::Range(1, 1000));
  app.add_option("--safety", options->safety, "aten: a last row of ATen, none")
      ->capture_default_str();
  app.add_option("--template-hash", options->templateHash,
                 "bind the rows to this version of torch: " + knownTorchVersions());
  app.add_option("--out", options->out, "folder of the bundle")->required()->check(notEmpty);
  return [options, &common] { return exportBundle(*options, common); };
}

RunCommand addCheckBundle(CLI::App &app, const CommonOptions &common) {
  const auto folder = std::make_shared<std::string>();
  const auto validate = std::make_shared<bool>(true);
  app.add_option("DIR", *folder, "folder of a bundle")->required();
  app.add_flag("--validate,!--no-validate", *validate, "run every kernel again (default)");
  return [folder, validate, &common] { return check(*folder, *validate, common); };
}

} // namespace kw
