// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// GEMM's axes. Tiles and groups cover what fast public kernels use (16 to 256 along m and n, K
// steps of 32 to 256, two or three stages) with the multiples of 48 between the powers of two. What
// usually wins stands first: it has the lower rank, which decides between equal estimates.
#include "ir/OperandLayout.h"
#include "ir/PreshuffledLayout.h"
#include "ir/plans/GemmResult.h"
#include "search/spaces/Spaces.h"

#include <algorithm>
#include <numeric>

namespace kw {
namespace {

/// Distinct values of `field` over the target's instructions for the operand types, or one that no
/// rule accepts.
std::vector<std::int64_t> instructionSizes(const Gemm &gemm, const Target &target,
                                           int MatrixInstruction::*field) {
  std::vector<std::int64_t> sizes;
  for (const MatrixInstruction &row : target.matrixInstructions) {
    const bool known = std::ranges::find(sizes, row.*field) != sizes.end();
    if (row.a == gemm.aType && row.b == gemm.bType && !known) {
      sizes.push_back(row.*field);
    }
  }
  return sizes.empty() ? std::vector<std::int64_t>{1} : sizes;
}

/// Widths of an operand's loads: rows of `extent` elements, `leading` apart; `batchStride` is 0
/// without a batch.
std::vector<std::int64_t> widths(std::int64_t extent, std::int64_t leading,
                                 std::int64_t batchStride, ElementType type, const Target &target) {
  const int bits = bitWidth(type);
  return vectorWidths(std::gcd(std::gcd(extent, leading), batchStride) * bits / 8,
                      std::max(1, bits / 8), target.directToLds16 ? 16 : 4);
}

/// Rows through LDS where the model may see a gain: stores that are wider than those of the other
/// paths, or inputs of 16 bits, which these read 8 bytes a lane at most.
bool rowsMayPay(const Gemm &gemm) {
  constexpr int widest = 16;
  const std::int64_t outBytes = std::max(1, bitWidth(gemm.outType) / 8);
  const std::int64_t aligned = std::gcd(std::gcd(gemm.n, gemm.ldc), gemm.batch > 1 ? gemm.sc : 0);
  std::int64_t others = 1;
  for (const EpiloguePath path : {EpiloguePath::swap, EpiloguePath::permlane}) {
    const int elements = storeElements(path);
    if (aligned % elements == 0 && elements * outBytes <= widest) {
      others = elements;
    }
  }
  const std::int64_t own = std::gcd(aligned, widest / outBytes);
  return own > others || (own * outBytes == widest && outBytes == 2 && !resultInputs(gemm).empty());
}

std::vector<std::int64_t> epiloguePaths(const Gemm &gemm) {
  std::vector<std::int64_t> paths;
  for (const EpiloguePath path :
       {EpiloguePath::direct, EpiloguePath::swap, EpiloguePath::permlane}) {
    paths.push_back(static_cast<std::int64_t>(path));
  }
  if (rowsMayPay(gemm)) {
    paths.push_back(static_cast<std::int64_t>(EpiloguePath::lds));
  }
  return paths;
}

} // namespace

std::vector<Axis> gemmAxes(const Problem &problem, const Target &target) {
  const Gemm &gemm = problem.gemm();
  AxisList axes(Family::gemm);
  axes.add("tileM", {16, 32, 48, 64, 96, 128, 192, 256});
  axes.add("tileN", {16, 32, 48, 64, 96, 128, 192, 256});
  // Narrow floats are multiplied 128 elements of k at a time, and 512 of 4 bits are 256 bytes.
  const bool narrow = isFloat(gemm.aType) && bitWidth(gemm.aType) <= 8;
  axes.add("tileK", narrow ? std::vector<std::int64_t>{64, 128, 256, 512}
                           : std::vector<std::int64_t>{32, 64, 128, 256});
  axes.add("wavesM", {1, 2, 4, 8});
  axes.add("wavesN", {1, 2, 4, 8});
  axes.add("mfmaM", instructionSizes(gemm, target, &MatrixInstruction::m));
  axes.add("mfmaN", instructionSizes(gemm, target, &MatrixInstruction::n));
  axes.add("mfmaK", instructionSizes(gemm, target, &MatrixInstruction::k));
  const auto direct = static_cast<std::int64_t>(OperandPath::direct);
  const auto throughRegisters = static_cast<std::int64_t>(OperandPath::lds);
  axes.add("aPath", {direct, throughRegisters});
  axes.add("bPath", gemm.preshuffle ? std::vector{static_cast<std::int64_t>(OperandPath::registers)}
                                    : std::vector{direct, throughRegisters});
  // Not plain: where neither of these changes anything it has conflicts that a wider step hasn't.
  const std::vector<std::int64_t> layouts{static_cast<std::int64_t>(LdsLayout::swizzle),
                                          static_cast<std::int64_t>(LdsLayout::padding)};
  axes.add("aLayout", layouts);
  axes.add("bLayout", layouts);
  const bool batched = gemm.batch > 1;
  axes.add("aVector", widths(gemm.aKContiguous() ? gemm.k : gemm.m, gemm.lda, batched ? gemm.sa : 0,
                             gemm.aType, target));
  axes.add("bVector", gemm.preshuffle ? std::vector<std::int64_t>{PreshuffledLayout::packBytes}
                                      : widths(gemm.bKContiguous() ? gemm.k : gemm.n, gemm.ldb,
                                               batched ? gemm.sb : 0, gemm.bType, target));
  axes.addNames("accumulator");
  axes.add("epilogue", epiloguePaths(gemm));
  axes.add("stages", {1, 2, 3});
  axes.add("prefetch", {0, 1, 2, 3});
  axes.add("order", {static_cast<std::int64_t>(LoopOrder::serial),
                     static_cast<std::int64_t>(LoopOrder::interleaved),
                     static_cast<std::int64_t>(LoopOrder::pingpong)});
  axes.add("xcdRemap", {1, 0});
  axes.add("groupM", {8, 4, 0});
  axes.add("wavesK", {1, 2, 4});
  axes.add("splitK", {1, 2, 4, 8, 16, 32, 3, 6, 5, 7, 12, 14});
  // Atomic sums are legal, but not tried: they depend on timing, and move as many bytes.
  axes.add("reduce", {static_cast<std::int64_t>(Reduction::ordered)});
  axes.add("fragmentsAhead", {0, 1});
  axes.add("quadrants", {0, 1});
  axes.add("priority", {0}); // the model sees its issue slots alone: it would never win
  axes.add("wavesPerSimd", {0});
  axes.add("grid", {static_cast<std::int64_t>(GridKind::tiles),
                    static_cast<std::int64_t>(GridKind::persistent),
                    static_cast<std::int64_t>(GridKind::streamk)});
  return axes.take();
}

} // namespace kw
