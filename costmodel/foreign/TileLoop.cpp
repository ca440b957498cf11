// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the regions of a foreign kernel cost in the CU, in closed form: their instructions are known
// by kind and number, not by order, so there is no graph to build. Clocks are shader clocks.
#include "costmodel/Constants.h"
#include "costmodel/foreign/TilePlan.h"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

constexpr int registerBytes = 4;

double bytesOfA(const TileProblem &problem) { return bitWidth(problem.a) / 8.0; }
double bytesOfB(const TileProblem &problem) { return bitWidth(problem.b) / 8.0; }

/// Of one wave.
double accumulators(const SetTileKernel &kernel) {
  return double(kernel.tileM) * kernel.tileN / (kernel.wavesM * kernel.wavesN) / 64;
}

/// Vector instructions of a wave in one step beside addresses: scales that are multiplied outside
/// of the matrix instruction, operands that are widened.
double vectorInstructions(const TileProblem &problem, const SetTileKernel &kernel) {
  constexpr double blockK = 128;
  double count = 8; // pointers, masks, loop: as in compiled kernels
  if (problem.scale == ScaleMode::block128) {
    // One multiply-add for each accumulator register and block of k, two a packed instruction.
    count += accumulators(kernel) * std::max(1.0, kernel.tileK / blockK) * 1.0;
  }
  if (bitWidth(problem.b) < 8 && bitWidth(problem.a) == 16) {
    // Each element of b becomes 16 bits: about one instruction for two.
    count += double(kernel.tileN) / kernel.wavesN * kernel.tileK / kernel.wavesK / 64 / 2;
  }
  return count;
}

int wavesPerSimd(const SetTileKernel &kernel, const Target &target) {
  return (kernel.waves() + target.simdsPerCu - 1) / target.simdsPerCu;
}

} // namespace

double matrixRate(const TileProblem &problem, const SetTileKernel &kernel, const Target &target) {
  const bool widened = bitWidth(problem.a) == 16;
  ElementType a = problem.a, b = widened ? problem.a : problem.b;
  const bool known = std::ranges::any_of(target.matrixInstructions, [&](const auto &instruction) {
    return instruction.a == a && instruction.b == b;
  });
  if (!known && bitWidth(a) == 8 && bitWidth(b) == 8) {
    a = b = ElementType::i8; // CDNA3's own 8-bit floats run at the rate of i8 [datasheet]
  }
  double best = 0;
  for (const MatrixInstruction &instruction : target.matrixInstructions) {
    const bool fits =
        kernel.operandBytes == 0 || instruction.aRegisters * registerBytes <= kernel.operandBytes;
    if (instruction.a == a && instruction.b == b && instruction.m == kernel.mfmaM && fits &&
        (kernel.mfmaK == 0 || instruction.k == kernel.mfmaK)) {
      best = std::max(best,
                      double(instruction.m) * instruction.n * instruction.k / instruction.cycles);
    }
  }
  return best;
}

LoopSummary tileStep(const TileProblem &problem, const SetTileKernel &kernel,
                     const Target &target) {
  const double macs = double(kernel.tileM) * kernel.tileN * kernel.tileK / kernel.waves();
  const double ofA = double(kernel.tileM) * kernel.tileK * bytesOfA(problem);
  const double ofB = double(kernel.tileN) * kernel.tileK * bytesOfB(problem);
  const double inLds = ofA + (kernel.bInRegisters ? 0 : ofB);
  const double readBytes = ofA / kernel.wavesM + (kernel.bInRegisters ? 0 : ofB / kernel.wavesN);
  const double read = readBytes / kernel.wavesK / target.ldsReadBytesPerClock; // of one wave
  const double written = inLds / kernel.waves() / target.ldsWriteBytesPerClock;
  LoopSummary step;
  step.use.matrix = float(macs / matrixRate(problem, kernel, target));
  step.use.lds = float(read + written);
  step.use.valu = float(vectorInstructions(problem, kernel) * target.valuCycles);
  step.barriers = kernel.waves() > 1 ? (kernel.stages > 1 ? 1 : 2) : 0;
  step.loads = 1;
  step.maxAhead = kernel.prefetch;
  step.loadDistance = float(kernel.prefetch);
  const double perSimd = wavesPerSimd(kernel, target);
  const double matrix = perSimd * step.use.matrix, valu = perSimd * step.use.valu;
  const double readAll = kernel.waves() * read, writtenAll = kernel.waves() * written;
  // Sums of a block of k are scaled as they leave the matrix instruction: behind it in the chain.
  const double scaling = problem.scale == ScaleMode::block128 ? valu : 0;
  step.recurrence =
      kernel.pipeline == TilePipeline::serial
          ? float(writtenAll + 2 * target.ldsLatencyCycles + std::max(readAll, matrix) + valu)
          : float(std::max({readAll + writtenAll, matrix + scaling, valu}));
  step.length = step.recurrence;
  return step;
}

LoopSummary tilePrologue(const TileProblem &, const SetTileKernel &, const Target &target) {
  LoopSummary prologue;
  prologue.loads = 1;
  prologue.length = float(target.l2LatencyCycles + 2 * target.ldsLatencyCycles);
  return prologue;
}

LoopSummary tileEpilogue(const TileProblem &, const SetTileKernel &kernel, const Target &target) {
  // Scale and convert, then through LDS into rows.
  LoopSummary epilogue;
  epilogue.use.valu = float(2 * accumulators(kernel) * target.valuCycles);
  epilogue.length =
      wavesPerSimd(kernel, target) * epilogue.use.valu + 2 * float(target.ldsLatencyCycles);
  if (kernel.wavesK > 1) {
    epilogue.length += float(kernel.wavesK * accumulators(kernel) * 256 * kernel.wavesM *
                             kernel.wavesN / target.ldsWriteBytesPerClock) +
                       2 * float(target.ldsLatencyCycles);
  }
  return epilogue;
}

LoopSummary tileReduction(const TileProblem &, const SetTileKernel &kernel, const Target &target) {
  LoopSummary reduction;
  switch (kernel.reduction) {
  case TileReduction::atomic: // the last atomic's way to memory
    reduction.length = float(target.hbmLatencyCycles);
    break;
  case TileReduction::last: // write back, arrive, read all splits
    reduction.length = float(3 * target.hbmLatencyCycles);
    break;
  case TileReduction::launch: // write back
    reduction.length = float(target.hbmLatencyCycles);
    break;
  }
  return reduction;
}

} // namespace kw
