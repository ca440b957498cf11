// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/DoubtfulRows.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <set>

namespace kw {
namespace {

constexpr double mostApart = 1.15;
constexpr std::ptrdiff_t fewestDigits = 5;

bool isFused(const ScoredRow &row, const TextTable &table) {
  return row.row.kind == RowKind::moe && row.time.us && !table.column("stage");
}

std::string cellOf(const ScoredRow &row, const TextTable &table, std::string_view column) {
  const auto at = table.column(column);
  return at ? table.cells(row.row.number - 1)[*at] : std::string();
}

bool manyDigits(double us) {
  const std::string text = fmt::format("{:.10g}", us);
  const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
  const auto first = std::ranges::find_if(text, [](char c) { return c >= '1' && c <= '9'; });
  return std::count_if(first, text.end(), isDigit) >= fewestDigits;
}

/// Of one layer, type and time.
std::string timeKey(const ScoredRow &row) {
  const MeasuredRow &told = row.row;
  return fmt::format("{}|{}|{}|{}|{}|{}|{}|{:.10g}", row.file, told.gfx, told.moe.modelDim,
                     told.moe.interDim, told.typeA, told.typeB, told.scale, *row.time.us);
}

bool isItsSum(const ScoredRow &row, const TextTable &table) {
  const auto us1 = numberIn(cellOf(row, table, "us1")), us2 = numberIn(cellOf(row, table, "us2"));
  if (!us1 || *us1 <= 0) {
    return true; // not told
  }
  if (!us2 || *us2 <= 0) { // nothing is left for the second of two kernels
    return row.row.kernels.size() < 2 || *us1 != *row.time.us;
  }
  const double ratio = *row.time.us / (*us1 + *us2);
  return ratio < mostApart && ratio > 1 / mostApart;
}

/// Least sum of |factor x estimate / time - 1| over the rows.
double leastError(const std::vector<const ScoredRow *> &rows) {
  const auto ratio = [](const ScoredRow &row) {
    return row.modelCase->analytic.timeUs / *row.time.us;
  };
  // A sum of such kinks is least at one of them.
  double least = double(rows.size());
  for (const ScoredRow *at : rows) {
    double sum = 0;
    for (const ScoredRow *row : rows) {
      sum += std::abs(ratio(*row) / ratio(*at) - 1);
    }
    least = std::min(least, sum);
  }
  return least;
}

} // namespace

DoubtfulErrors doubtfulErrors(std::span<const ScoredRow> rows) {
  std::map<std::string, std::vector<const ScoredRow *>> ofTime;
  DoubtfulErrors errors;
  for (const ScoredRow &row : rows) {
    if (row.doubtful && row.counts()) {
      ofTime[timeKey(row)].push_back(&row);
      errors.rows += 1;
      errors.mape += std::abs(row.error());
    }
  }
  for (const auto &[time, same] : ofTime) {
    errors.bestFactorMape += leastError(same);
  }
  const auto count = double(std::max<std::size_t>(1, errors.rows));
  errors.mape /= count;
  errors.bestFactorMape /= count;
  return errors;
}

void markDoubtful(std::span<ScoredRow> rows, const std::vector<TextTable> &tables) {
  std::map<std::string, std::set<std::int64_t>> tokensOfTime;
  for (const ScoredRow &row : rows) {
    if (isFused(row, tables[row.file]) && manyDigits(*row.time.us)) {
      tokensOfTime[timeKey(row)].insert(row.row.moe.tokens);
    }
  }
  for (ScoredRow &row : rows) {
    if (isFused(row, tables[row.file])) {
      const auto same = tokensOfTime.find(timeKey(row));
      const bool copied = same != tokensOfTime.end() && same->second.size() > 1;
      row.doubtful = copied || !isItsSum(row, tables[row.file]);
    }
  }
}

} // namespace kw
