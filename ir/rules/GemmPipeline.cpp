// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules on prefetch, waits, registers and the epilogue. The numbers are the plan's: what is checked
// is what is emitted.
#include "ir/KernelPlan.h"
#include "ir/rules/GemmRules.h"
#include "ir/rules/Registers.h"

#include <fmt/format.h>

namespace kw {
namespace {

using namespace gemmrules;

// ---- Prefetch and waits ----

bool bothThroughRegisters(const Schedule &s) {
  return gemmOf(s).a.path == OperandPath::lds && gemmOf(s).b.path == OperandPath::lds;
}

bool prefetchHolds(const Problem &, const Schedule &s, const Target &) {
  const auto &pipeline = gemmOf(s).pipeline;
  return pipeline.prefetch == pipeline.stages - 1 ||
         (pipeline.prefetch == pipeline.stages && bothThroughRegisters(s));
}

std::string prefetchFact(const Problem &, const Schedule &s, const Target &) {
  const auto &pipeline = gemmOf(s).pipeline;
  return fmt::format("prefetch={} with stages={}: loads run {} steps ahead{}", pipeline.prefetch,
                     pipeline.stages, pipeline.stages - 1,
                     bothThroughRegisters(s) ? fmt::format(" or {}", pipeline.stages) : "");
}

/// Loads of one lane and step.
struct StepLoads {
  int direct = 0, total = 0;
};
StepLoads stepLoads(const Problem &p, const Schedule &s) {
  const int a = operandTile(p.gemm(), gemmOf(s), TileOperand::a).pieces;
  const int b = operandTile(p.gemm(), gemmOf(s), TileOperand::b).pieces;
  const bool aDirect = gemmOf(s).a.path == OperandPath::direct;
  const bool bDirect = gemmOf(s).b.path == OperandPath::direct;
  return {(aDirect ? a : 0) + (bDirect ? b : 0), a + b};
}

int loadsInFlight(const Problem &p, const Schedule &s) {
  return stepLoads(p, s).total * gemmOf(s).pipeline.prefetch;
}

// ---- Number of loads ----
// A direct load has a destination in LDS for each stage, a load at the edge of the problem a mask:
// both live in SGPRs; addresses and results of very many narrow loads crowd the VGPRs. [measured
// with LLVM 22 on 1,300 kernels: all spills had 64 or more destinations, or 56 or more loads, or
// accumulators in AGPRs (Registers.cpp)]
constexpr int mostDestinations = 40;
constexpr int mostLoads = 48;

int destinations(const Problem &p, const Schedule &s) {
  return stepLoads(p, s).direct * gemmOf(s).pipeline.stages;
}

bool loadCountHolds(const Problem &p, const Schedule &s, const Target &) {
  return destinations(p, s) <= mostDestinations && stepLoads(p, s).total <= mostLoads;
}

std::string loadCountFact(const Problem &p, const Schedule &s, const Target &) {
  return fmt::format("{} loads of a wave a step, {} destinations of direct loads in LDS; registers "
                     "are enough for {} and {}",
                     stepLoads(p, s).total, destinations(p, s), mostLoads, mostDestinations);
}

// ---- Epilogue ----

/// Operand swap gives a lane four neighbours along n: their store needs that alignment.
constexpr int swapElements = 4;

bool swapHolds(const Problem &p, const Schedule &s, const Target &) {
  return gemmOf(s).epilogue != EpiloguePath::swap ||
         (p.gemm().n % swapElements == 0 && p.gemm().ldc % swapElements == 0);
}

// ---- Registers ----

RegisterUse registerUse(const Problem &p, const Schedule &s, const Target &t) {
  return makePlan(p, s, t).launches[0].registers;
}

bool registersHold(const Problem &p, const Schedule &s, const Target &t) {
  return fits(registerUse(p, s, t), gemmOf(s).waves(), t);
}

std::string registersFact(const Problem &p, const Schedule &s, const Target &t) {
  return registerShortage(registerUse(p, s, t), gemmOf(s).waves(), t);
}

} // namespace

std::vector<Rule> gemmPipelineRules() {
  return {
      {"prefetch", reads({"aPath", "bPath", "stages", "prefetch"}), prefetchHolds, prefetchFact},
      {"waitCounter",
       reads({"tileM", "tileN", "tileK", "wavesM", "wavesN", "wavesK", "aVector", "bVector", "prefetch"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return loadsInFlight(p, s) <= t.maxVmcnt;
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fmt::format("{} loads of a wave in flight; the wait counter holds {}",
                            loadsInFlight(p, s), t.maxVmcnt);
       }},
      {"loadCount",
       reads({"tileM", "tileN", "tileK", "wavesM", "wavesN", "wavesK", "aPath", "bPath", "aVector", "bVector",
              "stages"}),
       loadCountHolds, loadCountFact},
      {"swapAlignment", reads({"epilogue"}), swapHolds,
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("epi=swap stores {} neighbours of n; n={} and ldc={} must be multiples",
                            swapElements, p.gemm().n, p.gemm().ldc);
       }},
      {"registers",
       reads({"tileM", "tileN", "tileK", "wavesM", "wavesN", "wavesK", "mfmaM", "mfmaN", "mfmaK", "aPath",
              "bPath", "aVector", "bVector", "accumulator", "stages", "prefetch", "order"}),
       registersHold, registersFact},
  };
}

} // namespace kw
