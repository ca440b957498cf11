// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/ResultRows.h"

#include "ir/plans/GemmResult.h"
#include "ir/plans/GemmSplit.h"
#include "ir/plans/Plans.h"

#include <algorithm>
#include <numeric>

namespace kw {
namespace {

constexpr int lanes = 64;
constexpr int granuleBytes = 16;
constexpr int lineBytes = 128;    ///< of the L2: rows shorter than that share a request with nobody
constexpr int passRegisters = 16; ///< a lane
constexpr int bankRow = 8;        ///< granules that one phase of a write sees

int lowestBit(int value) { return value & -value; }

/// Neighbours along n that one store may have by the alignment of n and of c's strides.
int alignedElements(const Gemm &gemm, int most) {
  const std::int64_t together = std::gcd(std::gcd(gemm.n, gemm.ldc), gemm.batch > 1 ? gemm.sc : 0);
  return static_cast<int>(std::gcd<std::int64_t>(together, most));
}

/// Of eight rows that start at the same bank every one gets another place for the same granule, as
/// a phase of 16-byte writes wants it; neighbouring rows differ in the highest bit, which keeps
/// rows apart that a phase of reads takes halves of.
int granuleMask(int row, int granules) {
  const int reversed = (row & 1) << 2 | (row & 2) | (row & 4) >> 2;
  return reversed & (std::min(granules, bankRow) - 1);
}

/// A lane that reads two granules reads all even ones of the row with the first instruction.
int address(const ResultRows &rows, int row, int byte) {
  const int granules = rows.rowBytes() / granuleBytes;
  const int granule = byte / granuleBytes;
  const int place = rows.reads() == 2 ? granule / 2 + granule % 2 * (granules / 2) : granule;
  return row * rows.rowBytes() + (place ^ granuleMask(row, granules)) * granuleBytes +
         byte % granuleBytes;
}

void findPasses(const GemmSchedule &schedule, int outBytes, ResultRows &rows) {
  const auto &tiling = schedule.tiling;
  const int alongM = ceilDiv(schedule.waveTileM(), tiling.mfmaM);
  const int alongN = ceilDiv(schedule.waveTileN(), tiling.mfmaN);
  const int perFragment = ceilDiv(rows.size * rows.size, lanes);
  const auto registers = [&] { return rows.fragmentsM * rows.fragmentsN * perFragment; };
  const auto mayDouble = [&](int fragments, int all) {
    return lowestBit(all) > fragments && (2 * registers() <= passRegisters);
  };
  while (lowestBit(alongN) > rows.fragmentsN &&
         (rows.columns() * outBytes < lineBytes || mayDouble(rows.fragmentsN, alongN))) {
    rows.fragmentsN *= 2;
  }
  while (mayDouble(rows.fragmentsM, alongM)) {
    rows.fragmentsM *= 2;
  }
  rows.passesM = ceilDiv(alongM, rows.fragmentsM);
  rows.passesN = ceilDiv(alongN, rows.fragmentsN);
}

void findPlace(const Gemm &gemm, const GemmSchedule &schedule, ResultRows &rows) {
  rows.waves = resultWaves(schedule);
  rows.waveBytes = rows.bytes();
  if (schedule.tiling.wavesK > 1) {
    rows.place = RowsPlace::slices;
    rows.waveBytes = partialWaveBytes(schedule);
    return;
  }
  std::int64_t loopBytes = 0;
  for (const TileOperand operand : {TileOperand::a, TileOperand::b}) {
    const OperandTile tile = operandTile(gemm, schedule, operand);
    loopBytes += tile.layout.path == OperandPath::registers
                     ? 0
                     : tile.stageBytes() * schedule.pipeline.stages;
  }
  rows.place = rows.waves * rows.waveBytes <= loopBytes ? RowsPlace::loop : RowsPlace::own;
}

} // namespace

ResultRows resultRows(const Gemm &gemm, const GemmSchedule &schedule) {
  const int outBytes = std::max(1, bitWidth(gemm.outType) / 8);
  ResultRows rows;
  rows.size = schedule.tiling.mfmaM;
  findPasses(schedule, outBytes, rows);
  rows.elements = alignedElements(
      gemm, std::max(1, std::min(granuleBytes / outBytes, rows.rows() * rows.columns() / lanes)));
  // Sub-dword reads of LDS are never worth it.
  rows.rounded = resultInputs(gemm).empty() && rows.elements * outBytes >= 4;
  rows.elementBytes = rows.rounded ? outBytes : 4;
  findPlace(gemm, schedule, rows);
  return rows;
}

int writtenAddress(const ResultRows &rows, int fragmentM, int fragmentN, int quad, int lane) {
  const ResultPosition within = resultPosition(rows.size, /*swapped=*/true, quad * 4, lane);
  return address(rows, fragmentM * rows.size + within.m,
                 (fragmentN * rows.size + within.n) * rows.elementBytes);
}

ResultPosition storedPosition(const ResultRows &rows, int store, int lane) {
  const int units = rows.columns() / rows.elements;
  const int unit = store * lanes + lane;
  return {unit / units, unit % units * rows.elements};
}

int readAddress(const ResultRows &rows, int store, int read, int lane) {
  const ResultPosition first = storedPosition(rows, store, lane);
  return address(rows, first.m, first.n * rows.elementBytes + read * rows.readBytes());
}

} // namespace kw
