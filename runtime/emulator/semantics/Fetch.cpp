// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/semantics/Fetch.h"

#include "runtime/emulator/FloatMode.h"
#include "runtime/emulator/semantics/Apertures.h"

#include <algorithm>
#include <cmath>
#include <limits>

namespace kw::detail {

namespace {

void spreadScalar(Register &lanes, u32 value) { std::fill_n(lanes, laneCount, value); }

bool isWide(Type type) { return type == Type::b64 || type == Type::i64 || type == Type::f64; }
bool isFloat(Type type) {
  return type == Type::f16 || type == Type::bf16 || type == Type::f32 || type == Type::f64;
}
bool isHalf(Type type) {
  return type == Type::b16 || type == Type::i16 || type == Type::f16 || type == Type::bf16;
}

/// SDWA selector: BYTE_0..3, WORD_0, WORD_1, DWORD.
u32 selectPart(u32 x, int selector, bool signExtend) {
  if (selector < 4) {
    const u32 byte = x >> (8 * selector) & 255;
    return signExtend ? static_cast<u32>(static_cast<i32>(static_cast<std::int8_t>(byte))) : byte;
  }
  if (selector < 6) {
    const u32 word = x >> (16 * (selector - 4)) & 0xffff;
    return signExtend ? static_cast<u32>(static_cast<i32>(static_cast<i16>(word))) : word;
  }
  return x;
}

void applySigns(Register *words, Type type, bool magnitude, bool negate) {
  const int word = type == Type::f64 ? 1 : 0;
  const u32 sign = type == Type::f16 || type == Type::bf16 ? 0x8000 : 0x80000000;
  for (u32 &x : words[word]) {
    x = magnitude ? x & ~sign : x;
    x = negate ? x ^ sign : x;
  }
}

} // namespace

namespace {

/// The first register of an operand, all of whose words are registers, whatever M0 adds.
int indexedRegister(const Wave &wave, const Operand &operand, bool indexed) {
  const int reg = operand.reg + (indexed ? static_cast<int>(wave.sgpr[scalarReg::m0] & 255) : 0);
  return std::min(reg, vectorRegisterCount - std::max<int>(1, operand.words));
}

} // namespace

u64 specialValue(const Wave &wave, int encoding) {
  switch (encoding) {
  case 235: // src_shared_base
    return aperture::shared;
  case 236: // src_shared_limit
    return aperture::shared | 0xffffffff;
  case 237: // src_private_base
    return aperture::scratch;
  case 238:
    return aperture::scratch | 0xffffffff;
  case 251: // src_vccz
    return wave.vcc() == 0;
  case 252:
    return wave.exec() == 0;
  case 253:
    return wave.scc;
  default:
    return 0;
  }
}

int dppSource(const Op &op, int lane) {
  const int row = lane / 16, inRow = lane % 16;
  if (!(op.rowMask >> row & 1) || !(op.bankMask >> (inRow / 4) & 1)) {
    return -2;
  }
  const int control = static_cast<int>(op.imm);
  const int amount = control & 15;
  if (control < 0x100) { // quad_perm
    return lane / 4 * 4 + (control >> (2 * (lane % 4)) & 3);
  }
  switch (control & 0x1f0) {
  case 0x100: // row_shl: from the lane above
    return inRow + amount < 16 ? lane + amount : -1;
  case 0x110: // row_shr
    return inRow - amount >= 0 ? lane - amount : -1;
  case 0x120: // row_ror
    return row * 16 + (inRow - amount + 16) % 16;
  case 0x150: // row_newbcast
    return row * 16 + amount;
  default:
    break;
  }
  switch (control) {
  case 0x130: // wave_shl
    return lane + 1 < laneCount ? lane + 1 : -1;
  case 0x134: // wave_rol
    return (lane + 1) % laneCount;
  case 0x138: // wave_shr
    return lane - 1;
  case 0x13c: // wave_ror
    return (lane + laneCount - 1) % laneCount;
  case 0x140: // row_mirror
    return row * 16 + 15 - inRow;
  case 0x141: // row_half_mirror
    return lane / 8 * 8 + 7 - lane % 8;
  case 0x142: // row_bcast15: lane 15 of a row to the next row
    return row > 0 ? row * 16 - 1 : -1;
  case 0x143: // row_bcast31: lane 31 to rows 2 and 3
    return row > 1 ? 31 : -1;
  default:
    return -1;
  }
}

const u32 *fetchRaw(Wave &wave, const Op &op, int i) {
  const Operand &operand = op.source[i];
  switch (operand.file) {
  case File::vector: {
    const bool indexed = wave.gprIndexMode >> std::min(i, 2) & 1;
    return wave.vgpr[indexedRegister(wave, operand, indexed)];
  }
  case File::constant:
    return operand.spread;
  case File::scalar:
    spreadScalar(wave.fetched[2 * i], wave.sgpr[operand.reg]);
    spreadScalar(wave.fetched[2 * i + 1], operand.words > 1 ? wave.sgpr[operand.reg + 1] : 0);
    return wave.fetched[2 * i];
  case File::special:
  case File::none: {
    // 32-bit operands named after an aperture read its upper half.
    u64 value = specialValue(wave, operand.reg);
    if (operand.words == 1 && operand.reg >= 235 && operand.reg <= 238) {
      value >>= 32;
    }
    spreadScalar(wave.fetched[2 * i], static_cast<u32>(value));
    spreadScalar(wave.fetched[2 * i + 1], static_cast<u32>(value >> 32));
    return wave.fetched[2 * i];
  }
  }
  return nullptr;
}

const u32 *fetchMask(Wave &wave, const Op &op, int i) {
  const u64 mask = wave.scalarOperand64(op.source[i]);
  for (int lane = 0; lane < laneCount; ++lane) {
    wave.fetched[2 * i][lane] = mask >> lane & 1;
  }
  return wave.fetched[2 * i];
}

const u32 *fetchModified(Wave &wave, const Op &op, int i, Type type, u64 &lanes) {
  const u32 *raw = fetchRaw(wave, op, i);
  const std::uint8_t mods = op.source[i].mods;
  const bool permutes = op.form == Form::dpp && i == 0;
  if (mods == 0 && !permutes && op.form != Form::sdwa) {
    return raw;
  }
  Register *out = &wave.fetched[2 * i];
  const int words = isWide(type) ? 2 : 1;
  if (permutes) {
    const u64 exec = wave.exec();
    Register copy[2];
    for (int lane = 0; lane < laneCount; ++lane) {
      const int from = dppSource(op, lane);
      const bool readable = from >= 0 && (exec >> from & 1);
      const bool writes = from != -2 && (readable || op.boundCtrl);
      lanes &= writes ? allLanes : ~(u64{1} << lane);
      for (int word = 0; word < words; ++word) {
        copy[word][lane] = readable ? raw[word * laneCount + from] : 0;
      }
    }
    std::copy_n(copy[0], words * laneCount, out[0]);
  } else if (raw != out[0]) {
    std::copy_n(raw, words * laneCount, out[0]);
  }
  const bool signExtends = op.form == Form::sdwa && !isFloat(type) && (mods & mod::signExtend);
  if (op.form == Form::sdwa && i < 2) {
    for (u32 &x : out[0]) {
      x = selectPart(x, op.srcSel[i], signExtends);
    }
  } else if (isHalf(type) && (mods & mod::opSel)) {
    for (u32 &x : out[0]) {
      x >>= 16;
    }
  }
  if (isFloat(type)) {
    applySigns(out, type, mods & mod::abs, mods & mod::neg);
  }
  return out[0];
}

int resultRegister(const Wave &wave, const Op &op, int i) {
  return indexedRegister(wave, op.result[i], wave.gprIndexMode >> 3 & 1);
}

namespace {

f32 scaled(f32 x, int omod) {
  return omod == 1 ? x * 2 : omod == 2 ? x * 4 : omod == 3 ? x / 2 : x;
}
f64 scaled(f64 x, int omod) {
  return omod == 1 ? x * 2 : omod == 2 ? x * 4 : omod == 3 ? x / 2 : x;
}
/// With omod denormals and -0 become +0.
template <class T> T scaledFlushed(T x, int omod) {
  const T y = scaled(x, omod);
  return omod == 0 || std::fabs(y) >= std::numeric_limits<T>::min() || y != y ? y : T(0);
}
template <class T> T clamped(T x, bool clamp, bool clampsNan) {
  return !clamp || (x != x && !clampsNan) ? x : x > T(0) ? std::min(x, T(1)) : T(0);
}

/// omod is ignored in IEEE mode and where denormals of results are kept. [ISA, 6.2.2]
int effectiveOmod(const Wave &wave, const Op &op, Type type) {
  const u32 mode = type == Type::f32 ? wave.mode : doubleMode(wave.mode);
  return (mode >> modeBit::ieee & 1) || (mode >> 5 & 1) ? 0 : op.omod;
}

void applyOutputModifiers(Wave &wave, const Op &op, Type type) {
  const int omod = effectiveOmod(wave, op, type);
  const bool clampsNan = wave.mode >> modeBit::clampsNan & 1;
  for (int lane = 0; lane < laneCount; ++lane) {
    u32 &low = wave.computed[0][lane];
    if (type == Type::f32) {
      low = bitsOf(clamped(scaledFlushed(floatOf(low), omod), op.clamp, clampsNan));
    } else if (type == Type::f16) {
      const f32 x = scaledFlushed(fromHalf(low), omod);
      const f32 kept = omod != 0 && std::fabs(x) < 0x1p-14f ? 0.0f : x;
      low = toHalfBits(clamped(kept, op.clamp, clampsNan));
    } else if (type == Type::f64) {
      u32 &high = wave.computed[1][lane];
      const f64 x = std::bit_cast<f64>(low | u64{high} << 32);
      const u64 y = std::bit_cast<u64>(clamped(scaledFlushed(x, omod), op.clamp, clampsNan));
      low = static_cast<u32>(y);
      high = static_cast<u32>(y >> 32);
    }
  }
}

/// SDWA: puts the result into part of the register; the rest is zero, the sign, or kept.
u32 insertPart(u32 old, u32 x, int selector, int unused) {
  if (selector == 6) {
    return x;
  }
  const int bits = selector < 4 ? 8 : 16;
  const int shift = selector < 4 ? 8 * selector : 16 * (selector - 4);
  const u32 mask = (1u << bits) - 1;
  const u32 part = (x & mask) << shift;
  if (unused == 2) { // UNUSED_PRESERVE
    return (old & ~(mask << shift)) | part;
  }
  const bool negative = x >> (bits - 1) & 1;
  const u32 above = unused == 1 && negative && shift + bits < 32 ? ~0u << (shift + bits) : 0;
  return part | above;
}

} // namespace

void commit(Wave &wave, const Op &op, u64 lanes, Type type) {
  if ((op.clamp || op.omod != 0) && isFloat(type)) {
    applyOutputModifiers(wave, op, type);
  } else if (op.clamp) {
    wave.fail(op, "clamp on an integer result that the emulator does not saturate");
  }
  const int first = resultRegister(wave, op);
  const int words = std::max<int>(1, op.result[0].words);
  const bool toHighHalf =
      op.form == Form::plain && isHalf(type) && (op.source[0].mods & mod::opSelHi);
  for (int word = 0; word < words && first + word < vectorRegisterCount; ++word) {
    u32 *to = wave.vgpr[first + word];
    const u32 *from = wave.computed[word];
    for (int lane = 0; lane < laneCount; ++lane) {
      u32 x = from[lane];
      if (op.form == Form::sdwa) {
        x = insertPart(to[lane], x, op.dstSel, op.dstUnused);
      } else if (toHighHalf) {
        x = (to[lane] & 0xffff) | x << 16;
      } else if (op.keepsHighHalf) {
        x = (to[lane] & 0xffff0000) | (x & 0xffff);
      }
      to[lane] = lanes >> lane & 1 ? x : to[lane];
    }
  }
}

} // namespace kw::detail
