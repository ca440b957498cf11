// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a GEMM problem may ask for that no kernel of ours computes yet, by name. A row goes away
// when codegen learns the feature.
#include "ir/rules/Rules.h"

#include <array>
#include <fmt/format.h>

namespace kw {
namespace {

bool isHalf(ElementType type) { return type == ElementType::f16 || type == ElementType::bf16; }

const Gemm &gemm(const Problem &problem) { return problem.gemm(); }

std::vector<Rule> makeRules() {
  return {
      {"notSupported.batch", 0,
       [](const Problem &p, const Schedule &, const Target &) { return gemm(p).batch == 1; },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("batch={} is not supported yet; supported: batch=1", gemm(p).batch);
       }},
      {"notSupported.operandTypes", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return isHalf(gemm(p).aType) && gemm(p).aType == gemm(p).bType;
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("operand types {} and {} are not supported yet; supported: f16 or bf16 "
                            "for both",
                            name(gemm(p).aType), name(gemm(p).bType));
       }},
      {"notSupported.outType", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return isHalf(gemm(p).outType) || gemm(p).outType == ElementType::f32;
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("out={} is not supported yet; supported: f16 bf16 f32",
                            name(gemm(p).outType));
       }},
      {"notSupported.scale", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return gemm(p).aScale == ScaleMode::none && gemm(p).bScale == ScaleMode::none;
       },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("scaled operands are not supported yet; supported: scale=none");
       }},
      {"notSupported.orderA", 0,
       [](const Problem &p, const Schedule &, const Target &) { return gemm(p).aKContiguous(); },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("a=km is not supported yet; supported: a=mk");
       }},
      {"notSupported.alphaBeta", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return gemm(p).alpha == 1 && gemm(p).beta == 0;
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("alpha={} beta={} is not supported yet; supported: alpha=1 beta=0",
                            gemm(p).alpha, gemm(p).beta);
       }},
      {"notSupported.epilogue", 0,
       [](const Problem &p, const Schedule &, const Target &) { return gemm(p).epilogue.empty(); },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("an epilogue is not supported yet; supported: none");
       }},
      {"notSupported.preshuffle", 0,
       [](const Problem &p, const Schedule &, const Target &) { return !gemm(p).preshuffle; },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("preshuffle=1 is not supported yet; supported: preshuffle=0");
       }},
      // Not a matter of time: without ds_read_*_tr a column-major fragment has no fast path.
      {"notSupported.transposingRead", 0,
       [](const Problem &p, const Schedule &, const Target &t) {
         return gemm(p).bKContiguous() || t.transposingLdsRead;
       },
       [](const Problem &, const Schedule &, const Target &t) {
         return fmt::format("b=kn needs transposing LDS reads, which {} has not; supported: b=nk",
                            t.name);
       }},
  };
}

} // namespace

std::vector<Rule> gemmSupportRules() { return makeRules(); }

} // namespace kw
