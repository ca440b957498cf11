// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a GEMM problem may ask for that no kernel of ours computes yet, by name. A row goes away
// when codegen learns the feature.
#include "ir/PreshuffledLayout.h"
#include "ir/plans/GemmInterface.h"
#include "ir/rules/Rules.h"

#include <array>
#include <fmt/format.h>

namespace kw {
namespace {

bool isHalf(ElementType type) { return type == ElementType::f16 || type == ElementType::bf16; }

/// Operands whose matrix instructions codegen emits.
bool hasMatrixKernels(ElementType type) {
  return isHalf(type) || type == ElementType::f32 || type == ElementType::i8;
}

/// Results that leave the registers: sums of integers as they are, without an epilogue, or all as
/// f32 first.
bool hasStores(const Gemm &gemm) {
  if (gemm.outType == ElementType::i32) {
    return gemm.accType == ElementType::i32 && gemm.alpha == 1 && gemm.beta == 0 &&
           gemm.epilogue.empty();
  }
  return isHalf(gemm.outType) || gemm.outType == ElementType::f32;
}

/// Blocks are whole along k, and a lane's part of a matrix operand has 16 bytes.
bool hasPackedKernels(const Gemm &gemm) {
  return (isHalf(gemm.bType) || gemm.bType == ElementType::i8) &&
         gemm.k % preshuffledLayout(gemm).blockK() == 0;
}

const Gemm &gemm(const Problem &problem) { return problem.gemm(); }

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
      {"notSupported.operandTypes", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return hasMatrixKernels(gemm(p).aType) && gemm(p).aType == gemm(p).bType;
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("operand types {} and {} are not supported yet; supported: f32, f16, "
                            "bf16 or i8 for both",
                            name(gemm(p).aType), name(gemm(p).bType));
       }},
      {"notSupported.outType", 0,
       [](const Problem &p, const Schedule &, const Target &) { return hasStores(gemm(p)); },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("out={} of {} sums is not supported yet; supported: {}",
                            name(gemm(p).outType), name(gemm(p).accType),
                            gemm(p).accType == ElementType::i32
                                ? "f16 bf16 f32, and i32 without alpha, beta and epilogue"
                                : "f16 bf16 f32");
       }},
      {"notSupported.scale", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return gemm(p).aScale == ScaleMode::none && gemm(p).bScale == ScaleMode::none;
       },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("scaled operands are not supported yet; supported: scale=none");
       }},
      {"notSupported.quant", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return gemm(p).epilogue.empty() || gemm(p).epilogue.back().kind != EpilogueKind::quant;
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format(
             "epilogue step quant:{} is not supported yet; supported: bias silu gelu "
             "relu mul add",
             name(gemm(p).epilogue.back().type));
       }},
      {"notSupported.preshuffle", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return !gemm(p).preshuffle || hasPackedKernels(gemm(p));
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format(
             "preshuffle=1 of {} with k={} is not supported; supported: f16 and bf16 "
             "with k a multiple of 32, i8 with one of 64",
             name(gemm(p).bType), gemm(p).k);
       }},
      // Not a matter of time: without ds_read_*_tr a column-major fragment has no fast path.
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
