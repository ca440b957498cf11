// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Decision.h"

#include "ir/support/TextList.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <type_traits>
#include <vector>

namespace kw {
namespace {

// Defaults live in ir/Schedule.h; ranges are what the parser accepts, rules narrow them down.

constexpr std::array<std::string_view, 3> pathNames{"lds", "direct", "registers"};
constexpr std::array<std::string_view, 3> layoutNames{"plain", "swizzle", "padding"};
constexpr std::array<std::string_view, 2> accumulatorNames{"vgpr", "agpr"};
constexpr std::array<std::string_view, 4> epilogueNames{"direct", "swap", "permlane", "lds"};
constexpr std::array<std::string_view, 3> orderNames{"serial", "interleaved", "pingpong"};
constexpr std::array<std::string_view, 2> reductionNames{"ordered", "atomic"};
constexpr std::array<std::string_view, 2> combineNames{"launch", "last"};
constexpr std::array<std::string_view, 3> gridNames{"tiles", "persistent", "streamk"};

/// A row for the field of `Alternative` that `field` refers to.
template <typename Alternative, auto field>
Decision numbered(std::string_view name, std::string_view key, std::string_view meaning,
                  std::int64_t lowest, std::int64_t highest) {
  return {name,
          key,
          meaning,
          [](const Schedule &schedule) {
            return static_cast<std::int64_t>(field(std::get<Alternative>(schedule)));
          },
          [](Schedule &schedule, std::int64_t value) {
            auto &place = field(std::get<Alternative>(schedule));
            place = static_cast<std::remove_reference_t<decltype(place)>>(value);
          },
          {},
          lowest,
          highest};
}

template <typename Alternative, auto field, std::size_t count>
Decision named(std::string_view name, std::string_view key, std::string_view meaning,
               const std::array<std::string_view, count> &names) {
  Decision row = numbered<Alternative, field>(name, key, meaning, 0, count - 1);
  row.names = names;
  return row;
}

using G = GemmSchedule;
using R = RmsNormSchedule;
using T = TritonGemmSchedule;
using A = AttentionSchedule;
using M = GroupedGemmSchedule;
using K = TopKSchedule;

#define KW_FIELD(Alternative, member)                                                              \
  Alternative, [](auto &schedule) -> auto & { return schedule.member; }

/// The product's decisions of a schedule that has or is one.
template <typename S> auto &productOf(S &schedule) {
  if constexpr (std::is_same_v<std::remove_const_t<S>, M>) {
    return schedule.gemm;
  } else {
    return schedule;
  }
}

#define KW_PRODUCT_FIELD(Alternative, member)                                                      \
  Alternative, [](auto &schedule) -> auto & { return productOf(schedule).member; }

template <typename Alternative> std::vector<Decision> productDecisions() {
  return {
      numbered<KW_PRODUCT_FIELD(Alternative, tiling.m)>("tileM", "tile", "rows of C a workgroup", 1,
                                                        4096),
      numbered<KW_PRODUCT_FIELD(Alternative, tiling.n)>(
          "tileN", "tile", "columns of the product a workgroup", 1, 4096),
      numbered<KW_PRODUCT_FIELD(Alternative, tiling.k)>("tileK", "tile", "elements of k a step", 1,
                                                        4096),
      numbered<KW_PRODUCT_FIELD(Alternative, tiling.wavesM)>("wavesM", "waves", "waves along m", 1,
                                                             16),
      numbered<KW_PRODUCT_FIELD(Alternative, tiling.wavesN)>("wavesN", "waves", "waves along n", 1,
                                                             16),
      numbered<KW_PRODUCT_FIELD(Alternative, tiling.mfmaM)>(
          "mfmaM", "mfma", "rows of the matrix instruction", 1, 64),
      numbered<KW_PRODUCT_FIELD(Alternative, tiling.mfmaN)>(
          "mfmaN", "mfma", "columns of the matrix instruction", 1, 64),
      numbered<KW_PRODUCT_FIELD(Alternative, tiling.mfmaK)>("mfmaK", "mfma",
                                                            "k of the matrix instruction", 1, 256),
      named<KW_PRODUCT_FIELD(Alternative, a.path)>("aPath", "a", "how A reaches LDS", pathNames),
      named<KW_PRODUCT_FIELD(Alternative, b.path)>("bPath", "b", "how B reaches LDS", pathNames),
      named<KW_PRODUCT_FIELD(Alternative, a.layout)>("aLayout", "la", "LDS layout of A",
                                                     layoutNames),
      named<KW_PRODUCT_FIELD(Alternative, b.layout)>("bLayout", "lb", "LDS layout of B",
                                                     layoutNames),
      numbered<KW_PRODUCT_FIELD(Alternative, a.vectorBytes)>("aVector", "va",
                                                             "bytes a lane and load of A", 1, 16),
      numbered<KW_PRODUCT_FIELD(Alternative, b.vectorBytes)>("bVector", "vb",
                                                             "bytes a lane and load of B", 1, 16),
      named<KW_PRODUCT_FIELD(Alternative, accumulator)>("accumulator", "acc", "registers of C",
                                                        accumulatorNames),
      named<KW_PRODUCT_FIELD(Alternative, epilogue)>("epilogue", "epi",
                                                     "how C leaves the registers", epilogueNames),
      numbered<KW_PRODUCT_FIELD(Alternative, pipeline.stages)>("stages", "stages", "LDS buffers", 1,
                                                               8),
      numbered<KW_PRODUCT_FIELD(Alternative, pipeline.prefetch)>(
          "prefetch", "prefetch", "steps from global load to use", 0, 8),
      named<KW_PRODUCT_FIELD(Alternative, pipeline.order)>(
          "order", "schedule", "order of a step's operations", orderNames),
      numbered<KW_PRODUCT_FIELD(Alternative, mapping.xcdRemap)>(
          "xcdRemap", "xcd", "1: consecutive tiles on one XCD", 0, 1),
      numbered<KW_PRODUCT_FIELD(Alternative, mapping.groupM)>(
          "groupM", "group", "rows of tiles walked together; 0: row-major", 0, 1024),
      numbered<KW_PRODUCT_FIELD(Alternative, tiling.wavesK)>("wavesK", "slicek",
                                                             "waves that share a K step", 1, 16),
      numbered<KW_PRODUCT_FIELD(Alternative, split.k)>(
          "splitK", "splitk", "workgroups an output tile, along k", 1, 256),
      named<KW_PRODUCT_FIELD(Alternative, split.reduce)>("reduce", "reduce", "how splits add up",
                                                         reductionNames),
      numbered<KW_PRODUCT_FIELD(Alternative, pipeline.fragmentsAhead)>(
          "fragmentsAhead", "fragments", "slices read from LDS a step ahead", 0, 8),
      numbered<KW_PRODUCT_FIELD(Alternative, pipeline.quadrants)>(
          "quadrants", "quad", "1: LDS stages in halves of the tile", 0, 1),
      numbered<KW_PRODUCT_FIELD(Alternative, pipeline.priority)>(
          "priority", "prio", "1: raised while matrix instructions are issued", 0, 1),
      numbered<KW_PRODUCT_FIELD(Alternative, pipeline.wavesPerSimd)>(
          "wavesPerSimd", "occupancy",
          "waves per SIMD asked of the register "
          "allocator; 0: its own choice",
          0, 8),
      named<KW_PRODUCT_FIELD(Alternative, mapping.grid)>("grid", "grid",
                                                         "what a workgroup walks over", gridNames),
  };
}

#undef KW_PRODUCT_FIELD

std::span<const Decision> gemmDecisions() {
  static const std::vector<Decision> all = productDecisions<G>();
  return all;
}

std::span<const Decision> rmsNormDecisions() {
  static const auto all = std::to_array<Decision>({
      numbered<KW_FIELD(R, wavesPerRow)>("wavesPerRow", "waves", "waves a row", 1, 16),
      numbered<KW_FIELD(R, rowsPerWorkgroup)>("rowsPerWorkgroup", "rows",
                                              "rows a workgroup at the same time", 1, 16),
      numbered<KW_FIELD(R, vectorBytes)>("vector", "vec", "bytes of x a lane and load", 1, 16),
      numbered<KW_FIELD(R, passes)>("passes", "passes",
                                    "1: the row stays in registers; 2: it is read again", 1, 2),
      numbered<KW_FIELD(R, wavesPerSimd)>("wavesPerSimd", "occupancy",
                                          "waves per SIMD asked of the register allocator; 0: its "
                                          "own choice",
                                          0, 8),
  });
  return all;
}

/// Keys as Inductor spells them, in the order of its rows.
std::span<const Decision> tritonGemmDecisions() {
  static const auto all = std::to_array<Decision>({
      numbered<KW_FIELD(T, blockM)>("blockM", "BLOCK_M", "rows of C a workgroup", 1, 4096),
      numbered<KW_FIELD(T, blockN)>("blockN", "BLOCK_N", "columns of C a workgroup", 1, 4096),
      numbered<KW_FIELD(T, blockK)>("blockK", "BLOCK_K", "elements of k a step", 1, 4096),
      numbered<KW_FIELD(T, groupM)>("groupM", "GROUP_M", "rows of tiles walked together", 1, 1024),
      numbered<KW_FIELD(T, numWarps)>("numWarps", "num_warps", "waves a workgroup", 1, 64),
      numbered<KW_FIELD(T, numStages)>("numStages", "num_stages",
                                       "depth of Triton's pipeline; 1: none", 1, 8),
      numbered<KW_FIELD(T, matrixInstrNonKDim)>(
          "matrixInstrNonKDim", "matrix_instr_nonkdim",
          "m and n of the matrix instruction; 0: Triton's choice", 0, 64),
      numbered<KW_FIELD(T, wavesPerEu)>(
          "wavesPerEu", "waves_per_eu",
          "waves per SIMD asked of the register allocator; 0: its own choice", 0, 8),
      numbered<KW_FIELD(T, kpack)>("kpack", "kpack", "k packs a fragment", 1, 2),
  });
  return all;
}

std::span<const Decision> attentionDecisions() {
  static const auto all = std::to_array<Decision>({
      numbered<KW_FIELD(A, tiling.rows)>("rows", "tile", "packed query rows a workgroup", 1, 256),
      numbered<KW_FIELD(A, tiling.columns)>("columns", "tile", "columns of k and v a wave and step",
                                            1, 256),
      numbered<KW_FIELD(A, waves)>("waves", "waves", "waves, each with its own columns", 1, 16),
      numbered<KW_FIELD(A, tiling.mfmaM)>("mfmaM", "mfma", "rows of the matrix instruction", 1, 64),
      numbered<KW_FIELD(A, tiling.mfmaN)>("mfmaN", "mfma", "columns of the matrix instruction", 1,
                                          64),
      numbered<KW_FIELD(A, tiling.mfmaK)>("mfmaK", "mfma", "k of the matrix instruction", 1, 256),
      named<KW_FIELD(A, k.path)>("kPath", "k", "how K reaches the matrix instruction", pathNames),
      named<KW_FIELD(A, v.path)>("vPath", "v", "how V reaches the matrix instruction", pathNames),
      named<KW_FIELD(A, k.layout)>("kLayout", "lk", "LDS layout of K", layoutNames),
      named<KW_FIELD(A, v.layout)>("vLayout", "lv", "LDS layout of V", layoutNames),
      numbered<KW_FIELD(A, k.vectorBytes)>("kVector", "vk", "bytes a lane and load of K", 1, 16),
      numbered<KW_FIELD(A, v.vectorBytes)>("vVector", "vv", "bytes a lane and load of V", 1, 16),
      numbered<KW_FIELD(A, pipeline.stages)>("stages", "stages",
                                             "LDS buffers of operands on the direct path", 1, 8),
      numbered<KW_FIELD(A, pipeline.prefetch)>(
          "prefetch", "prefetch", "steps between load and use on the other paths", 0, 8),
      numbered<KW_FIELD(A, split.kv)>("splitKV", "splitkv",
                                      "workgroups an output tile, along the columns", 1, 256),
      named<KW_FIELD(A, split.combine)>("combine", "combine", "who puts splits together",
                                        combineNames),
      numbered<KW_FIELD(A, xcdRemap)>("xcdRemap", "xcd",
                                      "1: workgroups that share k and v to one XCD", 0, 1),
      numbered<KW_FIELD(A, pipeline.wavesPerSimd)>("wavesPerSimd", "occupancy",
                                                   "waves per SIMD asked of the register "
                                                   "allocator; 0: its own choice",
                                                   0, 8),
      numbered<KW_FIELD(A, rowWaves)>("rowWaves", "rowwaves",
                                      "of the waves, those that divide the rows", 1, 16),
      numbered<KW_FIELD(A, lazyRescale)>(
          "lazyRescale", "lazy", "1: results are rescaled where a maximum rose by 2^8 alone", 0, 1),
  });
  return all;
}

/// No split of k between workgroups, no atomic sums.
std::span<const Decision> groupedGemmDecisions() {
  static const std::vector<Decision> all = [] {
    std::vector<Decision> rows = productDecisions<M>();
    std::erase_if(rows,
                  [](const Decision &row) { return row.name == "splitK" || row.name == "reduce"; });
    return rows;
  }();
  return all;
}

std::span<const Decision> topKDecisions() {
  static const auto all = std::to_array<Decision>({
      numbered<KW_FIELD(K, wavesPerRow)>("wavesPerRow", "waves", "waves a row", 1, 16),
      numbered<KW_FIELD(K, rowsPerWorkgroup)>("rowsPerWorkgroup", "rows",
                                              "rows a workgroup at the same time", 1, 16),
      numbered<KW_FIELD(K, vectorBytes)>("vector", "vec", "bytes of x a lane and load", 1, 16),
      numbered<KW_FIELD(K, prefetch)>("prefetch", "prefetch", "loads in flight before use", 0, 16),
  });
  return all;
}

#undef KW_FIELD

} // namespace

std::string Decision::format(std::int64_t value) const {
  if (names.empty()) {
    return std::to_string(value);
  }
  assert(value >= 0 && static_cast<std::size_t>(value) < names.size());
  return std::string(names[static_cast<std::size_t>(value)]);
}

std::optional<std::int64_t> Decision::parse(std::string_view text) const {
  if (!names.empty()) {
    const auto at = std::ranges::find(names, text);
    return at == names.end() ? std::nullopt : std::optional<std::int64_t>(at - names.begin());
  }
  const auto number = parseInteger(text);
  return number && *number >= lowest && *number <= highest ? number : std::nullopt;
}

std::span<const Decision> decisions(ScheduleKind kind) {
  // In the order of the alternatives.
  static const std::array<std::span<const Decision>, std::variant_size_v<Schedule>> tables{
      gemmDecisions(),      rmsNormDecisions(),     tritonGemmDecisions(),
      attentionDecisions(), groupedGemmDecisions(), topKDecisions()};
  const std::span<const Decision> all = tables[indexOf(kind)];
  assert(all.size() <= 64 && "DecisionMask has 64 bits");
  return all;
}

DecisionMask maskOf(ScheduleKind kind, std::initializer_list<std::string_view> names) {
  DecisionMask mask = 0;
  const std::span<const Decision> all = decisions(kind);
  for (std::string_view name : names) {
    const auto at = std::ranges::find(all, name, &Decision::name);
    assert(at != all.end() && "no decision of that name");
    mask |= DecisionMask(1) << (at - all.begin());
  }
  return mask;
}

Schedule defaultSchedule(ScheduleKind kind) {
  // In the order of the alternatives.
  static const std::array<Schedule, std::variant_size_v<Schedule>> defaults{
      GemmSchedule(),      RmsNormSchedule(),     TritonGemmSchedule(),
      AttentionSchedule(), GroupedGemmSchedule(), TopKSchedule()};
  return defaults[indexOf(kind)];
}

Family familyOf(const Schedule &schedule) { return kindOf(schedule).family; }

} // namespace kw
