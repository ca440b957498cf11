// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/generators/TritonKernel.h"

#include <algorithm>
#include <array>
#include <bit>
#include <numeric>

namespace kw {
namespace {

constexpr int lanes = 64;
constexpr int widestLoad = 16;         ///< bytes a lane
constexpr int paddingInterval = 1024;  ///< bytes: what one wave loads at once
constexpr int narrowestDirectLoad = 4; ///< bytes a lane

int bytesOf(ElementType type) { return std::max(1, bitWidth(type) / 8); }

// ---- Inductor ----

TritonCall refused(std::string_view why) { return {TritonOp::none, TritonAdded::none, why}; }

bool hasTemplate(ElementType type) {
  return type == ElementType::f32 || type == ElementType::f16 || type == ElementType::bf16;
}

// ---- Waves ----

/// Doubles the waves along the dimension that has more tiles left a wave. [T]
void placeWaves(const TritonGemmSchedule &schedule, TritonKernel &kernel) {
  int m = 1, n = 1;
  while (m * n < schedule.numWarps) {
    const bool alongM =
        schedule.blockM / (2 * kernel.mfmaM) / m >= schedule.blockN / kernel.mfmaN / n &&
        m < schedule.blockM / kernel.mfmaM;
    (alongM ? m : n) *= 2;
  }
  // More waves than tiles along n: the rest repeats work along m.
  const bool swapped = n * kernel.mfmaN > schedule.blockN;
  kernel.wavesM = swapped ? n : m;
  kernel.wavesN = swapped ? m : n;
}

/// The instruction with the longest k that a step fills. [T]
void chooseInstruction(const Gemm &gemm, const TritonGemmSchedule &schedule, const Target &target,
                       TritonKernel &kernel) {
  const bool large = std::min(schedule.blockM, schedule.blockN) >= 32;
  const int size = schedule.matrixInstrNonKDim != 0 ? schedule.matrixInstrNonKDim : large ? 32 : 16;
  kernel.mfmaM = kernel.mfmaN = size;
  for (const MatrixInstruction &row : target.matrixInstructions) {
    if (row.m == size && row.n == size && row.a == gemm.aType && row.b == gemm.bType &&
        row.k <= schedule.blockK) {
      kernel.mfmaK = std::max(kernel.mfmaK, row.k);
    }
  }
}

// ---- Operands ----

/// An operand's tile: `contiguous` elements in a row of memory, `other` rows.
struct Tile {
  bool kContiguous = true;
  int contiguous = 0, other = 0, elementBytes = 2;
  std::int64_t alignment = 1; ///< bytes, a power of two up to the widest load
};

/// Whether the stride along k is 1: it is too where the other order has one column.
bool alongK(const Gemm &gemm, bool isA) {
  return isA ? gemm.aKContiguous() || gemm.lda == 1 : gemm.bKContiguous() || gemm.ldb == 1;
}

/// Neighbours in memory of which Triton knows that they are loaded together.
std::int64_t alignedElements(const Gemm &gemm, const TritonGemmSchedule &schedule, bool isA) {
  const bool k = alongK(gemm, isA);
  const std::int64_t leading = isA ? gemm.lda : gemm.ldb, extent = isA ? gemm.m : gemm.n;
  // A single row needs no alignment to the next.
  const std::int64_t aligned =
      std::gcd(extent == 1 && k ? 0 : leading, gemm.batch > 1 ? (isA ? gemm.sa : gemm.sb) : 0);
  if (k) {
    // The mask must not end within a load.
    return evenK(gemm, schedule) ? aligned : std::gcd(aligned, gemm.k);
  }
  // The templates take the index modulo the extent, and promise that a tile is contiguous anyway
  // where the matrix has no gaps and is as large as a tile.
  const bool promised = leading == extent && extent >= (isA ? schedule.blockM : schedule.blockN);
  return promised ? aligned : std::gcd(aligned, extent);
}

Tile tileOf(const Gemm &gemm, const TritonGemmSchedule &schedule, bool isA) {
  const bool k = alongK(gemm, isA);
  const int block = isA ? schedule.blockM : schedule.blockN;
  Tile tile;
  tile.kContiguous = k;
  tile.contiguous = k ? schedule.blockK : block;
  tile.other = k ? block : schedule.blockK;
  tile.elementBytes = bytesOf(isA ? gemm.aType : gemm.bType);
  tile.alignment =
      std::gcd(alignedElements(gemm, schedule, isA) * tile.elementBytes, std::int64_t(widestLoad));
  return tile;
}

/// Bytes a lane and load: what is aligned, and no more than its share of the tile.
int loadBytes(const Tile &tile, int waves) {
  const int share = tile.contiguous * tile.other / (waves * lanes) * tile.elementBytes;
  const auto aligned = static_cast<int>(tile.alignment);
  return std::clamp(std::min(share, aligned), tile.elementBytes, widestLoad);
}

/// Padding of a direct copy's buffer in bytes, so that the instruction that reads the fragments
/// finds its rows in different banks; 0: the tile has too few rows to be staggered. [T]
int paddingOf(const Tile &tile, int mfmaSize, int kWidth) {
  if (tile.elementBytes != 2) {
    return 0;
  }
  const int fragmentBytes = kWidth * tile.elementBytes;
  const bool wideRead = tile.kContiguous && fragmentBytes == 16;
  const bool transposing = !tile.kContiguous && fragmentBytes >= 8;
  const int banks = wideRead || transposing ? 64 : 32;
  int padding = 4; // elements
  if (wideRead) {
    padding = mfmaSize == 16 ? 2 * kWidth : kWidth;
  } else if (transposing) {
    padding = mfmaSize == 16 ? 16 : 32;
  }
  const int lanesPerRow = tile.contiguous * tile.elementBytes / widestLoad;
  const int wrap = std::min(tile.contiguous, banks * 4 / tile.elementBytes) / padding;
  if (wrap == 0 || lanesPerRow == 0) {
    return 0;
  }
  const int rows = lanes / lanesPerRow * wrap;
  // Half the rows are enough for transposing reads: swizzling would conflict as much.
  const bool staggered = tile.other >= rows || (!wideRead && 2 * tile.other >= rows && wrap > 1);
  return staggered ? padding * tile.elementBytes : 0;
}

TritonOperand operandOf(const Tile &tile, const TritonKernel &kernel, int waves,
                        TritonPipeliner pipeliner, bool pipelined) {
  TritonOperand operand;
  operand.tileBytes = std::int64_t(tile.contiguous) * tile.other * tile.elementBytes;
  operand.vectorBytes = loadBytes(tile, waves);
  operand.direct = pipelined && pipeliner == TritonPipeliner::direct &&
                   operand.vectorBytes >= narrowestDirectLoad;
  if (operand.direct) {
    // 4 and 16 bytes a lane are what the hardware loads to LDS; f32 along k is loaded in fours. [C]
    const bool wide = operand.vectorBytes == widestLoad &&
                      !(tile.kContiguous && tile.elementBytes == narrowestDirectLoad);
    operand.vectorBytes = wide ? widestLoad : narrowestDirectLoad;
    const int kWidth = kernel.mfmaM * kernel.mfmaK / lanes;
    operand.padding = paddingOf(tile, kernel.mfmaM, kWidth);
  }
  return operand;
}

/// Of all buffers; padding stands between intervals, not behind the last.
std::int64_t ldsBytesOf(const TritonOperand &operand, int buffers) {
  const std::int64_t bytes = operand.tileBytes * buffers;
  return bytes + (bytes - 1) / paddingInterval * operand.padding;
}

} // namespace

TritonCall tritonCall(const Gemm &gemm) {
  if (!hasTemplate(gemm.aType) || gemm.bType != gemm.aType || gemm.outType != gemm.aType) {
    return refused("types other than one of f32 f16 bf16 for a, b and c");
  }
  if (gemm.aScale != ScaleMode::none || gemm.bScale != ScaleMode::none) {
    return refused("scales");
  }
  if (gemm.preshuffle) {
    return refused("preshuffle=1");
  }
  if (gemm.ldc != gemm.n || (gemm.batch > 1 && gemm.sc != gemm.m * gemm.n)) {
    return refused("a result with gaps (ldc, sc): Inductor allocates it contiguous");
  }
  TritonCall call;
  call.added = gemm.beta != 0 ? TritonAdded::matrix : TritonAdded::none;
  for (const EpilogueStep &step : gemm.epilogue) {
    if (call.added != TritonAdded::none) {
      return refused("more than one of beta, bias and add");
    }
    if (step.kind != EpilogueKind::bias && step.kind != EpilogueKind::add) {
      return refused(
          "an epilogue other than bias or add, which Inductor fuses around the template: "
          "its key is that of the problem without it");
    }
    call.added = step.kind == EpilogueKind::bias ? TritonAdded::bias : TritonAdded::matrix;
  }
  if (call.added == TritonAdded::none && gemm.alpha != 1) {
    return refused("alpha without an added matrix");
  }
  if (call.added == TritonAdded::none) {
    call.op = gemm.batch == 1 ? TritonOp::mm : TritonOp::bmm;
  } else {
    call.op = gemm.batch == 1 ? TritonOp::addmm : TritonOp::baddbmm;
  }
  return call;
}

std::string_view name(TritonOp op) {
  constexpr std::array<std::string_view, 5> names{"none", "mm", "addmm", "bmm", "baddbmm"};
  return names.at(static_cast<std::size_t>(op));
}

bool splitsKInstead(const Gemm &gemm) {
  constexpr std::int64_t threshold = 2 * 32; // twice triton.decompose_k_threshold
  return tritonCall(gemm).op == TritonOp::mm && gemm.k >= threshold * gemm.m &&
         gemm.k >= threshold * gemm.n;
}

TritonKernel tritonKernel(const Gemm &gemm, const TritonGemmSchedule &schedule,
                          const Target &target, TritonPipeliner pipeliner) {
  if (!target.directToLds16) {
    pipeliner = TritonPipeliner::registers;
  }
  TritonKernel kernel;
  chooseInstruction(gemm, schedule, target, kernel);
  placeWaves(schedule, kernel);
  // One step of k is no loop. [C]
  const bool pipelined = schedule.numStages > 1 && gemm.k > schedule.blockK;
  const Tile a = tileOf(gemm, schedule, true), b = tileOf(gemm, schedule, false);
  kernel.a = operandOf(a, kernel, schedule.numWarps, pipeliner, pipelined);
  kernel.b = operandOf(b, kernel, schedule.numWarps, pipeliner, pipelined);
  kernel.buffers = pipelined && pipeliner == TritonPipeliner::direct ? schedule.numStages
                   : pipelined                                       ? schedule.numStages - 1
                                                                     : 1;
  kernel.pipelined = pipelined;
  kernel.a.ldsBytes = ldsBytesOf(kernel.a, kernel.buffers);
  kernel.b.ldsBytes = ldsBytesOf(kernel.b, kernel.buffers);
  const auto [less, more] = std::minmax(kernel.a.ldsBytes, kernel.b.ldsBytes);
  // The larger comes first, the other behind it at a multiple of 16. Without a pipeline B takes the
  // place of A once that is in registers. [C]
  kernel.ldsBytes = pipelined ? (more + 15) / 16 * 16 + less : more;
  return kernel;
}

int loadsOf(const TritonOperand &operand, int numWarps) {
  const std::int64_t loaded = std::int64_t(numWarps) * lanes * operand.vectorBytes;
  return static_cast<int>((operand.tileBytes + loaded - 1) / loaded);
}

std::int64_t tritonLdsBytes(const Gemm &gemm, const TritonGemmSchedule &schedule,
                            const Target &target) {
  TritonGemmSchedule untold = schedule;
  untold.matrixInstrNonKDim = 0;
  std::int64_t most = 0;
  for (const auto pipeliner : {TritonPipeliner::registers, TritonPipeliner::direct}) {
    for (const TritonGemmSchedule &each : {schedule, untold}) {
      most = std::max(most, tritonKernel(gemm, each, target, pipeliner).ldsBytes);
    }
  }
  return most;
}

TritonRegisters tritonRegisters(const Gemm &gemm, const TritonGemmSchedule &schedule,
                                const Target &target) {
  const TritonKernel kernel = tritonKernel(gemm, schedule, target);
  const auto up = [](int value, int step) { return (value + step - 1) / step; };
  const int size = kernel.mfmaM;
  const int rows = up(schedule.blockM, kernel.wavesM * size);
  const int columns = up(schedule.blockN, kernel.wavesN * size);
  const int slices = kernel.mfmaK > 0 ? up(schedule.blockK, kernel.mfmaK) : 1;
  const int perFragment = size * kernel.mfmaK * bytesOf(gemm.aType) / lanes / 4;
  const double fragments = double(rows + columns) * perFragment;
  double staged = 0, loads = 0;
  for (const TritonOperand *operand : {&kernel.a, &kernel.b}) {
    staged += operand->direct ? 0 : double(operand->tileBytes) / (lanes * 4 * schedule.numWarps);
    loads += loadsOf(*operand, schedule.numWarps);
  }
  TritonRegisters registers;
  registers.accumulators = rows * columns * size * size / lanes;
  // Regression over the kernels of README.md, Triton 3.9.0. [fitted: C]
  double total = 15 + 1.09 * registers.accumulators + 0.37 * fragments + 0.57 * fragments * slices +
                 0.31 * staged + (evenK(gemm, schedule) ? 1.27 : 1.83) * loads;
  // With two products a step and two buffers the unrolled loop keeps most accumulators twice.
  const bool twice = size == 32 && slices == 2 && kernel.pipelined && schedule.numStages == 2;
  total += twice ? 0.66 * registers.accumulators : 0;
  // Triton's ping-pong of eight waves holds fragments of a second step.
  const bool pingPong = schedule.numWarps == 8 && schedule.blockM * schedule.blockN >= 256 * 256 &&
                        schedule.numStages > 2;
  total += pingPong ? 45 : 0;
  registers.total = static_cast<int>(total);
  return registers;
}

int tritonRegisterBudget(const TritonGemmSchedule &schedule, const Target &target) {
  const int simds = target.simdsPerCu;
  const int waves = std::max((schedule.numWarps + simds - 1) / simds, schedule.wavesPerEu);
  const int share = std::min(target.vectorRegisters / waves, target.vectorRegistersPerWave);
  return share * 92 / 100; // 21 of 23 that spilled were predicted above it [C]
}

GemmSchedule similarSchedule(const TritonGemmSchedule &schedule, const TritonKernel &kernel) {
  const auto operand = [&](const TritonOperand &loaded) {
    GemmSchedule::Operand result;
    result.path = loaded.direct ? OperandPath::direct : OperandPath::lds;
    result.layout = loaded.padding > 0 ? LdsLayout::padding : LdsLayout::swizzle;
    result.vectorBytes = loaded.vectorBytes;
    return result;
  };
  GemmSchedule similar;
  similar.tiling.m = schedule.blockM;
  similar.tiling.n = schedule.blockN;
  similar.tiling.k = schedule.blockK;
  similar.tiling.wavesM = kernel.wavesM;
  similar.tiling.wavesN = kernel.wavesN;
  similar.tiling.mfmaM = kernel.mfmaM;
  similar.tiling.mfmaN = kernel.mfmaN;
  similar.tiling.mfmaK = kernel.mfmaK;
  similar.a = operand(kernel.a);
  similar.b = operand(kernel.b);
  similar.pipeline.stages = kernel.buffers;
  similar.pipeline.prefetch = kernel.pipelined ? schedule.numStages - 1 : 0;
  // The products are transposed, so that a lane holds neighbours along n. [C]
  similar.epilogue = EpiloguePath::swap;
  similar.mapping.xcdRemap = false;
  similar.mapping.groupM = schedule.groupM;
  return similar;
}

} // namespace kw
