// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What attention kernels are not generated for yet: a row goes away when codegen learns it.
#include "ir/plans/AttentionInterface.h"
#include "ir/rules/AttentionRule.h"
#include "ir/rules/Rules.h"

#include <fmt/format.h>

namespace kw {
namespace {

const Attention &op(const Problem &p) { return p.attention(); }

bool isHalf(ElementType type) { return type == ElementType::f16 || type == ElementType::bf16; }

std::vector<Rule> problemLimits() {
  using A = Attention;
  return {
      attentionRule<[](const A &a) { return a.sq <= mostQueries; },
                    [](const A &a) {
                      return fmt::format("prefill, sq={}, is not supported yet; supported: sq of 1 "
                                         "to {}",
                                         a.sq, mostQueries);
                    }>("notSupported.prefill"),
      attentionRule<[](const A &a) { return !a.latent(); },
                    [](const A &) {
                      return std::string("latent attention (d=576 dv=512 hkv=1) is not supported "
                                         "yet; supported: d of 64 and 128, dv=d");
                    }>("notSupported.latent"),
      attentionRule<[](const A &a) { return a.d == 64 || a.d == 128; },
                    [](const A &a) {
                      return fmt::format("d={} is not supported yet; supported: 64 128", a.d);
                    }>("notSupported.headDimension"),
      attentionRule<[](const A &a) { return a.dv == a.d; },
                    [](const A &a) {
                      return fmt::format("dv={} is not supported yet; supported: dv=d", a.dv);
                    }>("notSupported.valueDimension"),
      attentionRule<[](const A &a) { return isHalf(a.type); },
                    [](const A &a) {
                      return fmt::format("dtype={} is not supported yet; supported: bf16 f16",
                                         name(a.type));
                    }>("notSupported.type"),
      attentionRule<[](const A &a) { return a.kvType == a.type; },
                    [](const A &a) {
                      return fmt::format("kvdtype={} beside dtype={} is not supported yet; "
                                         "supported: the same",
                                         name(a.kvType), name(a.type));
                    }>("notSupported.kvType"),
      attentionRule<[](const A &a) {
        return a.mask == MaskKind::none || a.mask == MaskKind::causal;
      },
                    [](const A &) {
                      return std::string("this mask is not supported yet; supported: none causal");
                    }>("notSupported.mask"),
      attentionRule<[](const A &a) { return a.score == ScoreKind::none; },
                    [](const A &) {
                      return std::string("score is not supported yet; supported: score=none");
                    }>("notSupported.score"),
      attentionRule<[](const A &a) { return 0 < a.scale; },
                    [](const A &a) {
                      return fmt::format("scale={} is not supported; supported: above 0", a.scale);
                    }>("notSupported.scale"),
      attentionRule<[](const A &a) { return a.varlenFile.empty(); },
                    [](const A &) {
                      return std::string("varlen is not supported yet; supported: equal lengths");
                    }>("notSupported.varlen"),
      attentionRule<[](const A &a) { return a.page == 0; },
                    [](const A &a) {
                      return fmt::format("page={} is not supported yet; supported: contiguous k "
                                         "and v",
                                         a.page);
                    }>("notSupported.page"),
      attentionRule<[](const A &a) { return !a.sinks; },
                    [](const A &) {
                      return std::string("sinks=1 is not supported yet; supported: sinks=0");
                    }>("notSupported.sinks"),
  };
}

} // namespace

std::vector<Rule> attentionLimits() {
  std::vector<Rule> all = problemLimits();
  all.push_back({"notSupported.rowWaves", maskOf(Family::attention, {"rowWaves", "lazyRescale"}),
                 [](const Problem &, const Schedule &s, const Target &) {
                   const auto &schedule = std::get<AttentionSchedule>(s);
                   return schedule.rowWaves == 1 && !schedule.lazyRescale;
                 },
                 [](const Problem &, const Schedule &s, const Target &) {
                   return fmt::format("{}: waves that divide the rows are not supported yet; "
                                      "supported: rowwaves=1, lazy=0",
                                      print(s));
                 }});
  return all;
}

} // namespace kw
