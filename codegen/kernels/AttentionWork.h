// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which part of a decode attention a workgroup does: batch entry, head of k and v, tile of packed
// query rows, split; its steps; and where rows lie in q and in the results.
#pragma once

#include "codegen/kernels/FloatMath.h"
#include "codegen/kernels/KernelShell.h"
#include "codegen/kernels/Kernels.h"

namespace kw {

/// Packed row within the tile, as a lane has it.
struct QueryRow {
  mlir::Value query;  ///< s
  mlir::Value head;   ///< within the group
  mlir::Value within; ///< row within the tile
  mlir::Value exists; ///< i1
};

/// Maximum (of score * scale * log2 e) and sum of a row.
struct RowStatistics {
  mlir::Value maximum, sum;
};

class AttentionWork {
public:
  AttentionWork(KernelShell &shell, const KernelRequest &request, const LaunchPlan &launch);

  QueryRow row(mlir::Value within);
  /// Pointer to element 0 of the tile's first query in head 0 of the group.
  mlir::Value queryBase(std::string_view tensor, int elementBytes);
  /// Byte offset from there; out of range for rows that don't exist.
  mlir::Value queryOffset(const QueryRow &row, std::string_view tensor, int elementBytes);
  /// Pointer to the first element of this head of k or v.
  mlir::Value keyBase(std::string_view tensor, int elementBytes);

  /// Stores four neighbours of dv, from element `element` (i32) on, or with several splits leaves
  /// them in the workspace.
  void storeResult(const QueryRow &row, mlir::Value element, mlir::Value values,
                   const RowStatistics &statistics);
  /// lse, or with several splits the statistics, where `owner` (i1) holds.
  void storeStatistics(const QueryRow &row, const RowStatistics &statistics, mlir::Value owner);

  // Uniform, i32.
  mlir::Value firstStep, steps; ///< of this split
  mlir::Value wholeSteps;       ///< of them, from the first on: all rows see all columns
  mlir::Value endColumn;        ///< columns of this split end here, at most skv
  /// Columns that a row sees end here; signed.
  mlir::Value limitOf(const QueryRow &row);

private:
  void findTile();
  void findSteps();
  mlir::Value signedLargest(mlir::Value a, mlir::Value b);
  mlir::Value signedSmallest(mlir::Value a, mlir::Value b);
  mlir::Value resultBuffer();
  mlir::Value partialBase(std::string_view buffer, std::int64_t rowBytes);

  KernelShell &shell;
  TileBuilder &tiles;
  FloatMath math;
  const Attention &attention;
  const AttentionSchedule &schedule;
  const LaunchPlan &launch;
  mlir::Value sq, skv, packedRows;
  mlir::Value rowTile, split, head, batch, firstRow, firstQuery;
  mlir::Value results; ///< buffer, made when first used
};

/// An offset that is out of range of every buffer.
inline constexpr std::int64_t outOfRange = 0x80000000;
/// Buffers are at most this long.
inline constexpr std::int64_t largestBuffer = std::int64_t{1} << 31;

} // namespace kw
