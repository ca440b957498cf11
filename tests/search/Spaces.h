// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Spaces that are small enough to enumerate by brute force.
#pragma once

#include "search/Space.h"

#include <map>
#include <string_view>

namespace kw {

inline const Target &gfx950() { return **findTarget("gfx950"); }

/// Two or three values an axis, legal and illegal ones.
inline Space smallGemmSpace(std::string_view problem) {
  const std::map<std::string_view, std::vector<std::int64_t>> values{
      {"tileM", {16, 128}}, {"tileN", {64, 128, 100}}, {"tileK", {32, 64}},
      {"wavesM", {1, 2}},   {"wavesN", {2, 4}},        {"mfmaM", {16, 32}},
      {"mfmaN", {16, 32}},  {"mfmaK", {32, 16}},       {"aPath", {0, 1}},
      {"bPath", {1}},       {"aLayout", {0, 1}},       {"bLayout", {1, 2}},
      {"aVector", {16, 8}}, {"bVector", {16}},         {"accumulator", {0, 1}},
      {"epilogue", {0, 1}}, {"stages", {1, 2}},        {"prefetch", {0, 1, 2}},
      {"order", {0}},       {"xcdRemap", {0, 1}},      {"groupM", {0, 8}},
  };
  std::vector<Axis> axes;
  const Schedule standard = defaultSchedule(Family::gemm);
  const auto all = decisions(Family::gemm);
  for (std::size_t i = 0; i < all.size(); ++i) {
    // Decisions that a test doesn't name stay at their default.
    const auto given = values.find(all[i].name);
    axes.push_back({static_cast<int>(i), given != values.end()
                                             ? given->second
                                             : std::vector<std::int64_t>{all[i].get(standard)}});
  }
  return Space(*parseProblem(problem), gfx950(), std::move(axes));
}

} // namespace kw
