// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps along k of a GEMM: visits the scheduled operations of a region for one iteration after
// the other. What an iteration leaves for a later one (loads in flight, fragments read ahead) is in
// a map keyed by the step it is for, so that any software pipeline the plan describes comes out
// right, straight or as a loop.
#pragma once

#include "codegen/kernels/OperandAccess.h"
#include "ir/LoopGraph.h"

#include <array>
#include <map>
#include <vector>

namespace kw {

struct GemmShape {
  std::int64_t steps = 0;      ///< along k
  std::int64_t leastSteps = 0; ///< that exist in every workgroup; the others may load nothing
  mlir::Value firstK;          ///< i32: k of step 0; null: 0
  mlir::Value presentSteps;    ///< i32: that exist in this one; null: all
  bool endsThere = false;      ///< behind the present steps, at least one; else all `steps` run
  std::int64_t firstSize = 0;  ///< k elements of k's first step; the others have tileK
  /// i32, where k's first step is short and step 0 may be another one: k of step 0 and its
  /// elements; null: k's first step.
  mlir::Value beginOfFirst, sizeOfFirst;
  int tileK = 0;
  int stages = 1;
  int rows = 0, columns = 0; ///< fragments of the wave's tile along m and n
  std::array<std::int32_t, 3> mfma{};
  bool swapped = false; ///< b is the instruction's first operand
  bool agpr = false;
  ElementType accumulator = ElementType::f32;
  int accumulatorElements = 0; ///< per lane and fragment
};

class GemmSteps {
public:
  GemmSteps(KernelShell &shell, const GemmShape &shape, OperandAccess &a, OperandAccess &b);

  /// Operations of the prologue: `ahead` is the step they work for.
  void prologue(const LoopGraph &region);
  /// All steps: some peeled in front, so that the rest fills whole trips of a loop over all stages.
  void run(const LoopGraph &body);
  /// Of all fragments, row by row, after `run`.
  const std::vector<mlir::Value> &all() const { return accumulators; }

private:
  /// Iteration `first + steps done by the loop`; nothing is dynamic outside the loop.
  struct Iteration {
    std::int64_t first = 0;
    std::int64_t last = 0; ///< largest number it can have
    mlir::Value done;      ///< null outside the loop
  };
  struct LoadKey {
    std::int64_t step;
    TileOperand operand;
    int piece;
    auto operator<=>(const LoadKey &) const = default;
  };
  struct FragmentKey {
    std::int64_t step;
    TileOperand operand;
    int row, slice;
    auto operator<=>(const FragmentKey &) const = default;
  };

  void emit(const LoopGraph &body, const Iteration &iteration);
  void emitStep(const LoopGraph &body, const Iteration &iteration);
  void emit(const TileOp &op, const Iteration &iteration);
  void emitMatrix(const TileOp &op, std::int64_t step);
  void runPresent(const LoopGraph &body);
  void loop(const LoopGraph &body, std::int64_t first, std::int64_t trips, mlir::Block *after);
  /// Goes on in a new block where step `step` exists; else to `after` with the accumulators.
  void leaveUnless(mlir::Value step, mlir::Block *after);
  bool hasShortFirst() const { return shape.firstSize != shape.tileK; }
  bool loadsOwnStep(const LoopGraph &body) const;
  std::int64_t peeledSteps(const LoopGraph &body) const;
  const StepSource &source(TileOperand operand, std::int64_t step, const Iteration &iteration);
  StepSource fixedSource(OperandAccess &access, std::int64_t step);
  StepSource loopSource(OperandAccess &access, std::int64_t step, const Iteration &iteration);
  /// k from the workgroup's first one on.
  mlir::Value placed(mlir::Value k) { return shape.firstK ? tiles.add(shape.firstK, k) : k; }
  /// Nothing for steps that don't exist: an empty buffer and offset 0.
  StepSource whereExists(mlir::Value step, OperandAccess &access, mlir::Value scalar);
  void startAccumulators(bool constantZero);
  OperandAccess &access(TileOperand operand) { return operand == TileOperand::a ? a : b; }
  int stageOf(std::int64_t step) const { return static_cast<int>(step % shape.stages); }
  std::int64_t beginOf(std::int64_t step) const;

  TileBuilder &tiles;
  GemmShape shape;
  OperandAccess &a, &b;
  std::map<TileOperand, mlir::Value> buffers, emptyBuffers;
  std::vector<mlir::Value> accumulators;
  std::map<LoadKey, mlir::Value> loaded;
  std::map<FragmentKey, mlir::Value> fragments;
  std::map<std::pair<TileOperand, std::int64_t>, StepSource> sources; ///< of this straight piece
};

} // namespace kw
