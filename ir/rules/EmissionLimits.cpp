// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/rules/EmissionLimits.h"

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

bool endsQuantised(const Gemm &gemm) {
  return !gemm.epilogue.empty() && gemm.epilogue.back().kind == EpilogueKind::quant;
}

std::vector<Rule> gemmLimits() {
  return {
      {"notSupported.operandTypes", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return hasMatrixKernels(p.gemm().aType) && p.gemm().aType == p.gemm().bType;
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("operand types {} and {} are not supported yet; supported: f32, f16, "
                            "bf16 or i8 for both",
                            name(p.gemm().aType), name(p.gemm().bType));
       }},
      {"notSupported.scale", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return p.gemm().aScale == ScaleMode::none && p.gemm().bScale == ScaleMode::none;
       },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("scaled operands are not supported yet; supported: scale=none");
       }},
      {"notSupported.quant", 0,
       [](const Problem &p, const Schedule &, const Target &) { return !endsQuantised(p.gemm()); },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format(
             "epilogue step quant:{} is not supported yet; supported: bias silu gelu "
             "relu mul add",
             name(p.gemm().epilogue.back().type));
       }},
      {"notSupported.outType", 0,
       [](const Problem &p, const Schedule &, const Target &) { return hasStores(p.gemm()); },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("out={} of {} sums is not supported yet; supported: {}",
                            name(p.gemm().outType), name(p.gemm().accType),
                            p.gemm().accType == ElementType::i32
                                ? "f16 bf16 f32, and i32 without alpha, beta and epilogue"
                                : "f16 bf16 f32");
       }},
  };
}

std::vector<Rule> rmsNormLimits() {
  return {
      {"notSupported.quant", 0,
       [](const Problem &p, const Schedule &, const Target &) { return !p.rmsnorm().quantised; },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("quant=fp8 is not supported yet; supported: quant=none");
       }}};
}

std::vector<Rule> wholeFamily() {
  return {{"notSupported.family", 0,
           [](const Problem &, const Schedule &, const Target &) { return false; },
           [](const Problem &p, const Schedule &, const Target &) {
             return fmt::format("no code is generated for {} yet: the model alone answers; "
                                "supported: gemm rmsnorm attention",
                                name(p.family()));
           }}};
}

} // namespace

std::span<const Rule> emissionLimits(ScheduleKind kind) {
  static const std::vector<Rule> gemm = gemmLimits(), norm = rmsNormLimits(),
                                 attention = attentionLimits(), whole = wholeFamily();
  if (kind.generator != Generator::kw) {
    return {};
  }
  switch (kind.family) {
  case Family::gemm:
    return gemm;
  case Family::rmsnorm:
    return norm;
  case Family::attention:
    return attention;
  case Family::groupedGemm:
  case Family::topk:
    break;
  }
  return whole;
}

std::optional<Violation> emissionLimit(const Problem &problem, const Target &target) {
  const Schedule any = defaultSchedule(problem.family());
  for (const Rule &rule : emissionLimits(problem.family())) {
    if (rule.reads == 0 && !rule.holds(problem, any, target)) {
      return Violation{rule.name, rule.explain(problem, any, target)};
    }
  }
  return std::nullopt;
}

std::optional<Violation> emissionLimit(const Problem &problem, const Schedule &schedule,
                                       const Target &target) {
  for (const Rule &rule : emissionLimits(kindOf(schedule))) {
    if (!rule.holds(problem, schedule, target)) {
      return Violation{rule.name, rule.explain(problem, schedule, target)};
    }
  }
  return std::nullopt;
}

} // namespace kw
