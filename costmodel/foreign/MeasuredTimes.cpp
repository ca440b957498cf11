// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/MeasuredTimes.h"

#include <array>
#include <fmt/format.h>

namespace kw {
namespace {

/// Of the published flags those that say that a time is wrong or stands for something else
/// (fits_mall and tiny_us only describe the problem).
constexpr std::array<std::string_view, 6> damning{"peak",           "hbm",      "suspect",
                                                  "repeat_outlier", "dup_arch", "repeat_disagree"};

/// Of a read request between L2 and fabric. [measured: costmodel.md 1.3: with 128 the counters
/// agree with compulsory bytes to 2%; FETCH_SIZE prices them at 64, which is half]
constexpr double bytesOfRequest = 128;

std::string damningOf(std::string_view flags) {
  std::string kept;
  while (!flags.empty()) {
    const std::size_t end = std::min(flags.find('|'), flags.size());
    const std::string_view flag = flags.substr(0, end);
    flags.remove_prefix(std::min(end + 1, flags.size()));
    for (const std::string_view known : damning) {
      if (flag == known) {
        kept += fmt::format("{}{}", kept.empty() ? "" : "|", flag);
      }
    }
  }
  return kept;
}

/// "12.3%" or a fraction.
std::optional<double> mismatch(std::string_view cell) {
  const bool percent = cell.ends_with('%');
  const std::optional<double> value = numberIn(percent ? cell.substr(0, cell.size() - 1) : cell);
  return value && percent ? std::optional(*value / 100) : value;
}

} // namespace

std::vector<MeasuredTime> measuredTimes(const TextTable &table) {
  std::vector<MeasuredTime> times(table.rows());
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::vector<std::string> cells = table.cells(i);
    const auto text = [&](std::string_view name) {
      const auto at = table.column(name);
      return at ? cells[*at] : std::string();
    };
    MeasuredTime &time = times[i];
    const std::optional<double> us = numberIn(text("us"));
    time.us = us && *us > 0 ? us : std::nullopt;
    time.flags = damningOf(text("flags"));
    time.err = mismatch(text("err"));
    time.split = text("split");
    time.origin = fmt::format("{} {}", text("source"), text("date"));
    time.exhaustive = text("kind") == "exhaustive";
    if (const std::optional<double> requests = numberIn(text("TCC_EA0_RDREQ_sum"))) {
      time.readBytes = *requests * bytesOfRequest;
    }
    if (time.err && *time.err > legalMismatch) {
      time.flags += time.flags.empty() ? "wrong_result" : "|wrong_result";
    }
  }
  return times;
}

} // namespace kw
