// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Target.h"

#include "ir/support/TextList.h"
#include "ir/targets/Targets.h"

#include <algorithm>
#include <array>

namespace kw {

std::span<const Target *const> targets() {
  static const std::array<const Target *, 2> all{&gfx950Target(), &gfx942Target()};
  return all;
}

Expected<const Target *> findTarget(std::string_view name) {
  for (const Target *target : targets()) {
    if (target->name == name) {
      return target;
    }
  }
  std::vector<std::string_view> names;
  for (const Target *target : targets()) {
    names.push_back(target->name);
  }
  return badInput("unknown target " + quoted(name) + "; accepted: " + joined(names, ", "));
}

const MatrixInstruction *findMatrixInstruction(const Target &target, int m, int n, int k,
                                               ElementType a, ElementType b) {
  for (const MatrixInstruction &row : target.matrixInstructions) {
    if (row.m == m && row.n == n && row.k == k && row.a == a && row.b == b) {
      return &row;
    }
  }
  return nullptr;
}

double peakFlops(const Target &target, ElementType a, ElementType b) {
  double perClock = 0; // of one SIMD
  for (const MatrixInstruction &row : target.matrixInstructions) {
    if (row.a == a && row.b == b) {
      perClock = std::max(perClock, 2.0 * row.m * row.n * row.k / row.cycles);
    }
  }
  return perClock * target.simdsPerCu * target.cus * target.peakClockHz;
}

} // namespace kw
