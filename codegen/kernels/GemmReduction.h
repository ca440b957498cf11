// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sums over waves and workgroups that share an output tile: slice-K, split-K and stream-K, as
// ir/plans/GemmSplit.h says.
#pragma once

#include "codegen/kernels/OperandAccess.h"
#include "ir/Schedule.h"

namespace kw {

struct SplitPlace {
  mlir::Value tile;  ///< i32: number of the output tile
  mlir::Value split; ///< i32: which of its splits
};

/// A part of a tile: positions of stream-K's workgroups, i32.
struct StreamPlace {
  mlir::Value first, own, last; ///< of the tile's first part, of this one, of its last
  mlir::Block *next = nullptr;  ///< where waves go that are not the last to arrive
};

/// Adds up what the waves along k hold, through LDS, in their order. The waves of the first part
/// get the sums and go on; the others end here. `lds`: sliceBytes(schedule), of which wave w of the
/// first part may use what begins at w * partialWaveBytes(schedule) from then on.
std::vector<mlir::Value> reduceSlices(KernelShell &shell, const GemmSchedule &schedule,
                                      const WorkItem &item, mlir::Value lds,
                                      const std::vector<mlir::Value> &accumulators);

/// Leaves the wave's accumulators in the workspace. Waves that are not the last to arrive end here;
/// what is emitted next is the last one's. Returns the sums.
std::vector<mlir::Value> reduceSplits(KernelShell &shell, const GemmSchedule &schedule,
                                      const WorkItem &item, const SplitPlace &place,
                                      const std::vector<mlir::Value> &accumulators);

/// The same for a part of a tile in a stream-K grid, but other waves go on with `place.next`.
/// Returns the sums in the accumulators' registers. `vgprs`: that are free beside addresses and
/// accumulators.
std::vector<mlir::Value> reduceParts(KernelShell &shell, const GemmSchedule &schedule,
                                     const WorkItem &item, const StreamPlace &place, int vgprs,
                                     const std::vector<mlir::Value> &accumulators);

} // namespace kw
