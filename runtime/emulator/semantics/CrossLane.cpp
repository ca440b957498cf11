// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Instructions that move data between lanes. They also move validity, lane by lane, so that strict
// mode follows undefined values through them.
#include "runtime/emulator/semantics/Fetch.h"
#include "runtime/emulator/semantics/Semantics.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <utility>

namespace kw::detail {

namespace {

u64 validLanes(const Wave &wave, const Operand &operand) {
  if (operand.file == File::vector) {
    return wave.vgprValid[operand.reg];
  }
  const bool defined = operand.file != File::scalar || wave.sgprValid[operand.reg] == ~0u;
  return defined ? allLanes : 0;
}

void setLanes(u64 &bits, u64 lanes, u64 values) { bits = (bits & ~lanes) | (values & lanes); }

void writeScalarLane(Wave &wave, const Op &op, int lane) {
  const u32 *lanes = fetchRaw(wave, op, 0);
  wave.writeScalar(op.result[0], lanes[lane]);
  wave.sgprValid[op.result[0].reg] = validLanes(wave, op.source[0]) >> lane & 1 ? ~0u : 0;
  if (op.source[0].file == File::vector) {
    wave.sgprOrigin[op.result[0].reg] = wave.vgprOrigin[op.source[0].reg];
  }
}

void readFirstLane(Wave &wave, const Op &op) {
  const u64 exec = wave.exec();
  writeScalarLane(wave, op, exec == 0 ? 0 : std::countr_zero(exec));
}

void readLane(Wave &wave, const Op &op) {
  writeScalarLane(wave, op, static_cast<int>(wave.scalarOperand(op.source[1]) & 63));
}

void writeLane(Wave &wave, const Op &op) {
  const int lane = static_cast<int>(wave.scalarOperand(op.source[1]) & 63);
  const Operand &from = op.source[0];
  wave.vgpr[op.result[0].reg][lane] = wave.scalarOperand(from);
  const bool defined = from.file != File::scalar || wave.sgprValid[from.reg] == ~0u;
  setLanes(wave.vgprValid[op.result[0].reg], u64{1} << lane, defined ? allLanes : 0);
}

/// Exchanges lane `a` of the first register with lane `b` of the second, where they are active.
void swapLanes(Wave &wave, const Op &op, int a, int b) {
  const u64 exec = wave.exec();
  const int first = op.result[0].reg, second = op.result[1].reg;
  const u32 fromFirst = wave.vgpr[first][a], fromSecond = wave.vgpr[second][b];
  const u64 validFirst = wave.vgprValid[first] >> a & 1,
            validSecond = wave.vgprValid[second] >> b & 1;
  if (exec >> a & 1) {
    wave.vgpr[first][a] = fromSecond;
    setLanes(wave.vgprValid[first], u64{1} << a, validSecond << a);
  }
  if (exec >> b & 1) {
    wave.vgpr[second][b] = fromFirst;
    setLanes(wave.vgprValid[second], u64{1} << b, validFirst << b);
  }
}

void swapOrigins(Wave &wave, const Op &op) {
  u32 &first = wave.vgprOrigin[op.result[0].reg], &second = wave.vgprOrigin[op.result[1].reg];
  first = second = std::max(first, second);
}

/// Odd rows (of 16 lanes) of the first register with even rows of the second.
void permlane16Swap(Wave &wave, const Op &op) {
  for (int lane = 0; lane < laneCount; ++lane) {
    if (lane / 16 % 2 == 1) {
      swapLanes(wave, op, lane, lane - 16);
    }
  }
  swapOrigins(wave, op);
}

/// The upper 32 lanes of the first register with the lower 32 of the second.
void permlane32Swap(Wave &wave, const Op &op) {
  for (int lane = 32; lane < laneCount; ++lane) {
    swapLanes(wave, op, lane, lane - 32);
  }
  swapOrigins(wave, op);
}

void swapRegisters(Wave &wave, const Op &op) {
  for (int lane = 0; lane < laneCount; ++lane) {
    swapLanes(wave, op, lane, lane);
  }
  swapOrigins(wave, op);
}

/// Bits of the mask below this lane, in its lower or upper half, plus src1.
void mbcnt(Wave &wave, const Op &op, bool upper) {
  const u32 *mask = fetchRaw(wave, op, 0), *add = fetchRaw(wave, op, 1);
  for (int lane = 0; lane < laneCount; ++lane) {
    const int inHalf = upper ? lane - 32 : lane;
    const u32 below = inHalf <= 0 ? 0 : inHalf >= 32 ? ~0u : (1u << inHalf) - 1;
    wave.computed[0][lane] = static_cast<u32>(std::popcount(mask[lane] & below)) + add[lane];
  }
  commit(wave, op, wave.exec(), Type::b32);
}
void mbcntLow(Wave &wave, const Op &op) { mbcnt(wave, op, false); }
void mbcntHigh(Wave &wave, const Op &op) { mbcnt(wave, op, true); }

/// Writes computed[0] with the given validity to the active lanes.
void finishPermute(Wave &wave, const Op &op, u64 valid, int from) {
  commit(wave, op, wave.exec(), Type::b32);
  setLanes(wave.vgprValid[op.result[0].reg], wave.exec(), valid);
  wave.vgprOrigin[op.result[0].reg] = wave.vgprOrigin[from];
}

/// Lane l takes from lane address[l] / 4; an inactive source gives 0.
void bpermute(Wave &wave, const Op &op) {
  const u32 *address = fetchRaw(wave, op, 0), *data = fetchRaw(wave, op, 1);
  const u64 exec = wave.exec(), validData = validLanes(wave, op.source[1]);
  u64 valid = 0;
  for (int lane = 0; lane < laneCount; ++lane) {
    const u32 from = (address[lane] + static_cast<u32>(op.imm)) / 4 % laneCount;
    const bool active = exec >> from & 1;
    wave.computed[0][lane] = active ? data[from] : 0;
    valid |= u64{!active || (validData >> from & 1)} << lane;
  }
  finishPermute(wave, op, valid, op.source[1].reg);
}

/// Lane l gives to lane address[l] / 4; the highest one wins; who gets nothing has 0.
void permute(Wave &wave, const Op &op) {
  const u32 *address = fetchRaw(wave, op, 0), *data = fetchRaw(wave, op, 1);
  const u64 exec = wave.exec(), validData = validLanes(wave, op.source[1]);
  std::fill_n(wave.computed[0], laneCount, 0u);
  u64 valid = allLanes;
  for (int lane = 0; lane < laneCount; ++lane) {
    if (exec >> lane & 1) {
      const u32 to = (address[lane] + static_cast<u32>(op.imm)) / 4 % laneCount;
      wave.computed[0][to] = data[lane];
      setLanes(valid, u64{1} << to, (validData >> lane & 1) << to);
    }
  }
  finishPermute(wave, op, valid, op.source[1].reg);
}

/// offset[15] = 1: quad permutation; 0: and, or, xor masks on the lane's number in a group of 32.
void swizzle(Wave &wave, const Op &op) {
  const u32 *data = fetchRaw(wave, op, 0);
  const u64 exec = wave.exec(), validData = validLanes(wave, op.source[0]);
  const int pattern = static_cast<int>(op.imm);
  const int andMask = pattern & 31, orMask = pattern >> 5 & 31, xorMask = pattern >> 10 & 31;
  u64 valid = 0;
  for (int lane = 0; lane < laneCount; ++lane) {
    const int from = pattern & 0x8000
                         ? lane / 4 * 4 + (pattern >> (2 * (lane % 4)) & 3)
                         : lane / 32 * 32 + ((((lane % 32) & andMask) | orMask) ^ xorMask);
    const bool active = exec >> from & 1;
    wave.computed[0][lane] = active ? data[from] : 0;
    valid |= u64{!active || (validData >> from & 1)} << lane;
  }
  finishPermute(wave, op, valid, op.source[0].reg);
}

void nothing(Wave &, const Op &) {}

} // namespace

std::span<const Semantics> crossLaneTable() {
  static const Semantics rows[] = {
      {"V_NOP", nothing},
      {"V_READFIRSTLANE_B32", readFirstLane, Flow::handler},
      {"V_READLANE_B32", readLane, Flow::handler},
      {"V_WRITELANE_B32", writeLane, Flow::handler},
      {"V_PERMLANE16_SWAP_B32", permlane16Swap, Flow::handler},
      {"V_PERMLANE32_SWAP_B32", permlane32Swap, Flow::handler},
      {"V_SWAP_B32", swapRegisters, Flow::handler},
      {"V_MBCNT_LO_U32_B32", mbcntLow},
      {"V_MBCNT_HI_U32_B32", mbcntHigh},
      {"DS_BPERMUTE_B32", bpermute, Flow::handler},
      {"DS_PERMUTE_B32", permute, Flow::handler},
      {"DS_SWIZZLE_B32", swizzle, Flow::handler},
  };
  return rows;
}

} // namespace kw::detail
