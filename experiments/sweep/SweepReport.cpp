// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/sweep/SweepReport.h"

#include "costmodel/KernelProfile.h"

#include <algorithm>
#include <fmt/format.h>
#include <functional>

namespace kw {
namespace {

bool isOk(const SweepPoint &point) { return point.error.empty(); }

/// Of a text that may hold separators.
std::string quoted(const std::string &text) {
  std::string result = "\"";
  for (const char c : text) {
    result += c;
    if (c == '"') {
      result += c;
    }
  }
  return result + '"';
}

Json ridgeOf(const std::vector<SweepPoint> &points) {
  const auto computes = [](const SweepPoint &point) {
    return point.computeRoofUs >= point.memoryRoofUs;
  };
  for (std::size_t i = 1; i < points.size(); ++i) {
    if (!computes(points[i - 1]) && computes(points[i])) {
      return {{"behind", points[i - 1].value}, {"at", points[i].value}};
    }
  }
  return nullptr;
}

Json limitersOf(const std::vector<SweepPoint> &points) {
  Json list = Json::array();
  for (const SweepPoint &point : points) {
    if (!isOk(point)) {
      continue;
    }
    const Json &limiter = point.estimate["limiter"];
    if (list.empty() || list.back()["limiter"] != limiter) {
      list.push_back({{"limiter", limiter}, {"from", point.value}, {"to", point.value}});
    }
    list.back()["to"] = point.value;
  }
  return list;
}

std::string pointText(const std::string &key, const SweepPoint &point) {
  if (!isOk(point)) {
    return fmt::format("{}={}: {}\n", key, point.value, point.error);
  }
  return fmt::format(
      "{}={}: {:.2f} us ({}), limited by {}  {}\n", key, point.value,
      point.estimate["time_us"].get<double>(), point.estimate["source"].get<std::string>(),
      point.estimate["limiter"].get<std::string>(), point.estimate["schedule"].get<std::string>());
}

} // namespace

void setRoofs(SweepPoint &point, const Problem &problem, const Target &target) {
  const ProblemFacts facts = problemFacts(problem, target);
  const double simdClocksPerUs = target.peakClockHz * 1e-6 * target.cus * target.simdsPerCu;
  point.computeRoofUs = facts.leastMatrixCycles / simdClocksPerUs;
  point.memoryRoofUs = facts.compulsoryBytes / target.hbmBytesPerSecond * 1e6;
}

Json sweepJson(const SweepAxis &axis, const std::vector<SweepPoint> &points) {
  Json list = Json::array();
  for (const SweepPoint &point : points) {
    Json entry = isOk(point) ? point.estimate : Json{{"error", point.error}};
    entry[axis.key] = point.value;
    entry["compute_roof_us"] = point.computeRoofUs;
    entry["memory_roof_us"] = point.memoryRoofUs;
    list.push_back(std::move(entry));
  }
  return {{"sweep", {{"key", axis.key}, {"values", axis.values}}},
          {"points", std::move(list)},
          {"ridge", ridgeOf(points)},
          {"limiters", limitersOf(points)}};
}

std::string sweepCsvHeader(const SweepAxis &axis) {
  std::string text = axis.key + ",time_us,source,lo_us,hi_us,limiter,tflops,gbps,compute_roof_us,"
                                "memory_roof_us";
  for (std::size_t i = 0; i < termCount; ++i) {
    text += fmt::format(",{}_us", name(static_cast<Term>(i)));
  }
  return text + ",schedule,status\r\n";
}

std::string sweepCsvRow(const SweepPoint &point) {
  if (!isOk(point)) {
    return fmt::format("{},,,,,,,,{},{}{},,{}\r\n", point.value, point.computeRoofUs,
                       point.memoryRoofUs, std::string(termCount, ','), quoted(point.error));
  }
  const Json &estimate = point.estimate;
  std::string text =
      fmt::format("{},{},{},{},{},{},{},{},{},{}", point.value, estimate["time_us"].get<double>(),
                  estimate["source"].get<std::string>(), estimate["interval_us"][0].get<double>(),
                  estimate["interval_us"][1].get<double>(), estimate["limiter"].get<std::string>(),
                  estimate["tflops"].get<double>(), estimate["gbps"].get<double>(),
                  point.computeRoofUs, point.memoryRoofUs);
  for (std::size_t i = 0; i < termCount; ++i) {
    text += fmt::format(",{}",
                        estimate["terms"][std::string(name(static_cast<Term>(i)))].get<double>());
  }
  return text + fmt::format(",{},ok\r\n", quoted(estimate["schedule"].get<std::string>()));
}

std::string missingPoints(const SweepAxis &axis, const std::vector<SweepPoint> &points) {
  const auto missing = std::ranges::count_if(points, std::not_fn(isOk));
  if (missing == 0) {
    return {};
  }
  const SweepPoint &first = *std::ranges::find_if(points, std::not_fn(isOk));
  const bool all = missing == static_cast<std::ptrdiff_t>(points.size());
  return fmt::format("{} of the sweep {} an estimate: {}={}: {}",
                     all ? "no point" : fmt::format("{} of {} points", missing, points.size()),
                     all ? "has" : "without", axis.key, first.value, first.error);
}

std::string sweepText(const SweepAxis &axis, const std::vector<SweepPoint> &points) {
  std::string text;
  for (const SweepPoint &point : points) {
    text += pointText(axis.key, point);
  }
  const Json ridge = ridgeOf(points);
  text +=
      ridge.is_null()
          ? "roofline: one side limits in the whole range\n"
          : fmt::format("roofline: arithmetic overtakes memory between {}={} and {}\n", axis.key,
                        ridge["behind"].get<std::int64_t>(), ridge["at"].get<std::int64_t>());
  for (const Json &entry : limitersOf(points)) {
    text +=
        fmt::format("limited by {} from {}={} to {}\n", entry["limiter"].get<std::string>(),
                    axis.key, entry["from"].get<std::int64_t>(), entry["to"].get<std::int64_t>());
  }
  return text;
}

} // namespace kw
