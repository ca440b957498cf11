// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a family supplies to KernelPlan.cpp. One set of files of the family's name in ir/plans/:
// FAMILY.cpp (plan), FAMILYLoop.cpp (graphs of its regions), FAMILYInterface.cpp (arguments, grid,
// guards). See README.md there.
#pragma once

#include "ir/KernelPlan.h"
#include "ir/LoopBuilder.h"

namespace kw {

struct Planner {
  KernelPlan (*plan)(const Problem &, const Schedule &, const Target &) = nullptr;
  UnfinishedLoop (*loop)(const Problem &, const Schedule &, const Target &,
                         const Region &) = nullptr;
  /// nullptr: a generator that launches its kernels itself, or a family that we generate no code
  /// for.
  KernelInterface (*interface)(const Problem &, const Schedule &, const Target &) = nullptr;
  std::vector<std::pair<std::string, std::int64_t>> (*sizes)(const Problem &) = nullptr;
  /// Readable part of the kernel's name.
  std::string (*stem)(const Problem &, const Schedule &) = nullptr;
};

const Planner &gemmPlanner();
const Planner &rmsNormPlanner();
const Planner &tritonGemmPlanner();
const Planner &attentionPlanner();
const Planner &groupedGemmPlanner();
const Planner &topKPlanner();

template <typename T> constexpr T ceilDiv(T a, T b) { return (a + b - 1) / b; }

/// Appends an argument at its natural alignment.
void addArgument(LaunchInterface &launch, std::string name, KernelArgument::Kind kind);
/// Bytes of an argument of that kind.
int sizeOf(KernelArgument::Kind kind);

/// Packs small fields into a LoopKey. Values beyond their field (illegal schedules only) are cut.
class LoopKeyPacker {
public:
  LoopKeyPacker &add(std::uint64_t value, int bits);
  LoopKey key() const { return packed; }

private:
  LoopKey packed = 0;
  int used = 0;
};

} // namespace kw
