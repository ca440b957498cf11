// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Random GEMM problems and schedules that obey the structural rules (tiles divide into waves and
// matrix instructions, prefetch fits the stages); registers and LDS may be too small for them.
#pragma once

#include "ir/Problem.h"
#include "ir/Schedule.h"

#include <initializer_list>
#include <random>

namespace kw {

class RandomGemm {
public:
  explicit RandomGemm(unsigned seed) : random(seed) {}

  Problem problem() {
    Gemm gemm;
    gemm.m = number(1, 700);
    gemm.n = number(1, 700);
    gemm.k = number(1, 900);
    gemm.bTransposed = number(0, 1) != 0;
    gemm.lda = gemm.k + number(0, 8);
    gemm.ldb = (gemm.bTransposed ? gemm.k : gemm.n) + number(0, 8);
    gemm.ldc = gemm.n + number(0, 8);
    return {gemm};
  }

  GemmSchedule schedule() {
    GemmSchedule result;
    auto &tiling = result.tiling;
    tiling.mfmaM = tiling.mfmaN = pick({16, 32});
    tiling.mfmaK = tiling.mfmaM == 16 ? 32 : 16;
    tiling.wavesM = pick({1, 2, 4});
    tiling.wavesN = pick({1, 2, 4});
    tiling.m = tiling.wavesM * tiling.mfmaM * number(1, 4);
    tiling.n = tiling.wavesN * tiling.mfmaN * number(1, 4);
    tiling.k = tiling.mfmaK * number(1, 4);
    for (auto *operand : {&result.a, &result.b}) {
      operand->path = static_cast<OperandPath>(number(0, 1));
      operand->layout = static_cast<LdsLayout>(number(0, 2));
      operand->vectorBytes = operand->path == OperandPath::lds ? pick({4, 8, 16}) : pick({4, 16});
    }
    if (number(0, 3) == 0) { // as with preshuffle=1
      result.b = {OperandPath::registers, LdsLayout::swizzle, 16};
    }
    result.pipeline.stages = number(1, 3);
    result.pipeline.prefetch = result.pipeline.stages - 1;
    if (result.a.path == OperandPath::lds || result.b.path == OperandPath::lds) {
      result.pipeline.prefetch += number(0, 1);
    }
    result.pipeline.order = static_cast<LoopOrder>(number(0, 1));
    overlap(result);
    result.accumulator = static_cast<AccumulatorFile>(number(0, 1));
    result.epilogue = static_cast<EpiloguePath>(number(0, 3));
    result.mapping.xcdRemap = number(0, 1) != 0;
    result.mapping.groupM = pick({0, 1, 4, 8});
    return result;
  }

  /// Slices read ahead, ping-pong, priority, where they are possible.
  void overlap(GemmSchedule &result) {
    auto &pipeline = result.pipeline;
    const int slices = result.tiling.k / result.tiling.mfmaK;
    const bool direct =
        result.a.path == OperandPath::direct && result.b.path == OperandPath::direct;
    if (pipeline.stages > 1 && number(0, 2) == 0) {
      pipeline.fragmentsAhead = number(1, slices);
    } else if (direct && pipeline.stages > 1 && slices % 2 == 0 && result.waves() == 8) {
      pipeline.order = LoopOrder::pingpong;
    }
    quadrants(result);
    pipeline.priority = pipeline.order != LoopOrder::interleaved && number(0, 1) != 0;
  }

  /// Where halves are whole loads of all waves: k contiguous in both, paths direct.
  void quadrants(GemmSchedule &result) {
    if (result.pipeline.stages < 2 || result.pipeline.fragmentsAhead > 0 || number(0, 2) != 0 ||
        result.a.path != OperandPath::direct || result.b.path != OperandPath::direct) {
      return;
    }
    auto &tiling = result.tiling;
    tiling.m = tiling.wavesM * tiling.mfmaM * pick({2, 4});
    tiling.n = tiling.wavesN * tiling.mfmaN * pick({2, 4});
    tiling.k = 64;
    result.a.vectorBytes = result.b.vectorBytes = 16;
    result.a.layout = result.b.layout = LdsLayout::swizzle;
    const int piece = result.waves() * 1024, rowBytes = tiling.k * 2;
    result.pipeline.quadrants =
        tiling.m * rowBytes / 2 % piece == 0 && tiling.n * rowBytes / 2 % piece == 0;
  }

  int number(int low, int high) { return std::uniform_int_distribution(low, high)(random); }
  int pick(std::initializer_list<int> values) {
    return values.begin()[number(0, static_cast<int>(values.size()) - 1)];
  }

private:
  std::mt19937 random;
};

} // namespace kw
