// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The passes that lower a tile program to the llvm and rocdl dialects, in their order.
#pragma once

namespace mlir {
class OpPassManager;
}

namespace kw {

void addLowering(mlir::OpPassManager &passes);

} // namespace kw
