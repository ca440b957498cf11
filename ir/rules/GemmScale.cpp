// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules on scaled operands.
#include "ir/plans/GemmScale.h"

#include "ir/rules/GemmRules.h"

#include <fmt/format.h>

namespace kw {
namespace {

using namespace gemmrules;

bool hasBlockScales(const Problem &p) {
  return p.gemm().aScale == ScaleMode::block128 || p.gemm().bScale == ScaleMode::block128;
}
bool hasMxScales(const Problem &p) {
  return p.gemm().aScale == ScaleMode::mx || p.gemm().bScale == ScaleMode::mx;
}

/// The instructions with 128 elements of k (16x16) or 64 (32x32) have scaled forms.
bool isScaled(const GemmSchedule::Tiling &tiling) {
  return tiling.mfmaM * tiling.mfmaK >= 16 * 128;
}

/// Loads of one lane that wait for their step beside those of the operands.
constexpr int mostScaleLoads = 16;

int loadsInFlight(const Problem &p, const Schedule &s) {
  int loads = 0;
  for (const ScaleTile &tile : scaleTiles(p.gemm(), gemmOf(s))) {
    loads += tile.loads;
  }
  return loads * (1 + scalesAhead(gemmOf(s)));
}

} // namespace

std::vector<Rule> gemmScaleRules() {
  return {
      {"scaledInstruction", reads({"mfmaM", "mfmaK"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return !hasMxScales(p) || isScaled(gemmOf(s).tiling);
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format("scale=mx with {}x{}x{}; scaled forms exist of 16x16x128 and 32x32x64",
                            gemmOf(s).tiling.mfmaM, gemmOf(s).tiling.mfmaN, gemmOf(s).tiling.mfmaK);
       }},
      {"blockSteps", reads({"tileK", "wavesK"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return !hasBlockScales(p) ||
                gemmOf(s).tiling.k % (scaleBlock * gemmOf(s).tiling.wavesK) == 0;
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format("scale=block128 with tile k={} and {} waves along k: a step is whole "
                            "blocks of 128 for each",
                            gemmOf(s).tiling.k, gemmOf(s).tiling.wavesK);
       }},
      {"blockSums", reads({"accumulator"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return !hasBlockScales(p) || gemmOf(s).accumulator == AccumulatorFile::vgpr;
       },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("scale=block128 adds to the accumulators with vector instructions: "
                            "acc=vgpr");
       }},
      {"wideRows", reads({"epilogue"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return gemmOf(s).epilogue != EpiloguePath::lds ||
                (bitWidth(p.gemm().outType) >= 16 && p.gemm().columnsPerResult() == 1);
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("epi=lds with out={}{}: rows of 16- and 32-bit results go through LDS",
                            name(p.gemm().outType),
                            p.gemm().columnsPerResult() > 1 ? " of swiglu" : "");
       }},
      {"scaleLoads",
       reads({"tileM", "tileN", "tileK", "wavesM", "wavesN", "wavesK", "mfmaM", "mfmaN", "mfmaK",
              "stages", "prefetch"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return loadsInFlight(p, s) <= mostScaleLoads;
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("{} loads of scales in flight; at most {} beside those of the operands",
                            loadsInFlight(p, s), mostScaleLoads);
       }},
  };
}

} // namespace kw
