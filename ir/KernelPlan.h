// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The hinge: what a (Problem, Schedule, Target) becomes. The cost model, codegen, the validator's
// sampling and the launch manifest all read it, so that none of them interprets a Schedule again.
// `makePlan` is called once per estimate and allocates nothing; graphs are built on demand by
// `loopGraph` and memoised by `Region::loop`. Checked on paper against every family: README.md.
#pragma once

#include "ir/CodeObject.h"
#include "ir/LoopGraph.h"
#include "ir/Problem.h"
#include "ir/Schedule.h"
#include "ir/Target.h"
#include "ir/WorkgroupMapping.h"

#include <boost/container/static_vector.hpp>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

template <typename T, std::size_t N> using Inline = boost::container::static_vector<T, N>;

/// A buffer of the kernel. Operands carry the name of the problem's tensor; workspaces their own.
struct PlanBuffer {
  std::string_view name;
  BufferRole role = BufferRole::input;
  std::int64_t bytes = 0;
  bool zeroedBefore = false; ///< must hold zeros before the first launch
  bool resetAfter = false;   ///< holds zeros again after the last launch (semaphores)
};

enum class RegionKind : std::uint8_t {
  prologue, ///< once, before the loop: first loads, accumulator start
  mainLoop, ///< the steady state
  tailStep, ///< the last step where it is masked
  diagonal, ///< masked steps of a causal mask
  softmax,
  reduction, ///< across waves, lanes or workgroups
  epilogue,  ///< conversion and stores
};

/// Identity of a region's LoopGraph within (problem, target): equal values have equal graphs.
using LoopKey = std::uint64_t;

struct Region {
  RegionKind kind = RegionKind::mainLoop;
  /// Which waves: 0 all; of a ping-pong schedule 1 the group that leads, 2 the one that follows.
  std::uint8_t role = 0;
  LoopKey loop = 0;
};

/// Workgroups that do the same work: interior, edge along m, corner, last split, ... Of a
/// persistent grid, where a workgroup does several pieces of work one after the other: these
/// pieces. Of a stream-K grid the pieces that are parts of tiles have mean trips, whose sum is
/// exact.
struct WorkgroupKind {
  std::string_view name;
  std::int64_t count = 0;
  /// Trip count per entry of `LaunchPlan::regions`.
  Inline<std::int32_t, 8> trips;
  /// Rows and columns of the output tile that are inside the result.
  std::int32_t usefulM = 0, usefulN = 0;
};

/// One operand's traffic by one workgroup and trip of the main loop; edges and reuse between
/// workgroups follow from `mapping`.
struct TileTraffic {
  TileOperand operand = TileOperand::none;
  bool write = false;
  std::int32_t rows = 0;        ///< of the tile, in the outer storage dimension
  std::int64_t bytesPerRow = 0; ///< contiguous
  std::int32_t vectorBytes = 0; ///< per lane and instruction
  std::int64_t pitchBytes = 0;  ///< from row to row in memory
  bool perTrip = true;          ///< false: once per workgroup
  /// Which tile coordinate selects the tile: workgroups that agree in it share the bytes.
  bool byTileM = false, byTileN = false;
  std::int32_t shareN = 1; ///< consecutive tiles n that share the bytes, if byTileN
  bool byBatch = true;     ///< false: the same tile for every entry of the batch
  bool alongTrips = false; ///< a new tile each trip
  /// Different bytes of the whole launch where the tiles' coordinates don't tell; 0: they do.
  std::int64_t launchBytes = 0;
};

struct LdsBuffer {
  TileOperand operand = TileOperand::none;
  std::int32_t bytesPerStage = 0;
  std::int8_t stages = 1;
  std::int32_t rowBytes = 0; ///< pitch in LDS, padding included
  bool swizzled = false;
};

