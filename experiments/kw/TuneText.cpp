// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/kw/TuneText.h"

#include "experiments/kw/Output.h"

#include <fmt/format.h>

namespace kw {

std::string microseconds(const Json &value) {
  return value.is_number() ? fmt::format("{:.2f}", value.get<double>()) : "-";
}

namespace {

std::vector<std::string> candidateRow(const Json &candidate) {
  const auto text = [&](const char *key) {
    return candidate[key].is_null() ? std::string("-") : candidate[key].dump();
  };
  return {text("rank"),
          microseconds(candidate["time_us"]),
          candidate["source"].get<std::string>(),
          microseconds(candidate["estimates"]["model"]),
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
      microseconds(best["time_us"]), best["source"].get<std::string>(),
      best["tflops"].get<double>(), best["gbps"].get<double>(), best["limiter"].get<std::string>(),
      document["space"]["legal"].get<std::uint64_t>(),
      document["trials"]["compiled"].get<std::uint64_t>(),
      document["trials"]["validated"].get<std::uint64_t>(), document["run"].get<std::string>());
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

std::string tuneCsv(const std::vector<Json> &documents) {
  constexpr const char *columns[] = {"rank", "schedule",  "time_us",   "source",  "tflops",
                                     "gbps", "limiter",   "validated", "max_rel", "vgpr",
                                     "agpr", "lds_bytes", "hsaco"};
  std::string text = "problem,target,run,low_us,high_us";
  for (const char *column : columns) {
    text += fmt::format(",{}", column);
  }
  text += "\n";
  for (const Json &document : documents) {
    if (document.contains("error")) {
      continue;
    }
    for (const Json &candidate : document["candidates"]) {
      // As JSON a text is quoted, as CSV wants it where there are commas; ours hold no quotes.
      text += fmt::format("{},{},{},{},{}", document["problem"].dump(),
                          document["target"].get<std::string>(), document["run"].get<std::string>(),
                          candidate["interval_us"][0].dump(), candidate["interval_us"][1].dump());
      for (const char *column : columns) {
        text += "," + (candidate[column].is_null() ? "" : candidate[column].dump());
      }
      text += "\n";
    }
  }
  return text;
}

} // namespace kw
