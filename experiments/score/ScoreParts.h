// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Errors of the parts of the measured rows that differ in kind: each has goals of its own.
#pragma once

#include "experiments/score/ScoreRows.h"
#include "experiments/support/Json.h"

#include <span>
#include <string>
#include <vector>

namespace kw {

/// One document as of scoreJson() for each part that has rows: "gemm", "moe_winners",
/// "moe_winners_undoubted", "moe_candidates", "attention", "attention_forward_bf16".
Json scorePartsJson(std::span<const ScoredRow> rows, const std::vector<TextTable> &tables,
                    double seconds, std::uint64_t seed);
std::string scorePartsText(const Json &parts);

} // namespace kw
