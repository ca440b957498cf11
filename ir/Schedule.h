// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// All decisions of one kernel: tiling, layout, pipelining, mapping; of ours here, those of other
// generators in ir/generators/. Plain values; what they
// mean for a problem on a target is said once, by the KernelPlan (ir/KernelPlan.h). The text form
// `FAMILY.VERSION:key=value,...` is a contract; ir/Decision.h lists keys, values and defaults.
#pragma once

#include "ir/generators/TritonGemm.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

namespace kw {

/// How an operand's tile travels from global memory to the matrix instruction.
enum class OperandPath : std::uint8_t {
  lds,       ///< global -> registers -> LDS -> registers
  direct,    ///< buffer load straight to LDS -> registers
  registers, ///< global -> registers in fragment order, no LDS (preshuffled weights)
};

/// How LDS addresses are kept free of bank conflicts.
enum class LdsLayout : std::uint8_t {
  plain,
  swizzle, ///< XOR of the 16-byte granule within a row with row bits
  padding, ///< 16 bytes after each row (lds path) or each 1 KiB chunk (direct path)
};

enum class AccumulatorFile : std::uint8_t { vgpr, agpr };

/// How results leave the registers.
enum class EpiloguePath : std::uint8_t {
  direct,   ///< as the matrix instruction leaves them
  swap,     ///< operands swapped, so that a lane holds neighbours along n: wider stores
  permlane, ///< swap, then lanes exchange halves: 16-byte stores
  lds,      ///< through LDS into rows: 16-byte stores of whole rows
};

enum class LoopOrder : std::uint8_t {
  serial,      ///< loads, then LDS reads, then matrix instructions
  interleaved, ///< memory operations woven between matrix instructions (modulo schedule)
  pingpong,    ///< two groups of waves half a step apart: one multiplies while the other moves data
};

/// How workgroups that share an output tile (splitK > 1, or a stream-K grid) add up.
enum class Reduction : std::uint8_t {
  ordered, ///< partial sums in a workspace, added in a fixed order: deterministic
  atomic,  ///< f32 atomics
};

/// What a workgroup of the grid walks over.
enum class GridKind : std::uint8_t {
  tiles,      ///< one output tile (and split)
  persistent, ///< as many workgroups as are resident; each takes tile after tile
  streamk,    ///< as many as are resident; each takes an equal share of all K steps of all tiles
};

struct GemmSchedule {
  struct Tiling {
    int m = 128, n = 128, k = 64; ///< workgroupTile
    int wavesM = 2, wavesN = 2;
    int mfmaM = 16, mfmaN = 16, mfmaK = 32;
    int wavesK = 1; ///< slice-K: waves that share an output tile, each with its part of a K step
    bool operator==(const Tiling &) const = default;
  } tiling;
  struct Operand {
    OperandPath path = OperandPath::direct;
    LdsLayout layout = LdsLayout::swizzle;
    int vectorBytes = 16; ///< bytes per lane of one global load
    bool operator==(const Operand &) const = default;
  } a, b;
  AccumulatorFile accumulator = AccumulatorFile::vgpr;
  EpiloguePath epilogue = EpiloguePath::direct;
  struct Pipeline {
    int stages = 2;   ///< LDS buffers
    int prefetch = 1; ///< K steps between global load and use; stages-1, or stages on the lds path
    LoopOrder order = LoopOrder::serial;
    int fragmentsAhead = 0; ///< slices of LDS fragments that are read a step ahead of their use
    bool quadrants = false; ///< LDS stages in halves of the tile, refilled as soon as each is read
    bool priority = false;  ///< raised while a wave issues matrix instructions
    int wavesPerSimd = 0;   ///< occupancy asked of the register allocator; 0: its own choice
    bool operator==(const Pipeline &) const = default;
  } pipeline;
  struct Mapping {
    bool xcdRemap = true; ///< consecutive tiles to one XCD instead of round robin
    int groupM = 8;       ///< rows of tiles that are walked together; 0: row-major
    GridKind grid = GridKind::tiles;
    bool operator==(const Mapping &) const = default;
  } mapping;
  struct Split {
    int k = 1; ///< workgroups that share an output tile, each with its range of K steps
    Reduction reduce = Reduction::ordered;
    bool operator==(const Split &) const = default;
  } split;
  bool operator==(const GemmSchedule &) const = default;

