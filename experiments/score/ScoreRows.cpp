// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/score/ScoreRows.h"

#include "costmodel/foreign/ForeignModel.h"

#include <cmath>

namespace kw {

std::string ScoredRow::status() const {
  return !modelCase ? refusal : !time.us ? "no time" : !time.flags.empty() ? "flagged" : "ok";
}

std::int64_t ScoredRow::m() const {
  switch (row.kind) {
  case RowKind::gemm:
    return row.gemm.m;
  case RowKind::moe:
    return row.moe.tokens;
  case RowKind::attention:
    break;
  }
  return row.attention.queries;
}

std::vector<ScoredRow> predictRows(const std::vector<std::vector<MeasuredRow>> &files,
                                   const Calibration &calibration, TermSet without) {
  ForeignModel model(without, calibration);
  std::vector<ScoredRow> rows;
  for (std::size_t file = 0; file < files.size(); ++file) {
    for (const MeasuredRow &row : files[file]) {
      ScoredRow &scored = rows.emplace_back();
      scored.file = file;
      scored.row = row;
      auto modelCase = model.estimate(row);
      if (!modelCase) {
        scored.refusal = modelCase.error().message;
        continue;
      }
      const Correction correction = calibration.correct(*modelCase);
      scored.predictedUs = modelCase->analytic.timeUs * std::exp(correction.log);
      scored.lowUs = scored.predictedUs * std::exp(-correction.halfWidth80);
      scored.highUs = scored.predictedUs * std::exp(correction.halfWidth80);
      scored.modelCase = std::move(*modelCase);
    }
  }
  return rows;
}

void judgeRows(const std::vector<TextTable> &tables, std::vector<ScoredRow> &rows) {
  std::size_t at = 0;
  for (const TextTable &table : tables) {
    for (MeasuredTime &time : measuredTimes(table)) {
      rows[at++].time = std::move(time);
    }
  }
}

Expected<std::vector<TextTable>> readTables(const std::vector<std::string> &files) {
  std::vector<TextTable> tables;
  for (const std::string &file : files) {
    auto table = TextTable::read(file);
    if (!table) {
      return tl::unexpected(table.error());
    }
    tables.push_back(std::move(*table));
  }
  return tables;
}

Expected<std::vector<ScoredRow>> scoreRows(const std::vector<TextTable> &tables,
                                           const Calibration &calibration, TermSet without) {
  std::vector<std::vector<MeasuredRow>> files;
  for (const TextTable &table : tables) {
    auto rows = measuredRows(table);
    if (!rows) {
      return tl::unexpected(rows.error());
    }
    files.push_back(std::move(*rows));
  }
  std::vector<ScoredRow> rows = predictRows(files, calibration, without);
  judgeRows(tables, rows);
  return rows;
}

std::string bucketOf(std::int64_t m) {
  return m <= 64 ? "<=64" : m <= 512 ? "65-512" : m < 2048 ? "513-2047" : ">=2048";
}

} // namespace kw
