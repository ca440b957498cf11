// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Schedule to code object. Start here; kernels/ visits the plan and emits the `kw` dialect, passes/
// lower it, Backend.h makes HSACO of it.
#pragma once

#include "codegen/Resources.h"
#include "ir/CodeObject.h"
#include "ir/Problem.h"
#include "ir/Schedule.h"
#include "ir/Target.h"

#include <map>
#include <string>

namespace kw {

struct CompileOptions {
  bool keepKw = false, keepMlir = false, keepLlvm = false, keepIsa = false;
};

/// Instructions of the whole code object by class.
struct InstructionCounts {
  int mfma = 0, lds = 0, vmem = 0, valu = 0, salu = 0, other = 0;
};

struct Compiled {
  CodeObject object;
  InstructionCounts instructions;
  std::map<std::string, std::string> texts; ///< "kw.mlir", "mlir", "ll", "s" as far as asked for
  double milliseconds = 0;
};

/// The schedule must be legal (checked: the error lists the first violation). Whatever LLVM or LLD
/// complain of is the returned error. Spills are reported in the resources, not a failure.
Expected<Compiled> compile(const Problem &problem, const Schedule &schedule, const Target &target,
                           const CompileOptions &options = {});

/// Of a code object's bytes, whoever made them.
Expected<InstructionCounts> countInstructions(const std::vector<std::uint8_t> &hsaco);

/// Part of the keys in the store: LLVM's version and ours.
std::string compilerFingerprint();

} // namespace kw
