// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/passes/Passes.h"

#include <mlir/Pass/Pass.h>

namespace kw {

void registerPasses() {
  mlir::registerPass(createPinOrderPass);
  mlir::registerPass(createLowerIndicesPass);
  mlir::registerPass(createLowerMemoryPass);
  mlir::registerPass(createLowerMatrixPass);
  mlir::registerPass(createLowerReductionsPass);
  mlir::registerPass(createLowerSyncPass);
  mlir::registerPass(createLowerAtomicsPass);
}

} // namespace kw
