// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/Pipeline.h"

#include "codegen/passes/Passes.h"

#include <mlir/Pass/Pass.h>
#include <mlir/Pass/PassManager.h>

namespace kw {

void addLowering(mlir::OpPassManager &passes) {
  // First, while operations of the tile program are still there to be told from arithmetic.
  passes.addPass(createPinOrderPass());
  passes.addPass(createLowerIndicesPass());
  passes.addPass(createLowerMemoryPass());
  passes.addPass(createLowerMatrixPass());
  passes.addPass(createLowerReductionsPass());
  passes.addPass(createLowerSyncPass());
  passes.addPass(createLowerAtomicsPass());
}

} // namespace kw
