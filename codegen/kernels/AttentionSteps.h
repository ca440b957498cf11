// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The steps of a decode attention along the columns of k and v: visits the scheduled operations of
// the step's graph, in a loop over whole steps and a loop over masked ones. What a step leaves for
// a later one (loads in flight) is in a map keyed by the step it is for.
#pragma once

#include "codegen/kernels/AttentionWork.h"
#include "codegen/kernels/FloatMath.h"
#include "codegen/kernels/KvAccess.h"

#include <array>
#include <map>
#include <vector>

namespace kw {

struct AttentionShape {
  std::array<std::int32_t, 3> mfma{};
  int queryFragments = 1, keyFragments = 1, valueFragments = 1;
  int stepColumns = 0; ///< of all waves
  int unrolled = 1;    ///< steps of a trip
  double scale = 1;    ///< of scores, times log2(e)
  ElementType type = ElementType::bf16;
  int perFragment() const { return mfma[0] * mfma[1] / 64; } ///< accumulator registers
};

class AttentionSteps {
public:
  AttentionSteps(KernelShell &shell, const AttentionShape &shape, AttentionWork &work, KvAccess &k,
                 KvAccess &v, mlir::Value lane, mlir::Value wave);

  /// `rows[c]`: of query fragment c.
  void loadQueries(const std::vector<QueryRow> &rows, int slices);
  /// Loads of the first steps, as the prologue's graph lists them.
  void prologue(const LoopGraph &region);
  void run(const LoopGraph &whole, const LoopGraph &masked);

  /// Of fragment (query fragment, fragment of v), after `run`.
  mlir::Value result(int query, int fragment) const {
    return state.results[static_cast<std::size_t>(query) * shape.valueFragments + fragment];
  }
  /// Of this wave's columns, the same in all lanes of a row.
  RowStatistics statistics(int query);

private:
  /// What a step leaves to the next. The order of `pack` and `unpack`.
  struct LoadKey {
    int ahead; ///< steps from the next one
    TileOperand operand;
    int piece;
    auto operator<=>(const LoadKey &) const = default;
  };
  struct State {
    std::vector<mlir::Value> results, maxima, sums;
    std::map<LoadKey, mlir::Value> loaded;
  };
  llvm::SmallVector<mlir::Value> pack() const;
  void unpack(mlir::ValueRange values);

  /// Trips of `body`; returns the step behind them.
  mlir::Value loop(const LoopGraph &body, mlir::Value firstStep, mlir::Value trips);
  void emitStep(const LoopGraph &body, mlir::Value step, int inTrip);
  void emit(const TileOp &op, mlir::Value step, int inTrip);
  void emitMatrix(const TileOp &op);
  void emitSoftmax(const TileOp &op, mlir::Value step);
  void mask(int query, mlir::Value step);
  void maximum(int query);
  void weights(int query);
  void rescale(int query);
  mlir::Value stepBuffer(TileOperand operand, mlir::Value step, int ahead);
  KvAccess &access(TileOperand operand) { return operand == TileOperand::k ? k : v; }

  TileBuilder &tiles;
  FloatMath math;
  AttentionShape shape;
  AttentionWork &work;
  KvAccess &k, &v;
  mlir::Value lane, waveColumn; ///< waveColumn: of the wave's first column in a step
  std::vector<std::vector<mlir::Value>> queries; ///< [query fragment][slice]
  std::vector<mlir::Value> limits; ///< per query fragment: columns from the lane's first one on
  State state;

  // Of the step that is being emitted.
  std::map<std::pair<TileOperand, int>, mlir::Value> buffers; ///< by operand and steps ahead
  std::map<std::array<int, 3>, mlir::Value> fragments;        ///< by operand, fragment, slice
  std::vector<std::vector<mlir::Value>> scoreFragments;       ///< [query fragment][fragment of k]
  std::vector<std::vector<mlir::Value>> scores;               ///< [query fragment][register]
  std::vector<mlir::Value> stepMaxima, changes;               ///< per query fragment
  std::vector<std::vector<mlir::Value>> operands; ///< of the second product: [fragment][slice]
};

} // namespace kw
