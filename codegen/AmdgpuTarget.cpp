// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/AmdgpuTarget.h"

#include <cassert>
#include <llvm/MC/TargetRegistry.h>
#include <string>

// Declared here instead of by TargetSelect.h, which names every target that LLVM was built with.
extern "C" {
void LLVMInitializeAMDGPUTargetInfo(void);
void LLVMInitializeAMDGPUTarget(void);
void LLVMInitializeAMDGPUTargetMC(void);
void LLVMInitializeAMDGPUAsmPrinter(void);
void LLVMInitializeAMDGPUAsmParser(void);
void LLVMInitializeAMDGPUDisassembler(void);
}

namespace kw {

llvm::Triple amdgpuTriple() { return llvm::Triple("amdgcn-amd-amdhsa"); }

static const llvm::Target *initialize() {
  LLVMInitializeAMDGPUTargetInfo();
  LLVMInitializeAMDGPUTarget();
  LLVMInitializeAMDGPUTargetMC();
  LLVMInitializeAMDGPUAsmPrinter();
  // Without the parser any inline assembly aborts the process.
  LLVMInitializeAMDGPUAsmParser();
  LLVMInitializeAMDGPUDisassembler();
  std::string error;
  return llvm::TargetRegistry::lookupTarget(amdgpuTriple(), error);
}

const llvm::Target &amdgpuTarget() {
  static const llvm::Target *target = initialize();
  assert(target && "LLVM was built without AMDGPU");
  return *target;
}

} // namespace kw