  int waves() const { return tiling.wavesM * tiling.wavesN * tiling.wavesK; }
  int waveTileM() const { return tiling.m / tiling.wavesM; }
  int waveTileN() const { return tiling.n / tiling.wavesN; }
};

struct RmsNormSchedule {
  int wavesPerRow = 1;
  int rowsPerWorkgroup = 4; ///< rows handled at the same time, each by its own waves
  int vectorBytes = 16;     ///< bytes of x per lane and load
  int passes = 1;           ///< 1: the row stays in registers; 2: it is read again
  int wavesPerSimd = 0;     ///< occupancy asked of the register allocator; 0: its own choice
  bool operator==(const RmsNormSchedule &) const = default;

  int waves() const { return wavesPerRow * rowsPerWorkgroup; }
};

/// How the results of splits along the columns of k and v are put together.
enum class Combine : std::uint8_t {
  launch, ///< a second launch
  last,   ///< the last workgroup of an output tile, found by a semaphore
};

/// A workgroup has a tile of query rows and a range of the columns of k and v. In decode its waves
/// take turns at the columns; in prefill (`rowWaves` above 1) they divide the rows and share k and
/// v.
struct AttentionSchedule {
  struct Tiling {
    int rows = 16;    ///< packed query rows a workgroup (Attention::packedRows)
    int columns = 32; ///< columns of k and v (sequence positions) a wave and step
    int mfmaM = 16, mfmaN = 16, mfmaK = 32;
    bool operator==(const Tiling &) const = default;
  } tiling;
  int waves = 4; ///< each has its own columns of a step; together they have waves * columns
  GemmSchedule::Operand k{OperandPath::registers, LdsLayout::swizzle, 16};
  GemmSchedule::Operand v{OperandPath::lds, LdsLayout::swizzle, 16};
  struct Pipeline {
    int stages = 2;       ///< LDS buffers of operands on the direct path
    int prefetch = 1;     ///< steps between global load and use on the other paths
    int wavesPerSimd = 0; ///< occupancy asked of the register allocator; 0: its own choice
    bool operator==(const Pipeline &) const = default;
  } pipeline;
  struct Split {
    int kv = 1; ///< workgroups that share an output tile, each with its range of steps
    Combine combine = Combine::launch;
    bool operator==(const Split &) const = default;
  } split;
  bool xcdRemap = true; ///< workgroups that share k and v to one XCD instead of round robin
  int rowWaves = 1;     ///< of the waves, those that divide the rows; the others divide the columns
  bool lazyRescale = false; ///< results are rescaled where a maximum rose by more than 2^8 alone
  bool operator==(const AttentionSchedule &) const = default;

  /// Waves along the columns of a step.
  int columnWaves() const { return rowWaves > 1 ? (waves + rowWaves - 1) / rowWaves : waves; }
  int stepColumns() const { return columnWaves() * tiling.columns; }
  /// Query rows of one wave.
  int waveRows() const { return (tiling.rows + rowWaves - 1) / rowWaves; }
};

/// The decisions of a GEMM, of which a group's product takes those that are in its table
/// (ir/Decision.cpp); the tiles of all groups make one grid.
struct GroupedGemmSchedule {
  GemmSchedule gemm;
  bool operator==(const GroupedGemmSchedule &) const = default;
};

/// A row is streamed; elements better than the k-th best so far are candidates, which are merged
/// into the sorted best ones whenever there are as many as lanes.
struct TopKSchedule {
  int wavesPerRow = 1;
  int rowsPerWorkgroup = 4; ///< rows handled at the same time, each by its own waves
  int vectorBytes = 16;     ///< of x per lane and load
  int prefetch = 2;         ///< loads in flight before the one that is used
  bool operator==(const TopKSchedule &) const = default;

  int waves() const { return wavesPerRow * rowsPerWorkgroup; }
};

/// Whose each is: ir/Generator.h, whose table has the same order.
using Schedule = std::variant<GemmSchedule, RmsNormSchedule, TritonGemmSchedule, AttentionSchedule,
                              GroupedGemmSchedule, TopKSchedule>;

/// One word, e.g. `gemm.1:tile=256x256x64,waves=2x4`. Errors name the key and what is accepted.
Expected<Schedule> parseSchedule(std::string_view text);
/// Canonical: fixed order, defaults omitted. print(parse(s)) == s for canonical s.
std::string print(const Schedule &schedule);

} // namespace kw
