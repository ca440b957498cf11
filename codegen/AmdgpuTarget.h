// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// LLVM's AMDGPU target, initialised once per process, and the triple all our code objects have.
#pragma once

#include <llvm/TargetParser/Triple.h>

namespace llvm {
class Target;
}

namespace kw {

llvm::Triple amdgpuTriple();

/// Never null: Debian's LLVM contains the target. Thread safe.
const llvm::Target &amdgpuTarget();

} // namespace kw
