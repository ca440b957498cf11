// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/GemmResult.h"

#include "ir/ResultRows.h"

#include <algorithm>

namespace kw {
namespace {

/// Of one step and register, f32. [counted in compiled kernels]
ResultArithmetic arithmeticOf(EpilogueKind kind) {
  switch (kind) {
  case EpilogueKind::bias:
  case EpilogueKind::mul:
  case EpilogueKind::add:
    return {2, 0}; // the operand's conversion too
  case EpilogueKind::relu:
    return {2, 0};
  case EpilogueKind::silu:
    return {5, 2};
  case EpilogueKind::gelu:
    return {17, 2};
  case EpilogueKind::quant:
    return {3, 0}; // scale, both limits in one, conversion in pairs
  case EpilogueKind::swiglu:
    return {3, 1}; // silu of one half, its product with the other
  case EpilogueKind::weight:
    return {1, 0};
  }
  return {};
}

/// Scales that don't change along k are factors of the sum: one multiplication each, those of the
/// whole tensor one together with alpha.
int scaleFactors(const Gemm &gemm) {
  const bool whole = gemm.aScale == ScaleMode::tensor || gemm.bScale == ScaleMode::tensor;
  return (whole && gemm.alpha == 1 ? 1 : 0) + (gemm.aScale == ScaleMode::row ? 1 : 0) +
         (gemm.bScale == ScaleMode::row ? 1 : 0);
}

} // namespace

Inline<ResultInput, 7> resultInputs(const Gemm &gemm) {
  const ElementType type = bitWidth(gemm.outType) > 8 ? gemm.outType : ElementType::bf16;
  Inline<ResultInput, 7> inputs;
  if (gemm.aScale == ScaleMode::row) {
    inputs.push_back({TileOperand::scaleA, ElementType::f32, false, 1, true});
  }
  if (gemm.bScale == ScaleMode::row) {
    inputs.push_back({TileOperand::scaleB, ElementType::f32, true, 0});
  }
  if (gemm.beta != 0) {
    inputs.push_back({TileOperand::c, gemm.outType, false, gemm.ldc});
  }
  TileOperand auxiliary = TileOperand::aux;
  for (const EpilogueStep &step : gemm.epilogue) {
    if (step.kind == EpilogueKind::bias) {
      inputs.push_back({TileOperand::bias, type, true, 0});
    } else if (step.kind == EpilogueKind::mul || step.kind == EpilogueKind::add) {
      inputs.push_back({auxiliary, type, false, gemm.n});
      auxiliary = TileOperand::aux2;
    } else if (step.kind == EpilogueKind::weight) {
      inputs.push_back({TileOperand::weight, ElementType::f32, false, 1, true});
    }
  }
  return inputs;
}

ResultLoads resultLoads(const Gemm &gemm, const GemmSchedule &schedule, const ResultInput &input) {
  constexpr int waveSize = 64, neighbours = 4;
  if (schedule.epilogue == EpiloguePath::lds) {
    const ResultRows rows = resultRows(gemm, schedule);
    if (input.oneColumn) {
      return {rows.stores(), std::max(1, bitWidth(input.type) / 8)};
    }
    const int ofARow = (rows.columns() / rows.elements + waveSize - 1) / waveSize;
    return {input.oneRow ? ofARow : rows.stores(),
            rows.elements * std::max(1, bitWidth(input.type) / 8)};
  }
  const int registers = (schedule.tiling.mfmaM * schedule.tiling.mfmaN + waveSize - 1) / waveSize;
  // A lane's neighbours lie along n with swapped operands, else along m.
  const bool swapped = swapsOperands(schedule.epilogue);
  if (input.oneColumn) {
    return {swapped ? 1 : (registers + neighbours - 1) / neighbours,
            (swapped ? 1 : neighbours) * std::max(1, bitWidth(input.type) / 8)};
  }
  const int together = swapped ? neighbours : 1;
  // A lane's single elements go down a column, for which a bias has one value.
  const bool once = input.oneRow && together == 1;
  return {once ? 1 : (registers + together - 1) / together,
          together * std::max(1, bitWidth(input.type) / 8)};
}

ResultArithmetic resultArithmetic(const Gemm &gemm) {
  ResultArithmetic sum;
  sum.instructions = (gemm.beta != 0 ? 2 : 0) + scaleFactors(gemm);
  for (const EpilogueStep &step : gemm.epilogue) {
    const ResultArithmetic one = arithmeticOf(step.kind);
    sum.instructions += one.instructions;
    sum.transcendentals += one.transcendentals;
  }
  return sum;
}

int resultRegisters(const Gemm &gemm, const GemmSchedule &schedule) {
  constexpr int temporaries = 16;
  constexpr int waveSize = 64;
  if (schedule.epilogue == EpiloguePath::lds) {
    const ResultRows rows = resultRows(gemm, schedule);
    const int elements = rows.rows() * rows.columns() / waveSize;
    const bool beside = schedule.accumulator == AccumulatorFile::agpr;
    int loaded = 0;
    for (const ResultInput &input : resultInputs(gemm)) {
      // A register for each load at least.
      loaded += std::max(rows.stores(), elements * std::max(1, bitWidth(input.type) / 8) / 4);
    }
    return 2 * loaded + (beside ? 2 * elements : 0) + elements + temporaries;
  }
  const int registers = (schedule.tiling.mfmaM * schedule.tiling.mfmaN + waveSize - 1) / waveSize;
  const int loaded = static_cast<int>(resultInputs(gemm).size()) * registers;
  const bool any = loaded > 0 || !gemm.epilogue.empty();
  return any ? 2 * loaded + temporaries : 0;
}

} // namespace kw
