// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The one LLVM switch we need that exists as a process-wide option only, and its guard. LLD resets
// every such option while it links; a reader-writer lock keeps that away from running code
// generation, and sets the switch again before anybody generates code.
#pragma once

#include <mutex>
#include <shared_mutex>

namespace kw {

/// Held while LLVM generates code. Any number of threads may hold one.
class CodeGenerationGuard {
public:
  CodeGenerationGuard();

private:
  std::shared_lock<std::shared_mutex> lock;
};

/// Held while LLD links: alone.
class LinkGuard {
public:
  LinkGuard();
  ~LinkGuard();

private:
  std::unique_lock<std::shared_mutex> lock;
};

} // namespace kw
