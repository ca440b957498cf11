// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// mlir-opt with the `kw` dialect and its passes, for tests and for looking at one step.

#include "codegen/passes/Passes.h"
#include "ir/dialect/KwDialect.h"

#include <mlir/Dialect/GPU/IR/GPUDialect.h>
#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/Dialect/LLVMIR/ROCDLDialect.h>
#include <mlir/IR/DialectRegistry.h>
#include <mlir/Tools/mlir-opt/MlirOptMain.h>

int main(int argc, char **argv) {
  mlir::DialectRegistry registry;
  registry.insert<kw::dialect::KwDialect, mlir::LLVM::LLVMDialect, mlir::ROCDL::ROCDLDialect,
                  mlir::gpu::GPUDialect>();
  kw::registerPasses();
  return mlir::asMainReturnCode(
      mlir::MlirOptMain(argc, argv, "Kernelwright tile programs\n", registry));
}
