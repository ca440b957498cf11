// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/LlvmOptions.h"

#include <cassert>
#include <llvm/ADT/StringRef.h>
#include <llvm/Support/CommandLine.h>

namespace kw {
namespace {

/// Live ranges within a block are given registers from its end. In the usual order fragments take
/// AGPRs that accumulators need a little later, which ends in copies and spills where accumulators
/// fill all AGPRs: of 750 schedules of a 4096x4096x4096 GEMM 4 spilled, with this none.
constexpr llvm::StringLiteral allocationOrder = "greedy-reverse-local-assignment";

std::shared_mutex &mutex() {
  static std::shared_mutex instance;
  return instance;
}

void setOptions() {
  llvm::cl::Option *option = llvm::cl::getRegisteredOptions().lookup(allocationOrder);
  assert(option && "this LLVM lacks the option");
  option->reset();
  option->addOccurrence(0, allocationOrder, "true");
}

void setOptionsOnce() {
  static const bool done = [] {
    std::unique_lock lock(mutex());
    setOptions();
    return true;
  }();
  (void)done;
}

} // namespace

CodeGenerationGuard::CodeGenerationGuard() {
  setOptionsOnce();
  lock = std::shared_lock(mutex());
}

LinkGuard::LinkGuard() {
  setOptionsOnce();
  lock = std::unique_lock(mutex());
}

LinkGuard::~LinkGuard() { setOptions(); }

} // namespace kw
