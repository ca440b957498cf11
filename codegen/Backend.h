// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The last third of the way to a code object: a gpu.module in the llvm and rocdl dialects becomes
// LLVM IR, machine code for one GPU, and a linked HSACO, all in process. What comes before is
// codegen/Pipeline.h, what reads the result back is codegen/Resources.h and Disassembly.h.
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace mlir::gpu {
class GPUModuleOp;
}

namespace kw {

struct BackendOptions {
  bool keepLlvm = false; ///< fill BackendOutput::llvm
  bool keepIsa = false;  ///< fill BackendOutput::isa; costs a second code generation
};

struct BackendOutput {
  std::vector<std::uint8_t> hsaco;
  std::string llvm; ///< IR as it enters code generation
  std::string isa;  ///< assembly as LLVM prints it
};

/// `cpu` as LLVM names it ("gfx950"). Whatever LLVM or LLD complain about is the returned error:
/// too much LDS, bad inline assembly, undefined symbols. Thread safe, and the result depends on
/// nothing compiled before: own contexts, and the one process-wide option is guarded
/// (LlvmOptions.h).
Expected<BackendOutput> runBackend(mlir::gpu::GPUModuleOp module, std::string_view cpu,
                                   const BackendOptions &options = {});

} // namespace kw
