// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules on prefetch, waits, registers and the epilogue. The numbers are the plan's: what is checked
// is what is emitted.
#include "ir/KernelPlan.h"
#include "ir/plans/GemmResult.h"
#include "ir/plans/GemmSplit.h"
#include "ir/rules/GemmRules.h"
#include "ir/rules/Registers.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace kw {
namespace {

using namespace gemmrules;

// ---- Prefetch and waits ----

bool bothThroughRegisters(const Schedule &s) {
  return gemmOf(s).a.path == OperandPath::lds && gemmOf(s).b.path != OperandPath::direct;
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

// ---- Steps that overlap ----

int slicesOf(const Problem &p, const Schedule &s) { return tileOf<Which::a>(p, s).slices; }

/// Slices read ahead need a stage to be read from while another is filled; a ping-pong step reads
/// its own slices while the other group multiplies.
bool fragmentsHold(const Problem &p, const Schedule &s, const Target &) {
  const auto &pipeline = gemmOf(s).pipeline;
  return pipeline.fragmentsAhead == 0 ||
         (pipeline.fragmentsAhead <= slicesOf(p, s) && pipeline.stages > 1 &&
          pipeline.order != LoopOrder::pingpong && !pipeline.quadrants);
}

std::string fragmentsFact(const Problem &p, const Schedule &s, const Target &) {
  const auto &pipeline = gemmOf(s).pipeline;
  if (pipeline.order == LoopOrder::pingpong) {
    return "fragments > 0 with schedule=pingpong, where the other group hides the reads";
  }
  if (pipeline.quadrants) {
    return "fragments > 0 with quad=1, which reads half a step ahead by itself";
  }
  return fmt::format("fragments={} with {} slices a step and stages={}: at most the slices, with "
                     "two stages or more",
                     pipeline.fragmentsAhead, slicesOf(p, s), pipeline.stages);
}

constexpr int pingPongWaves = 8; ///< a wave of each group on every SIMD

bool pingPongHolds(const Problem &p, const Schedule &s, const Target &) {
  const GemmSchedule &schedule = gemmOf(s);
  return schedule.pipeline.order != LoopOrder::pingpong ||
         (schedule.waves() == pingPongWaves &&
          (slicesOf(p, s) % 2 == 0 || schedule.pipeline.quadrants) &&
          schedule.pipeline.stages > 1 && schedule.a.path == OperandPath::direct &&
          schedule.b.path == OperandPath::direct);
}

std::string pingPongFact(const Problem &p, const Schedule &s, const Target &) {
  return fmt::format(
      "schedule=pingpong with {} waves, {} slices a step, stages={}: needs {} waves, "
      "an even number of slices or quad=1, two stages or more, and "
      "a=direct,b=direct",
      gemmOf(s).waves(), slicesOf(p, s), gemmOf(s).pipeline.stages, pingPongWaves);
}

/// A half of the stage is whole fragments of each wave and whole loads of all, and its rows are
/// bits of the lane's index.
template <Which which> bool quadrantsHold(const Problem &p, const Schedule &s, const Target &) {
  const OperandTile tile = tileOf<which>(p, s);
  const std::int64_t halfBytes = std::int64_t(tile.rows) * tile.layout.rowBytes / 2;
  const std::int64_t pieceBytes = std::int64_t(tile.waves) * 64 * tile.vectorBytes;
  return !gemmOf(s).pipeline.quadrants ||
         (tile.layout.path == OperandPath::direct && tile.layout.layout != LdsLayout::padding &&
          !tile.layout.rowsAlongK && gemmOf(s).pipeline.stages > 1 && tile.fragments % 2 == 0 &&
          std::has_single_bit(static_cast<unsigned>(tile.rows)) && halfBytes % pieceBytes == 0);
}

template <Which which>
std::string quadrantsFact(const Problem &p, const Schedule &s, const Target &) {
  const OperandTile tile = tileOf<which>(p, s);
  return fmt::format(
      "quad=1 with {} rows of {} bytes of {}, {} fragments a wave, stages={}: needs k "
      "contiguous, a direct path without padding, two stages or more, a power of two "
      "of rows, an even number of fragments, and halves that are whole loads of {} "
      "waves",
      tile.rows, tile.layout.rowBytes, label<which>, tile.fragments, gemmOf(s).pipeline.stages,
      tile.waves);
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

// ---- Scalar registers ----
// Of a wave, as LLVM counts them: buffers, sizes and pointers; destinations of direct loads; what
// walks along k where rows are along k; what the epilogue reads. [fitted to 66 kernels of LLVM 22:
// compiled minus estimated -17 to +5; none spilled up to 113, all seven from 118 on did, up to 32
// SGPRs] Persistent and stream-K workgroups keep a dozen scalars from tile to tile, but read the
// epilogue's arguments again behind the loop (KernelShell::rereadArguments).
constexpr int mostScalars = 112;
constexpr int scalarsAlways = 36, scalarsAlongK = 15, scalarsPersistent = 12, scalarsOfInput = 3;

int scalarEstimate(const Problem &p, const Schedule &s) {
  int walking = 0;
  for (const TileOperand operand : {TileOperand::a, TileOperand::b}) {
    const OperandTile tile = operandTile(p.gemm(), gemmOf(s), operand);
    walking += tile.layout.path != OperandPath::registers && tile.layout.rowsAlongK ? 1 : 0;
  }
  return scalarsAlways + destinations(p, s) + scalarsAlongK * walking +
         (gemmOf(s).mapping.grid == GridKind::tiles
              ? scalarsOfInput * static_cast<int>(resultInputs(p.gemm()).size())
              : scalarsPersistent);
}

bool scalarsHold(const Problem &p, const Schedule &s, const Target &) {
  return scalarEstimate(p, s) <= mostScalars;
}

std::string scalarsFact(const Problem &p, const Schedule &s, const Target &) {
  return fmt::format("about {} SGPRs ({} destinations of direct loads in LDS, {}); a wave's are "
                     "enough for {}",
                     scalarEstimate(p, s), destinations(p, s),
                     gemmOf(s).mapping.grid == GridKind::tiles
                         ? fmt::format("{} inputs of the epilogue", resultInputs(p.gemm()).size())
                         : "a persistent grid",
                     mostScalars);
}

// ---- Epilogue ----

/// A lane's store of neighbours along n needs their alignment.
bool storeHolds(const Problem &p, const Schedule &s, const Target &) {
  const int elements = storeElements(gemmOf(s).epilogue);
  return p.gemm().n % elements == 0 && p.gemm().ldc % elements == 0 &&
         (p.gemm().batch == 1 || p.gemm().sc % elements == 0);
}

std::string storeFact(const Problem &p, const Schedule &s, const Target &) {
  return fmt::format("{} stores {} neighbours of n; n={} and ldc={} must be multiples",
                     gemmOf(s).epilogue == EpiloguePath::swap ? "epi=swap" : "epi=permlane",
                     storeElements(gemmOf(s).epilogue), p.gemm().n, p.gemm().ldc);
}

/// The exchange pairs 32-bit registers of two elements; fragments of 16 columns are exchanged with
/// their neighbour along n.
bool exchangeHolds(const Problem &p, const Schedule &s, const Target &) {
  const auto &tiling = gemmOf(s).tiling;
  return gemmOf(s).epilogue != EpiloguePath::permlane ||
         (bitWidth(p.gemm().outType) == 16 &&
          (tiling.mfmaN == 32 || tiling.n % (2 * tiling.mfmaN * tiling.wavesN) == 0));
}

/// Through LDS pays for rows that are longer than what the other paths store of a row at once: 64
/// bytes. A wave's passes have powers of two of fragments.
int wholeRowBytes(const Problem &p, const Schedule &s) {
  const auto &tiling = gemmOf(s).tiling;
  const int fragments = gemmOf(s).waveTileN() / tiling.mfmaN;
  return (fragments & -fragments) * tiling.mfmaN * std::max(1, bitWidth(p.gemm().outType) / 8);
}

bool usefulRowsHold(const Problem &p, const Schedule &s, const Target &t) {
  return gemmOf(s).epilogue != EpiloguePath::lds || wholeRowBytes(p, s) >= t.cacheLineBytes;
}

std::string usefulRowsFact(const Problem &p, const Schedule &s, const Target &t) {
  return fmt::format("epi=lds with {} columns a wave makes rows of {} bytes; of use from {} on",
                     gemmOf(s).waveTileN(), wholeRowBytes(p, s), t.cacheLineBytes);
}

// ---- Registers ----

RegisterUse registerUse(const Problem &p, const Schedule &s, const Target &t) {
  return makePlan(p, s, t).launches[0].registers;
}

bool registersHold(const Problem &p, const Schedule &s, const Target &t) {
  return fits(registerUse(p, s, t), residentWaves(gemmOf(s), t), t);
}

std::string registersFact(const Problem &p, const Schedule &s, const Target &t) {
  return registerShortage(registerUse(p, s, t), residentWaves(gemmOf(s), t), t);
}

/// Where whole tiles and sums of parts meet, LLVM 22 may move a tile's AGPRs through VGPRs, beside
/// addresses and this many. [measured: of 707 stream-K kernels with accumulators in AGPRs 9
/// spilled; 5 of them and 9 others are refused]
constexpr int besideMovedAccumulators = 24;

/// Of a stream-K grid: of the loop, of the sums over a tile's parts, of what follows them.
RegisterUse streamRegisterUse(const Problem &p, const Schedule &s, const Target &t) {
  RegisterUse use = registerUse(p, s, t);
  if (gemmOf(s).split.reduce == Reduction::ordered) {
    use.fragments = std::max(use.fragments, leastPartialRegisters(gemmOf(s)) - use.staging);
  }
  if (use.accumulatorsInAgpr) {
    use.fragments =
        std::max(use.fragments, use.accumulators + besideMovedAccumulators - use.staging);
  }
  return use;
}

bool streamRegistersHold(const Problem &p, const Schedule &s, const Target &t) {
  return !isStream(gemmOf(s)) || fits(streamRegisterUse(p, s, t), residentWaves(gemmOf(s), t), t);
}

std::string streamRegistersFact(const Problem &p, const Schedule &s, const Target &t) {
  return "grid=streamk: " +
         registerShortage(streamRegisterUse(p, s, t), residentWaves(gemmOf(s), t), t);
}

int wavesPerSimd(const Schedule &s, const Target &t) {
  return (gemmOf(s).waves() + t.simdsPerCu - 1) / t.simdsPerCu;
}

/// Fewer waves than a workgroup has on a SIMD cannot be asked for.
bool occupancyHolds(const Problem &, const Schedule &s, const Target &t) {
  const int asked = gemmOf(s).pipeline.wavesPerSimd;
  return asked == 0 || asked >= wavesPerSimd(s, t);
}

std::string occupancyFact(const Problem &, const Schedule &s, const Target &t) {
  return fmt::format("occupancy={}, but a workgroup of {} waves has {} on a SIMD",
                     gemmOf(s).pipeline.wavesPerSimd, gemmOf(s).waves(), wavesPerSimd(s, t));
}

/// Priority is raised around a cluster.
bool priorityHolds(const Problem &, const Schedule &s, const Target &) {
  return !gemmOf(s).pipeline.priority || gemmOf(s).pipeline.order != LoopOrder::interleaved;
}

} // namespace

std::vector<Rule> gemmPipelineRules() {
  return {
      {"prefetch", reads({"aPath", "bPath", "stages", "prefetch"}), prefetchHolds, prefetchFact},
      {"fragmentsAhead",
       reads({"tileK", "mfmaK", "wavesK", "stages", "order", "fragmentsAhead", "quadrants"}),
       fragmentsHold, fragmentsFact},
      {"pingpong",
       reads({"tileK", "mfmaK", "wavesM", "wavesN", "wavesK", "aPath", "bPath", "stages", "order",
              "quadrants"}),
       pingPongHolds, pingPongFact},
      {"quadrantsA",
       reads({"tileM", "tileK", "wavesM", "wavesN", "wavesK", "mfmaM", "aPath", "aLayout",
              "aVector", "stages", "quadrants"}),
       quadrantsHold<Which::a>, quadrantsFact<Which::a>},
      {"quadrantsB",
       reads({"tileN", "tileK", "wavesM", "wavesN", "wavesK", "mfmaN", "bPath", "bLayout",
              "bVector", "stages", "quadrants"}),
       quadrantsHold<Which::b>, quadrantsFact<Which::b>},
      {"waitCounter",
       reads({"tileM", "tileN", "tileK", "wavesM", "wavesN", "wavesK", "mfmaN", "mfmaK", "bPath",
              "aVector", "bVector", "prefetch"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return loadsInFlight(p, s) <= t.maxVmcnt;
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fmt::format("{} loads of a wave in flight; the wait counter holds {}",
                            loadsInFlight(p, s), t.maxVmcnt);
       }},
      {"loadCount",
       reads({"tileM", "tileN", "tileK", "wavesM", "wavesN", "wavesK", "mfmaN", "mfmaK", "aPath",
              "bPath", "aVector", "bVector", "stages"}),
       loadCountHolds, loadCountFact},
      {"scalarRegisters",
       reads({"tileM", "tileN", "tileK", "wavesM", "wavesN", "wavesK", "aPath", "bPath", "aVector",
              "bVector", "stages", "grid"}),
       scalarsHold, scalarsFact},
      {"priority", reads({"order", "priority"}), priorityHolds,
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("prio=1 with schedule=interleaved: there is no cluster of matrix "
                            "instructions to raise it for");
       }},
      {"occupancy", reads({"wavesM", "wavesN", "wavesK", "wavesPerSimd"}), occupancyHolds,
       occupancyFact},
      {"swapAlignment", reads({"epilogue"}), storeHolds, storeFact},
      {"permlaneExchange", reads({"tileN", "wavesN", "mfmaN", "epilogue"}), exchangeHolds,
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format(
             "epi=permlane exchanges two 16-bit elements of neighbouring fragments: "
             "out={} must have 16 bits, and a wave an even number of fragments of 16 "
             "columns",
             name(p.gemm().outType));
       }},
      {"usefulRows", reads({"tileN", "wavesN", "mfmaN", "epilogue"}), usefulRowsHold,
       usefulRowsFact},
      {"registers",
       reads({"splitK",   "reduce", "epilogue",       "tileM",     "tileN",       "tileK",
              "wavesM",   "wavesN", "wavesK",         "mfmaM",     "mfmaN",       "mfmaK",
              "aPath",    "bPath",  "aVector",        "bVector",   "accumulator", "stages",
              "prefetch", "order",  "fragmentsAhead", "quadrants", "wavesPerSimd"}),
       registersHold, registersFact},
      {"streamRegisters",
       reads({"splitK",   "reduce", "epilogue",       "tileM",     "tileN",        "tileK",
              "wavesM",   "wavesN", "wavesK",         "mfmaM",     "mfmaN",        "mfmaK",
              "aPath",    "bPath",  "aVector",        "bVector",   "accumulator",  "stages",
              "prefetch", "order",  "fragmentsAhead", "quadrants", "wavesPerSimd", "grid"}),
       streamRegistersHold, streamRegistersFact},
  };
}

} // namespace kw
