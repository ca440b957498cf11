// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/ScoreParts.h"

#include "experiments/score/DoubtfulRows.h"
#include "experiments/score/ScoreReport.h"
#include "experiments/score/ScoreText.h"

#include <algorithm>
#include <fmt/format.h>
#include <iterator>

namespace kw {
namespace {

struct Part {
  std::string_view name;
  bool (*has)(const ScoredRow &, const TextTable &);
};

bool isWinner(const ScoredRow &row, const TextTable &table) {
  return row.row.kind == RowKind::moe && !table.column("kind");
}

constexpr Part parts[] = {
    {"gemm", [](const ScoredRow &row, const TextTable &) { return row.row.kind == RowKind::gemm; }},
    {"moe_winners", isWinner},
    {"moe_winners_undoubted",
     [](const ScoredRow &row, const TextTable &table) {
       return isWinner(row, table) && !row.doubtful;
     }},
    {"moe_candidates",
     [](const ScoredRow &row, const TextTable &table) {
       return row.row.kind == RowKind::moe && table.column("kind").has_value();
     }},
    {"attention",
     [](const ScoredRow &row, const TextTable &) { return row.row.kind == RowKind::attention; }},
    {"attention_forward_bf16",
     [](const ScoredRow &row, const TextTable &) {
       return row.row.kind == RowKind::attention && row.row.op == "attn_fwd" &&
              row.row.typeA == "bf16";
     }},
};

} // namespace

Json scorePartsJson(std::span<const ScoredRow> rows, const std::vector<TextTable> &tables,
                    double seconds, std::uint64_t seed) {
  Json json = Json::object();
  for (const Part &part : parts) {
    std::vector<ScoredRow> own;
    std::ranges::copy_if(rows, std::back_inserter(own),
                         [&](const ScoredRow &row) { return part.has(row, tables[row.file]); });
    if (!own.empty()) {
      Json &score = json[std::string(part.name)] = scoreJson(own, seconds, seed);
      if (const DoubtfulErrors doubtful = doubtfulErrors(own); doubtful.rows > 0) {
        score["doubtful"] = {{"rows", doubtful.rows},
                             {"mape", doubtful.mape},
                             {"best_factor_mape", doubtful.bestFactorMape}};
      }
    }
  }
  return json;
}

std::string scorePartsText(const Json &parts) {
  std::string text;
  for (const auto &[name, score] : parts.items()) {
    text += fmt::format("{}{}\n{}", text.empty() ? "" : "\n", name, scoreText(score));
  }
  return text;
}

} // namespace kw
