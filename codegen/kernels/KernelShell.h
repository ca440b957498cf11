// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The function around a tile program: arguments as the plan's LaunchInterface lists them, LDS, and
// the attributes that make LLVM use the registers that were planned.
#pragma once

#include "codegen/kernels/TileBuilder.h"
#include "ir/KernelPlan.h"

#include <functional>
#include <map>
#include <mlir/Dialect/GPU/IR/GPUDialect.h>
#include <string>
#include <string_view>

namespace kw {

struct ShellOptions {
  int agprs = 0;        ///< for accumulators; 0: none, except as overflow above 256 VGPRs
  bool pinOrder = true; ///< keep the written order of tile operations
  int wavesPerSimd = 0; ///< occupancy asked of the register allocator; 0: its choice
  bool batched = false; ///< the kernel asks for its index along y
};

class KernelShell {
public:
  KernelShell(mlir::gpu::GPUModuleOp module, const LaunchInterface &interface,
              const ShellOptions &options);

  /// The argument of this name; it must exist.
  mlir::Value argument(std::string_view name) const;
  bool hasArgument(std::string_view name) const;
  /// What `argument` gives from here on is read from memory here. LLVM keeps arguments in SGPRs
  /// from the kernel's begin to their last use: long loops pay for what comes behind them.
  void rereadArguments();
  /// A static LDS allocation of its own. LLVM knows exactly which accesses concern it, so each
  /// pipeline stage gets one: that avoids waits for loads to other stages.
  mlir::Value makeLds(std::string_view name, std::int64_t bytes);
  /// All of the kernel's allocations from the first byte on, which LLVM puts at address 0 without
  /// gaps. What it knows about single ones doesn't hold for this pointer.
  mlir::Value wholeLds();
  /// At the end of the function so far.
  TileBuilder tiles;

private:
  mlir::gpu::GPUModuleOp module;
  mutable mlir::LLVM::LLVMFuncOp function; ///< MLIR handles have no const accessors
  const LaunchInterface &interface;
  std::map<std::string, mlir::Value, std::less<>> reread;
};

} // namespace kw
