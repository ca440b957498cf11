// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `kw score` prints and writes.
#pragma once

#include "experiments/score/ScoreRows.h"
#include "experiments/support/Json.h"

#include <span>
#include <string>
#include <vector>

namespace kw {

/// The document of CLI.md, and more: by weight shape, bootstrap intervals, picks, refusals.
Json scoreJson(std::span<const ScoredRow> rows, double seconds, std::uint64_t seed);
/// row, family, predicted_us, lo_us, hi_us, measured_us, status; with several tables their name
/// comes last as `file`.
Expected<void> writeRows(const std::string &file, std::span<const ScoredRow> rows,
                         std::span<const TextTable> tables);
/// Everything that a fit may look at: categories, terms, features; and time, split and flags.
Expected<void> writeFeatures(const std::string &file, std::span<const ScoredRow> rows,
                             std::span<const TextTable> tables);

} // namespace kw
