// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a GEMM problem may ask for that no kernel of ours could do on the target, by name. What is a
// matter of code generation alone is in EmissionLimits.h.
#include "ir/PreshuffledLayout.h"
#include "ir/plans/GemmInterface.h"
#include "ir/rules/Rules.h"

#include <algorithm>
#include <fmt/format.h>
#include <numeric>

namespace kw {
namespace {

const Gemm &gemm(const Problem &problem) { return problem.gemm(); }

/// Blocks are whole along k, and a lane's part of a matrix operand has 16 bytes, once or twice.
bool canBePacked(const Gemm &gemm) {
  const int bits = bitWidth(gemm.bType);
  return (bits == 16 || bits == 8 || bits == 4) && gemm.k % preshuffledLayout(gemm).blockK() == 0;
}

bool hasInstruction(const Gemm &gemm, const Target &target) {
  return std::ranges::any_of(target.matrixInstructions, [&](const MatrixInstruction &row) {
    return row.a == gemm.aType && row.b == gemm.bType;
  });
}

/// f8f6f4 with 128 elements of k has a form with scales. [gfx950.md 2.1]
bool hasScaledInstruction(const Gemm &gemm, const Target &target) {
  return findMatrixInstruction(target, 16, 16, 128, gemm.aType, gemm.bType) != nullptr;
}

bool hasScale(const Gemm &gemm, ScaleMode mode) {
  return gemm.aScale == mode || gemm.bScale == mode;
}

/// Rows that begin within a byte could not be addressed: bits that divide every row's start.
template <bool isA> std::int64_t rowBits(const Gemm &g) {
  const bool kContiguous = isA ? g.aKContiguous() : g.bKContiguous();
  const std::int64_t extent = kContiguous ? g.k : isA ? g.m : g.n;
  const std::int64_t stride = g.batch > 1 ? (isA ? g.sa : g.sb) : 0;
  return std::gcd(std::gcd(extent, isA ? g.lda : g.ldb), stride) *
         bitWidth(isA ? g.aType : g.bType);
}

/// k in whole scales: a part of a block would stand in two steps.
int scaleGranule(const Gemm &gemm) {
  return hasScale(gemm, ScaleMode::block128) ? scaleBlock
         : hasScale(gemm, ScaleMode::mx)     ? mxBlock
                                             : 1;
}

std::vector<Rule> makeRules() {
  return {
      {"notSupported.batch", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return gemm(p).batch <= largestBatch;
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("batch={} is not supported; supported: 1 to {}", gemm(p).batch,
                            largestBatch);
       }},
      {"notSupported.operands", 0,
       [](const Problem &p, const Schedule &, const Target &t) {
         return hasInstruction(gemm(p), t);
       },
       [](const Problem &p, const Schedule &, const Target &t) {
         return fmt::format("{} has no matrix instruction for {} and {}", t.name,
                            name(gemm(p).aType), name(gemm(p).bType));
       }},
      {"notSupported.scaledInstruction", 0,
       [](const Problem &p, const Schedule &, const Target &t) {
         return !hasScale(gemm(p), ScaleMode::mx) || !hasInstruction(gemm(p), t) ||
                hasScaledInstruction(gemm(p), t);
       },
       [](const Problem &p, const Schedule &, const Target &t) {
         return fmt::format("scale=mx needs a scaled matrix instruction, which {} has not for {} "
                            "and {}",
                            t.name, name(gemm(p).aType), name(gemm(p).bType));
       }},
      {"notSupported.wholeBytes", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return rowBits<true>(gemm(p)) % 8 == 0 &&
                (gemm(p).preshuffle || rowBits<false>(gemm(p)) % 8 == 0);
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("rows of {} and {} begin within a byte; supported: contiguous sizes "
                            "and strides that are multiples of 2 (4-bit) and 4 (6-bit elements)",
                            name(gemm(p).aType), name(gemm(p).bType));
       }},
      {"notSupported.scaleBlocks", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return gemm(p).k % scaleGranule(gemm(p)) == 0;
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("k={} ends within a scale; supported: multiples of {}", gemm(p).k,
                            scaleGranule(gemm(p)));
       }},
      {"notSupported.preshuffle", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return !gemm(p).preshuffle || canBePacked(gemm(p));
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format(
             "preshuffle=1 of {} with k={} is not supported; supported: 16-bit types "
             "with k a multiple of 32, 8-bit ones of 64, 4-bit ones of 128",
             name(gemm(p).bType), gemm(p).k);
       }},
      // Without ds_read_*_tr a column-major fragment has no fast path.
      {"notSupported.transposingRead", 0,
       [](const Problem &p, const Schedule &, const Target &t) {
         const bool bAsItIs = gemm(p).bKContiguous() || gemm(p).preshuffle;
         return (gemm(p).aKContiguous() && bAsItIs) || t.transposingLdsRead;
       },
       [](const Problem &, const Schedule &, const Target &t) {
         return fmt::format("a=km and b=kn need transposing LDS reads, which {} has not; "
                            "supported: a=mk b=nk",
                            t.name);
       }},
  };
}

} // namespace

std::vector<Rule> gemmSupportRules() { return makeRules(); }

} // namespace kw
