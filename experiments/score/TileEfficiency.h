// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// In-loop efficiency of the matrix pipes by output tile, beside thread traces (costmodel.md 1.3).
// The traced kernels are known by tile and number of waves alone; of our own schedules with both
// the best loop counts. Conditions of the traces: operands warm (loads mostly hit the L2, nothing
// comes from HBM), one workgroup a CU, no limit of power.
#pragma once

#include "costmodel/Features.h"
#include "costmodel/foreign/TextTable.h"
#include "ir/Target.h"

#include <string>
#include <vector>

namespace kw {

struct TileEfficiency {
  int tileM = 0, tileN = 0, tileK = 0, waves = 0;
  double measured = 0;  ///< fraction of the loop's time that the matrix pipes are busy
  double predicted = 0; ///< the same; 0: no legal schedule
  std::string schedule; ///< that was taken
};

/// Columns tile_m tile_n tile_k waves workgroups K dtype measured_mfma_eff_pct.
bool isTileEfficiencyTable(const TextTable &table);

/// One entry per data row. Errors (bad input): a cell that is no number or type, by row.
Expected<std::vector<TileEfficiency>> tileEfficiencies(const TextTable &table,
                                                       const Target &target);

/// Mean of |predicted - measured|.
double meanPoints(const std::vector<TileEfficiency> &rows);

} // namespace kw
