// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The lowering of the `kw` dialect, one pass a file, in the order in which codegen/Pipeline.cpp
// runs them. They work on any operation that contains kernels and may be run alone (kw-opt).
#pragma once

#include <memory>

namespace mlir {
class Pass;
}

namespace kw {

/// --kw-pin-order: a scheduling barrier after every operation of the tile program in functions
/// marked `kw.pin_order`, so that LLVM keeps the planned order.
std::unique_ptr<mlir::Pass> createPinOrderPass();
/// --kw-lower-indices: map_index, pin_scalar, lane_index, wave_index, tile_of, buffer.
std::unique_ptr<mlir::Pass> createLowerIndicesPass();
/// --kw-lower-memory: load, store, copy_to_lds, store_lds, read_fragment.
std::unique_ptr<mlir::Pass> createLowerMemoryPass();
/// --kw-lower-matrix: mfma, pin_accumulator.
std::unique_ptr<mlir::Pass> createLowerMatrixPass();
/// --kw-lower-reductions: row_reduce.
std::unique_ptr<mlir::Pass> createLowerReductionsPass();
/// --kw-lower-sync: wait, barrier.
std::unique_ptr<mlir::Pass> createLowerSyncPass();
std::unique_ptr<mlir::Pass> createLowerAtomicsPass();

/// For command lines: all of the above by name.
void registerPasses();

} // namespace kw