/// Expected registers of one wave; the rule against spills and the occupancy read them.
struct RegisterUse {
  int accumulators = 0;
  int fragments = 0; ///< matrix operands read from LDS
  int staging = 0;   ///< global loads in flight to registers
  int addresses = 0; ///< offsets, pointers, loop state
  bool accumulatorsInAgpr = false;

  int vgpr() const {
    return fragments + staging + addresses + (accumulatorsInAgpr ? 0 : accumulators);
  }
  int agpr() const { return accumulatorsInAgpr ? accumulators : 0; }
};

struct LaunchPlan {
  std::string_view role; ///< "main", "combine", ...: part of the kernel's name
  int waves = 0;         ///< per workgroup
  std::int64_t workgroups = 0;
  std::int32_t tileM = 0, tileN = 0; ///< output tile of a workgroup (rmsnorm: rows, cols)
  Inline<WorkgroupKind, 14> kinds;
  Inline<Region, 8> regions;
  Inline<TileTraffic, 12> traffic;
  Inline<LdsBuffer, 8> lds;
  std::int32_t ldsBytes = 0; ///< per workgroup, all stages
  RegisterUse registers;
  int occupancy = 0; ///< waves per SIMD by registers, LDS and limits
  WorkgroupMapping mapping;
};

struct KernelPlan {
  Inline<PlanBuffer, 12> buffers;
  Inline<LaunchPlan, 3> launches;
};

/// The schedule need not be legal: rules are predicates over plans (LDS, registers), so this never
/// fails for values that the parser accepts. Divisions by impossible tiles round up.
KernelPlan makePlan(const Problem &problem, const Schedule &schedule, const Target &target);

/// The dependence graph of one region, scheduled. Legal schedules only.
LoopGraph loopGraph(const Problem &problem, const Schedule &schedule, const Target &target,
                    const LaunchPlan &launch, const Region &region);
/// Its totals alone: what the cost model reads, without building the graph.
LoopTotals loopTotals(const Problem &problem, const Schedule &schedule, const Target &target,
                      const LaunchPlan &launch, const Region &region);

/// An argument of a kernel as the compiled code expects it; offsets follow natural alignment.
struct KernelArgument {
  enum class Kind { pointer, i32, i64, f32 };
  std::string name; ///< of the buffer, or of the run-time size ("m", "lda", ...)
  Kind kind = Kind::pointer;
  int offset = 0;
};

/// How a launch depends on run-time sizes, as text that C++ (ir/Expression.h) and the Python loader
/// evaluate alike.
struct LaunchInterface {
  std::string kernel;            ///< symbol
  std::vector<std::string> grid; ///< three expressions, workgroups
  std::array<std::uint32_t, 3> block{1, 1, 1};
  std::vector<KernelArgument> arguments;
  std::int64_t kernargBytes = 0;
};

/// A buffer that the caller provides beside the tensors.
struct WorkspaceInterface {
  std::string name;
  std::string bytes;         ///< expression of the run-time sizes
  bool zeroedBefore = false; ///< as of PlanBuffer
  bool resetAfter = false;
};

struct KernelInterface {
  std::vector<LaunchInterface> launches;
  std::vector<WorkspaceInterface> workspaces;
  /// Run-time sizes and strides that guards, grids and arguments may name.
  std::vector<std::string> sizes;
  /// Conditions on them under which the kernel is right: "m >= 1", "lda % 8 == 0", ...
  std::vector<std::string> guards;
};
KernelInterface kernelInterface(const Problem &problem, const Schedule &schedule,
                                const Target &target);

/// Values of the run-time sizes of a problem, by the names in `KernelInterface::sizes`.
std::vector<std::pair<std::string, std::int64_t>> runtimeSizes(const Problem &problem);

/// Manifest for this problem: buffers with shapes, launches with evaluated grids and arguments.
Manifest makeManifest(const Problem &problem, const Schedule &schedule, const Target &target,
                      std::string codeObjectFile);

/// Name of the code object and prefix of its kernels: readable, unique per compiled part.
std::string kernelName(const Problem &problem, const Schedule &schedule);

} // namespace kw
