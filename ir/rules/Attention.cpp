// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The rules of attention: what no kernel of ours computes yet, by name, then tiling, paths,
// pipeline and splits of decode.
#include "ir/AttentionLayout.h"
#include "ir/KernelPlan.h"
#include "ir/Occupancy.h"
#include "ir/plans/AttentionInterface.h"
#include "ir/plans/AttentionLoop.h"
#include "ir/rules/AttentionRule.h"
#include "ir/rules/Registers.h"
#include "ir/rules/Rules.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace kw {
namespace {

const Attention &op(const Problem &p) { return p.attention(); }
const AttentionSchedule &of(const Schedule &s) { return std::get<AttentionSchedule>(s); }

DecisionMask reads(std::initializer_list<std::string_view> names) {
  return maskOf(Family::attention, names);
}

bool powerOfTwo(int value) { return std::has_single_bit(static_cast<unsigned>(value)); }

// ---- The problem ----

constexpr int fragmentElements = 32; ///< of a head: whole slices of either matrix instruction
constexpr int widestHead = 576;      ///< two stages of 32 columns of k and v fit LDS

std::vector<Rule> supportRules() {
  using A = Attention;
  return {
      attentionRule<[](const A &a) {
        return a.type != ElementType::f32 && a.kvType != ElementType::f32;
      },
                    [](const A &) {
                      return std::string(
                          "products of f32 are not supported; supported: bf16 f16 fp8 "
                          "bf8");
                    }>("notSupported.type"),
      attentionRule<[](const A &a) {
        return bitWidth(a.kvType) == 8 || bitWidth(a.type) == 8 || a.kvType == a.type;
      },
                    [](const A &a) {
                      return fmt::format(
                          "kvdtype={} beside dtype={} is not supported; supported: the "
                          "same, or an 8-bit one",
                          name(a.kvType), name(a.type));
                    }>("notSupported.kvType"),
      attentionRule<[](const A &a) {
        return a.d % fragmentElements == 0 && a.dv % fragmentElements == 0 && a.d <= widestHead &&
               a.dv <= widestHead;
      },
                    [](const A &a) {
                      return fmt::format(
                          "d={} dv={} is not supported; supported: multiples of {} up "
                          "to {}",
                          a.d, a.dv, fragmentElements, widestHead);
                    }>("notSupported.headDimension"),
      attentionRule<[](const A &a) { return !a.lengths.empty(); },
                    [](const A &a) {
                      return fmt::format("the varlen file {} was not read", a.varlenFile);
                    }>("varlenFile"),
      attentionRule<
          [](const A &a) { return a.mask != MaskKind::document || !a.documentEnds.empty(); },
          [](const A &a) { return fmt::format("the document file {} was not read", a.maskFile); }>(
          "documentFile"),
      // Not a matter of time: V is turned by transposing reads, rows are reduced by lane swaps.
      {"notSupported.laneOperations", 0,
       [](const Problem &, const Schedule &, const Target &t) {
         return t.transposingLdsRead && t.permlaneSwap;
       },
       [](const Problem &, const Schedule &, const Target &t) {
         return fmt::format(
             "attention needs transposing LDS reads and lane swaps, which {} has not", t.name);
       }},
  };
}

// ---- Tiling ----

/// The older shapes leave four scores a lane where P's operand has eight, or the other way round.
/// Operands of 8 bits also have shapes of four times the k.
bool instructionHolds(const Problem &p, const Schedule &s, const Target &t) {
  const auto &tile = of(s).tiling;
  const ProductTypes types = productTypes(op(p));
  const int products = tile.mfmaM * tile.mfmaK; // of a lane 8 or 32
  const bool isShape = tile.mfmaM == tile.mfmaN && (tile.mfmaM == 16 || tile.mfmaM == 32) &&
                       (products == 512 || (products == 2048 && bitWidth(types.keys) == 8));
  return isShape &&
         findMatrixInstruction(t, tile.mfmaM, tile.mfmaN, tile.mfmaK, types.keys, types.queries);
}

constexpr int fewestColumns = 32; ///< of one or two score fragments and whole slices of P

std::int64_t workItems(const Problem &p, const Schedule &s, const Target &t) {
  const std::int64_t rowTiles = (op(p).packedRows() + of(s).tiling.rows - 1) / of(s).tiling.rows;
  return op(p).b * op(p).hkv * rowTiles * of(s).split.kv * of(s).waves * t.waveSize;
}
constexpr std::int64_t mostWorkItems = std::int64_t(1) << 32; // a dispatch counts in 32 bits

/// Elements between the first and the last row of a wave's tile.
std::int64_t columnReach(const Problem &p, const Schedule &s) {
  const std::int64_t pitch = op(p).layout == AttentionLayout::bshd ? op(p).hkv * op(p).d : op(p).d;
  return of(s).tiling.columns * pitch;
}
/// The same of a tile of query rows: queries and the heads of a group.
std::int64_t queryReach(const Problem &p) {
  constexpr std::int64_t mostOfTile = 257; // queries of a tile of 256 rows
  const AttentionStrides strides = attentionStrides(op(p).layout, op(p).hq, op(p).sq, op(p).d);
  return std::min(op(p).sq, mostOfTile) * strides.sequence + op(p).group() * strides.head;
}
constexpr std::int64_t mostReach = (std::int64_t(1) << 30) - 1; // 2-byte elements, 31 bits

/// Rows of a tile beyond which a half of them or more are none of the problem's. Waves that share
/// wide rows of k and v may have idle rows: it takes some to load them.
std::int64_t mostRows(const Problem &p) {
  return std::max<std::int64_t>(isDecode(op(p)) ? 32 : 64, powerOfTwoFrom(op(p).packedRows()));
}

std::vector<Rule> tilingRules() {
  return {
      {"matrixInstruction", reads({"mfmaM", "mfmaN", "mfmaK"}), instructionHolds,
       [](const Problem &, const Schedule &s, const Target &) {
         const auto &tile = of(s).tiling;
         return fmt::format(
             "matrix instruction {}x{}x{}; attention is made of 16x16x32 or 32x32x16, of 8-bit "
             "operands also of 16x16x128 or 32x32x64",
             tile.mfmaM, tile.mfmaN, tile.mfmaK);
       }},
      {"rows", reads({"rows", "mfmaN", "rowWaves"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return powerOfTwo(of(s).tiling.rows) &&
                of(s).tiling.rows % (of(s).tiling.mfmaN * of(s).rowWaves) == 0;
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format(
             "{} rows; they are a power of two and whole fragments of {} for each of "
             "{} waves",
             of(s).tiling.rows, of(s).tiling.mfmaN, of(s).rowWaves);
       }},
      {"usefulRowWaves", reads({"rowWaves"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return of(s).rowWaves == 1 || !isDecode(op(p));
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format(
             "rowwaves={} with sq={}: waves share k and v above {} queries, with heads above 128 "
             "and sequences of their own lengths",
             of(s).rowWaves, op(p).sq, mostQueries);
       }},
      {"lazyRescale", reads({"rowWaves", "lazyRescale"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return !of(s).lazyRescale || of(s).rowWaves > 1;
       },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("lazy=1 with waves that divide the columns; rowwaves above 1");
       }},
      {"usefulRows", reads({"rows"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return of(s).tiling.rows <= mostRows(p);
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("{} rows a workgroup, but sq * hq / hkv is {}", of(s).tiling.rows,
                            op(p).packedRows());
       }},
      {"columns", reads({"columns"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return powerOfTwo(of(s).tiling.columns) && of(s).tiling.columns >= fewestColumns;
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format("{} columns a wave; they are a power of two from {}",
                            of(s).tiling.columns, fewestColumns);
       }},
      {"wholeSlices", reads({"columns", "mfmaK"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return op(p).d % of(s).tiling.mfmaK == 0 && of(s).tiling.columns % of(s).tiling.mfmaK == 0;
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("k={} of the matrix instruction; it divides d={} and {} columns",
                            of(s).tiling.mfmaK, op(p).d, of(s).tiling.columns);
       }},
      {"waves", reads({"waves"}),
       [](const Problem &, const Schedule &s, const Target &t) {
         return powerOfTwo(of(s).waves) && of(s).waves <= t.maxWavesPerWorkgroup;
       },
       [](const Problem &, const Schedule &s, const Target &t) {
         return fmt::format("{} waves; they are a power of two up to {}", of(s).waves,
                            t.maxWavesPerWorkgroup);
       }},
      {"rowWaves", reads({"waves", "rowWaves"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return of(s).rowWaves == 1 || of(s).rowWaves == of(s).waves;
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format("rowwaves={} of {} waves: all or 1", of(s).rowWaves, of(s).waves);
       }},
      {"usefulWaves", reads({"columns", "waves", "rowWaves"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return std::int64_t(of(s).columnWaves() - 1) * of(s).tiling.columns < op(p).skv;
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("the last of {} waves with {} columns each gets none of skv={}",
                            of(s).columnWaves(), of(s).tiling.columns, op(p).skv);
       }},
      {"usefulSplits", reads({"columns", "waves", "splitKV", "rowWaves"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return std::int64_t(of(s).split.kv - 1) * of(s).stepColumns() < op(p).skv;
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("the last of {} splits with steps of {} columns gets none of skv={}",
                            of(s).split.kv, of(s).stepColumns(), op(p).skv);
       }},
      {"gridSize", reads({"rows", "waves", "splitKV"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return workItems(p, s, t) < mostWorkItems;
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fmt::format("a grid of {} work-items; a dispatch has less than {}",
                            workItems(p, s, t), mostWorkItems);
       }},
      {"addressRange", reads({"columns"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return std::max(columnReach(p, s), queryReach(p)) <= mostReach;
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("offsets within a tile reach {} elements; at most {} fit",
                            std::max(columnReach(p, s), queryReach(p)), mostReach);
       }},
      {"columnRange", 0,
       [](const Problem &p, const Schedule &, const Target &) {
         return op(p).skv <= largestColumns;
       },
       [](const Problem &p, const Schedule &, const Target &) {
         return fmt::format("skv={}; positions of columns reach {}", op(p).skv, largestColumns);
       }},
  };
}

// ---- Paths and pipeline ----

enum class Which { k, v };
template <Which which> const GemmSchedule::Operand &operand(const Schedule &s) {
  return which == Which::k ? of(s).k : of(s).v;
}

template <Which which> bool vectorHolds(const Problem &p, const Schedule &s, const Target &t) {
  const auto &decided = operand<which>(s);
  switch (decided.path) {
  case OperandPath::registers:
    return decided.vectorBytes == 16 && bitWidth(op(p).kvType) == 16;
  case OperandPath::direct:
    return decided.vectorBytes == 4 || (decided.vectorBytes == 16 && t.directToLds16);
  case OperandPath::lds:
    return decided.vectorBytes == 8 || decided.vectorBytes == 16;
  }
  return false;
}

template <Which which> std::string vectorFact(const Problem &, const Schedule &s, const Target &) {
  return fmt::format(
      "{} bytes a lane and load; 16-bit fragments are loaded with 16, LDS takes 8 and 16 "
      "from registers, 4 and 16 directly",
      operand<which>(s).vectorBytes);
}

bool anyDirect(const Schedule &s) {
  return of(s).k.path == OperandPath::direct || of(s).v.path == OperandPath::direct;
}
bool allDirect(const Schedule &s) {
  return of(s).k.path == OperandPath::direct && of(s).v.path == OperandPath::direct;
}

/// What doesn't concern the schedule keeps its default, so that equal kernels have one text.
bool stagesHold(const Problem &, const Schedule &s, const Target &) {
  return anyDirect(s) || of(s).rowWaves > 1
             ? of(s).pipeline.stages >= 2
             : of(s).pipeline.stages == AttentionSchedule().pipeline.stages;
}

bool prefetchHolds(const Problem &, const Schedule &s, const Target &) {
  const auto &pipeline = of(s).pipeline;
  if (allDirect(s) || of(s).rowWaves > 1) {
    return pipeline.prefetch == AttentionSchedule().pipeline.prefetch;
  }
  // Loads of one step are issued together, so that every wait counts the same from the first step.
  return anyDirect(s) ? pipeline.prefetch == pipeline.stages - 1 : pipeline.prefetch <= 2;
}

int loadsInFlight(const Problem &p, const Schedule &s) {
  const auto in = [&](TileOperand which) {
    const KvTile tile = kvTile(op(p), of(s), which);
    return tile.pieces * (tile.layout.path == OperandPath::direct ? of(s).pipeline.stages
                                                                  : of(s).pipeline.prefetch + 1);
  };
  return in(TileOperand::k) + (op(p).latent() ? 0 : in(TileOperand::v)); // else v is part of k
}

std::vector<Rule> pipelineRules() {
  return {
      {"vPath", reads({"vPath"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return of(s).v.path != OperandPath::registers;
       },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("v=registers: V is turned by transposing reads of LDS");
       }},
      {"kVector", reads({"kPath", "kVector"}), vectorHolds<Which::k>, vectorFact<Which::k>},
      {"vVector", reads({"vPath", "vVector"}), vectorHolds<Which::v>, vectorFact<Which::v>},
      {"kLayout", reads({"kPath", "kLayout"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return of(s).k.path != OperandPath::registers ||
                of(s).k.layout == AttentionSchedule().k.layout;
       },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("k=registers has no LDS to lay out");
       }},
      // Chunks of 256 bytes: no granule of 16 bytes is moved whole.
      {"kSwizzle", reads({"kPath", "kLayout", "kVector"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return of(s).k.path != OperandPath::direct || of(s).k.vectorBytes == 16 ||
                of(s).k.layout == LdsLayout::plain;
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format("direct loads of {} bytes keep LDS plain", of(s).k.vectorBytes);
       }},
      {"vSwizzle", reads({"vPath", "vLayout", "vVector"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return of(s).v.path != OperandPath::direct || of(s).v.vectorBytes == 16 ||
                of(s).v.layout == LdsLayout::plain;
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format("direct loads of {} bytes keep LDS plain", of(s).v.vectorBytes);
       }},
      {"sharedKeys", reads({"kPath", "rowWaves"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return of(s).rowWaves == 1 || of(s).k.path != OperandPath::registers;
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format("k=registers with rowwaves={}: what waves share goes through LDS",
                            of(s).rowWaves);
       }},
      {"latentTile",
       reads({"kPath", "vPath", "kLayout", "vLayout", "kVector", "vVector", "rowWaves"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return !op(p).latent() || (of(s).rowWaves > 1 && of(s).k == of(s).v);
       },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("v of latent attention is read from k's tile in LDS: the same path, "
                            "layout and width, and rowwaves above 1");
       }},
      {"stages", reads({"kPath", "vPath", "stages", "rowWaves"}), stagesHold,
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format("stages={}; direct loads need 2 or more, without them it stays {}",
                            of(s).pipeline.stages, AttentionSchedule().pipeline.stages);
       }},
      {"prefetch", reads({"kPath", "vPath", "stages", "prefetch", "rowWaves"}), prefetchHolds,
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format("prefetch={} with stages={}: up to 2 without direct loads, stages - 1 "
                            "beside them, {} where all are direct",
                            of(s).pipeline.prefetch, of(s).pipeline.stages,
                            AttentionSchedule().pipeline.prefetch);
       }},
      {"combine", reads({"splitKV", "combine"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return of(s).split.kv > 1 || of(s).split.combine == Combine::launch;
       },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("combine=last without splits");
       }},
      {"pendingLast", reads({"combine"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return of(s).split.combine == Combine::launch;
       },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("combine=last: not supported yet");
       }},
      {"loadsInFlight",
       reads({"columns", "mfmaM", "mfmaK", "kPath", "vPath", "kVector", "vVector", "stages",
              "prefetch", "rowWaves"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return loadsInFlight(p, s) <= t.maxVmcnt;
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fmt::format("{} loads of a wave in flight; the wait counter holds {}",
                            loadsInFlight(p, s), t.maxVmcnt);
       }},
  };
}

// ---- LDS and registers ----

LaunchPlan mainLaunch(const Problem &p, const Schedule &s, const Target &t) {
  return makePlan(p, s, t).launches[0];
}

/// Waves per SIMD that a workgroup needs to be resident, and that its registers allow.
struct Occupancies {
  int needed = 0, allowed = 0;
};
Occupancies occupancies(const Problem &p, const Schedule &s, const Target &t) {
  const RegisterUse use = mainLaunch(p, s, t).registers;
  return {(of(s).waves + t.simdsPerCu - 1) / t.simdsPerCu,
          occupancyByRegisters(t, use.vgpr(), use.agpr())};
}

std::vector<Rule> capacityRules() {
  return {
      {"ldsCapacity",
       reads({"rows", "columns", "waves", "kPath", "vPath", "kLayout", "vLayout", "kVector",
              "vVector", "stages", "rowWaves"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return attentionLds(op(p), of(s)).bytes() <= t.ldsBytes;
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fmt::format("LDS {} > {} bytes", attentionLds(op(p), of(s)).bytes(), t.ldsBytes);
       }},
      {"registers",
       reads({"rows", "columns", "waves", "mfmaM", "mfmaN", "mfmaK", "kPath", "vPath", "kVector",
              "vVector", "prefetch", "rowWaves"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return fits(mainLaunch(p, s, t).registers, of(s).waves, t);
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         return registerShortage(mainLaunch(p, s, t).registers, of(s).waves, t);
       }},
      {"occupancy",
       reads({"rows", "columns", "waves", "mfmaM", "mfmaN", "mfmaK", "kPath", "vPath", "kVector",
              "vVector", "prefetch", "wavesPerSimd", "rowWaves"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         const int asked = of(s).pipeline.wavesPerSimd;
         const Occupancies range = occupancies(p, s, t);
         return asked == 0 || (range.needed <= asked && asked <= range.allowed);
       },
       [](const Problem &p, const Schedule &s, const Target &t) {
         const Occupancies range = occupancies(p, s, t);
         return fmt::format("{} waves per SIMD asked for; a workgroup needs {}, registers allow {}",
                            of(s).pipeline.wavesPerSimd, range.needed, range.allowed);
       }},
  };
}

std::vector<Rule> makeRules() {
  std::vector<Rule> all = supportRules();
  for (auto part : {tilingRules, pipelineRules, capacityRules}) {
    const std::vector<Rule> rules = part();
    all.insert(all.end(), rules.begin(), rules.end());
  }
  // Rules of the problem alone come first.
  std::stable_partition(all.begin(), all.end(), [](const Rule &rule) { return rule.reads == 0; });
  return all;
}

} // namespace

std::span<const Rule> attentionRules() {
  static const std::vector<Rule> all = makeRules();
  return all;
}

} // namespace kw
