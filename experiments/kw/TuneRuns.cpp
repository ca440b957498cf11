// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/kw/TuneRuns.h"

#include "experiments/inductor/Bundle.h"
#include "experiments/kw/Output.h"
#include "experiments/kw/TrialCommand.h"
#include "experiments/kw/TuneText.h"
#include "experiments/support/Files.h"
#include "experiments/tune/Tuner.h"

#include <atomic>
#include <chrono>
#include <csignal>
#include <filesystem>
#include <fmt/format.h>

namespace kw {

namespace {

std::atomic<bool> stopRequested = false;

/// The first Ctrl-C ends after what is in flight has been given up; the second ends at once.
void requestStop(int signal) {
  stopRequested = true;
  std::signal(signal, SIG_DFL);
}

Json errorDocument(const TuneSpec &spec, const Error &error) {
  return {{"problem", print(spec.problem)},
          {"target", spec.target->name},
          {"error", {{"message", error.message}}}};
}

/// Writes the table of all, and a bundle of the best of each document; `bundle` of each then names
/// the folder.
Expected<void> exportAll(const TuneRequest &request, std::vector<Json> &documents) {
  const Expected<std::vector<BundleEntry>> entries = bundleEntries(documents);
  if (!entries) {
    return tl::unexpected(entries.error());
  }
  const Target &target = *request.specs.front().target;
  const Expected<std::vector<LookupEntry>> rows = lookupEntries(documents, 1);
  const Expected<LookupTable> lookup =
      rows ? makeLookupTable(*rows, target, {}) : tl::unexpected(rows.error());
  if (!lookup) {
    return tl::unexpected(lookup.error());
  }
  if (entries->empty() && lookup->text.empty()) {
    return writeFile(absolutePath(request.out) / tableFile, tuneCsv(documents));
  }
  const Expected<std::filesystem::path> written =
      writeBundle(absolutePath(request.out), target, *entries, *lookup, tuneCsv(documents));
  if (!written) {
    return tl::unexpected(written.error());
  }
  for (Json &document : documents) {
    if (!document.contains("error")) {
      document["bundle"] = written->string();
    }
  }
  return {};
}

} // namespace

Expected<ExitStatus> tuneAll(const TuneRequest &request, Store &store,
                             const CommonOptions &common) {
  if (!request.out.empty()) {
    if (Expected<void> writable = makeWritableFolder(request.out); !writable) {
      return tl::unexpected(writable.error());
    }
  }
  std::signal(SIGINT, requestStop);
  std::signal(SIGTERM, requestStop);
  TrialPool pool = makeTrialPool(store.artifactFolder(), common.jobs);
  Progress progress(common.quiet);
  std::string prefix;
  TuneContext context{store,
                      pool,
                      common.jobs,
                      {request.trialSeconds, trialMemoryMb(common.jobs)},
                      [&](const std::string &status) { progress(prefix + status); },
                      &stopRequested};
  std::vector<Json> documents;
  std::optional<Error> firstError;
  for (std::size_t i = 0; i < request.specs.size(); ++i) {
    const TuneSpec &spec = request.specs[i];
    prefix = request.specs.size() > 1
                 ? fmt::format("[{}/{}] {}: ", i + 1, request.specs.size(), print(spec.problem))
                 : "";
    const auto start = std::chrono::steady_clock::now();
    Expected<Json> document = tune(spec, context);
    if (!document) {
      // In a suite one problem without a kernel is not the end of the others.
      if (!request.suite || stopRequested) {
        return tl::unexpected(document.error());
      }
      progress.note(fmt::format("kw: {}", document.error().message));
      firstError = firstError ? firstError : document.error();
      documents.push_back(errorDocument(spec, document.error()));
      continue;
    }
    (*document)["seconds"] =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    documents.push_back(std::move(*document));
    progress.note(prefix +
                  fmt::format("{} us, {}",
                              microseconds(documents.back()["candidates"][0]["time_us"]),
                              documents.back()["candidates"][0]["source"].get<std::string>()));
  }
  if (!request.out.empty()) {
    progress("writing the bundle");
    if (Expected<void> exported = exportAll(request, documents); !exported) {
      return tl::unexpected(exported.error());
    }
  }
  std::string text = tuneText(documents);
  if (!request.out.empty()) {
    const std::string folder = absolutePath(request.out).string();
    text += fmt::format("bundle: {}\ntable:  {}/{}\n", folder, folder, tableFile);
  }
  const Json document = request.suite ? Json(documents) : documents.front();
  if (Expected<void> printed = print(common, document, text); !printed) {
    return tl::unexpected(printed.error());
  }
  return firstError ? exitStatus(*firstError) : exitDone;
}

} // namespace kw
