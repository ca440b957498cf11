// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Timings of others, from a table to what the store keeps.
#pragma once

#include "costmodel/foreign/TextTable.h"
#include "experiments/store/Store.h"

#include <string>
#include <vector>

namespace kw {

/// `kw`: columns problem, time_us; optional schedule, kernel, device, origin, date.
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

/// The error (bad input): columns of no known format, or not of the one asked for.
Expected<ImportedTable> importedTimings(const TextTable &table, ImportFormat format);

} // namespace kw
