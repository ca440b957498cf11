// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Timings of others, from a table to what the store keeps.
#pragma once

#include "costmodel/foreign/MeasuredRows.h"
#include "costmodel/foreign/TextTable.h"
#include "experiments/store/Store.h"

#include <string>
#include <vector>

namespace kw {

/// `kw`: columns problem, time_us; optional schedule, kernel, target, device, origin, date.
/// `aiter`: the published tables of costmodel/foreign/MeasuredRows.h.
enum class ImportFormat { automatic, kw, aiter };

struct BadRow {
  std::size_t line = 0; ///< of the file, from 1
  std::string error;
};

struct ImportedTable {
  std::vector<ImportedTiming> timings;
  std::vector<BadRow> bad;
};

/// The published row that a timing of `aiter` format came from, as far as the store keeps it: all
/// that the model reads. Bad input: not such a timing's value.
Expected<MeasuredRow> storedRow(const Json &value);
/// What was run, without its time: problem and kernels, as the store keeps them.
std::string identityOf(const MeasuredRow &row);

/// The error (bad input): columns of no known format, or not of the one asked for.
Expected<ImportedTable> importedTimings(const TextTable &table, ImportFormat format);

} // namespace kw
