// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/kw/TuneRuns.h"

#include "experiments/inductor/Bundle.h"
#include "experiments/kw/Output.h"
#include "experiments/kw/TrialCommand.h"
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

std::string us(const Json &value) {
  return value.is_number() ? fmt::format("{:.2f}", value.get<double>()) : "-";
}

std::vector<std::string> candidateRow(const Json &candidate) {
  const auto text = [&](const char *key) {
    return candidate[key].is_null() ? std::string("-") : candidate[key].dump();
  };
  return {text("rank"),
          us(candidate["time_us"]),
          candidate["source"].get<std::string>(),
          us(candidate["estimates"]["model"]),
          fmt::format("{:.0f}", candidate["tflops"].get<double>()),
          candidate["limiter"].get<std::string>(),
          text("vgpr"),
          text("agpr"),
          text("lds_bytes"),
          candidate["validated"].get<bool>() ? "yes" : "no",
          candidate["schedule"].get<std::string>()};
}

std::string candidatesText(const Json &document) {
  std::vector<std::vector<std::string>> rows{{"rank", "us", "source", "model us", "TFLOP/s",
                                              "limiter", "VGPR", "AGPR", "LDS", "valid",
                                              "schedule"}};
  for (const Json &candidate : document["candidates"]) {
    rows.push_back(candidateRow(candidate));
  }
  return table(rows);
}

std::string summaryText(const Json &document) {
  if (document.contains("error")) {
    return fmt::format("{}\n  {}\n", document["problem"].get<std::string>(),
                       document["error"]["message"].get<std::string>());
  }
  const Json &best = document["candidates"].front();
  return fmt::format(
      "{}\n  {}\n  {} us (source: {}), {:.0f} TFLOP/s, {:.0f} GB/s, limited by {}; "
      "best of {} legal, {} compiled, {} validated; run {}\n",
      document["problem"].get<std::string>(), best["schedule"].get<std::string>(),
      us(best["time_us"]), best["source"].get<std::string>(), best["tflops"].get<double>(),
      best["gbps"].get<double>(), best["limiter"].get<std::string>(),
      document["space"]["legal"].get<std::uint64_t>(),
      document["trials"]["compiled"].get<std::uint64_t>(),
      document["trials"]["validated"].get<std::uint64_t>(), document["run"].get<std::string>());
}

Json errorDocument(const TuneSpec &spec, const Error &error) {
  return {{"problem", print(spec.problem)},
          {"target", spec.target->name},
          {"error", {{"message", error.message}}}};
}

/// Writes the best of each document; `bundle` of each then names the folder.
Expected<void> exportAll(const TuneRequest &request, std::vector<Json> &documents) {
  std::vector<BundleEntry> entries;
  for (const Json &document : documents) {
    if (document.contains("error")) {
      continue;
    }
    Expected<BundleEntry> entry = bundleEntry(document);
    if (!entry) {
      return tl::unexpected(entry.error());
    }
    entries.push_back(std::move(*entry));
  }
  if (entries.empty()) {
    return {};
  }
  const Expected<std::filesystem::path> written =
      writeBundle(absolutePath(request.out), *request.specs.front().target, entries);
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

std::string tuneText(const std::vector<Json> &documents) {
  std::string text;
  for (const Json &document : documents) {
    text += summaryText(document);
    if (documents.size() == 1 && !document.contains("error")) {
      text += candidatesText(document);
    }
  }
  return text;
}

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
                  fmt::format("{} us, {}", us(documents.back()["candidates"][0]["time_us"]),
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
    text += fmt::format("bundle: {}\n", absolutePath(request.out).string());
  }
  const Json document = request.suite ? Json(documents) : documents.front();
  if (Expected<void> printed = print(common, document, text); !printed) {
    return tl::unexpected(printed.error());
  }
  return firstError ? exitStatus(*firstError) : exitDone;
}

} // namespace kw
