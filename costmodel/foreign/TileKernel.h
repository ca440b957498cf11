// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the records of all foreign generators come down to: a kernel whose workgroups each compute
// an output tile in steps along k. nullopt: unknown; TilePlan.h marginalises it or takes the best,
// and says which. Nothing unknown is filled in here.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace kw {

/// How the K steps of a kernel follow each other.
enum class TilePipeline : std::uint8_t {
  serial,     ///< loads of the next step are under way, all else of a step is in order
  overlapped, ///< LDS reads and matrix instructions of neighbouring steps are woven
};

/// How workgroups that share an output tile add up.
enum class TileReduction : std::uint8_t {
  atomic, ///< atomics on a result that is zeroed first
  last,   ///< partial sums in a workspace, added by the last workgroup to arrive
  launch, ///< partial sums in a workspace, added by a second launch
};

struct TileKernel {
  // Tiling.
  std::optional<int> tileM, tileN, tileK;    ///< k in elements
  std::optional<int> waves;                  ///< of a workgroup
  std::optional<int> wavesM, wavesN, wavesK; ///< their product is `waves` where all are known
  std::optional<int> mfmaM;                  ///< m = n of the matrix instruction: 16 or 32
  std::optional<int> mfmaK;                  ///< its k; unknown: of the fastest instruction
  /// Most bytes of an operand that an instruction takes of a lane.
  std::optional<int> operandBytes;
  // Movement.
  std::optional<bool> bInRegisters; ///< b goes from memory to registers, not through LDS
  std::optional<bool> direct;       ///< loads go straight to LDS
  std::optional<TilePipeline> pipeline;
  std::optional<int> stages;   ///< LDS buffers
  std::optional<int> prefetch; ///< steps from a global load to its use
  std::optional<int> workgroupsPerCu;
  /// A step's operands are in registers at once; what `workgroupsPerCu` leaves no room for is
  /// spilled.
  bool wholeSteps = false;
  bool fewResident = false; ///< workgroupsPerCu unknown, but what registers allow isn't reached
  // Mapping.
  std::optional<int> splitK;
  std::optional<TileReduction> reduction;
  bool streamK = false;    ///< the grid follows the number of CUs, pieces of tiles are added up
  bool persistent = false; ///< a workgroup takes tile after tile
  /// A library that picks a kernel for the shape and doesn't tell which: the best of many.
  bool picked = false;

  // What only a fit can weigh.
  std::optional<int> wavesPerEu; ///< asked of the compiler
  std::optional<int> xcdSwizzle, sortedRows;
  bool nonTemporal = false, gateFirst = false, interleavedGate = false, quantised = false;

  std::string variant; ///< kind of kernel within its generator
};

} // namespace kw
