// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// V_MFMA_*: the table, and the fast path of the single-block shapes with 32-bit results. There,
// every row of D and every k of B is a run of N lanes, so after A and B are spread to f32 as [k][i]
// and [k][j], D is a small outer-product loop over vectors of N columns.
#include "runtime/emulator/FloatMode.h"
#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/MatrixShapes.h"
#include "runtime/emulator/semantics/Numbers.h"
#include "runtime/emulator/semantics/Semantics.h"

#include <algorithm>
#include <cstring>
#include <optional>

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "runtime/emulator/semantics/Matrix.cpp"
// In this order: each line needs the one before.
#include "runtime/emulator/semantics/Targets.h"

#include <hwy/foreach_target.h>

#include <hwy/highway.h>

HWY_BEFORE_NAMESPACE();
namespace kw::detail::HWY_NAMESPACE {

namespace hn = hwy::HWY_NAMESPACE;

constexpr int maxK = 128, maxRows = 32;

/// f32 [k][row] of an operand.
struct Spread32 {
  alignas(64) f32 at[maxK * maxRows];
};

#if HWY_TARGET != HWY_SCALAR
using Vector = hn::CappedTag<f32, 16>;

template <Element element>
HWY_INLINE hn::Vec<Vector> decodeHalf(hn::Vec<hn::RebindToUnsigned<Vector>> bits) {
  const Vector d;
  if constexpr (element == Element::bf16) {
    return hn::BitCast(d, hn::ShiftLeft<16>(bits));
  } else {
    const hn::Rebind<u16, Vector> narrow;
    const hn::Rebind<hwy::float16_t, Vector> half;
    return hn::PromoteTo(d, hn::BitCast(half, hn::TruncateTo(narrow, bits)));
  }
}

/// 16-bit elements: register r of a lane group holds k = g e + 2r (low half) and 2r + 1.
template <Element element>
void spreadHalves(const Register *regs, int rows, int perLane, Spread32 &out) {
  const Vector d;
  const hn::RebindToUnsigned<Vector> du;
  const auto lowMask = hn::Set(du, 0xffffu);
  for (int r = 0; r < perLane / 2; ++r) {
    for (int lane = 0; lane < laneCount; lane += static_cast<int>(hn::Lanes(d))) {
      const int group = lane / rows, row = lane % rows;
      f32 *to = out.at + (group * perLane + 2 * r) * rows + row;
      const auto both = hn::Load(du, regs[r] + lane);
      hn::Store(decodeHalf<element>(hn::And(both, lowMask)), d, to);
      hn::Store(decodeHalf<element>(hn::ShiftRight<16>(both)), d, to + rows);
    }
  }
}

/// Where the rows of D and C are.
struct Rows {
  f32 *d[maxRows];
  const f32 *c[maxRows];
};

/// D[i][:] = C[i][:] + sum over k of A[k][i] * B[k][:], k in order, for rows first..first+count-1.
template <int count, int columns>
HWY_INLINE void multiplyRows(const Rows &rows, int first, const Spread32 &a, const Spread32 &b,
                             int m, int k) {
  const Vector d;
  const int step = static_cast<int>(hn::Lanes(d));
  for (int column = 0; column < columns; column += step) {
    hn::Vec<Vector> sum[count];
#pragma GCC unroll 16
    for (int r = 0; r < count; ++r) {
      sum[r] = hn::Load(d, rows.c[first + r] + column);
    }
    const f32 *left = a.at + first, *right = b.at + column;
    for (int step_ = 0; step_ < k; ++step_, left += m, right += columns) {
      const auto y = hn::Load(d, right);
#pragma GCC unroll 16
      for (int r = 0; r < count; ++r) {
        sum[r] = hn::MulAdd(hn::Set(d, left[r]), y, sum[r]);
      }
    }
#pragma GCC unroll 16
    for (int r = 0; r < count; ++r) {
      hn::Store(sum[r], d, rows.d[first + r] + column);
    }
  }
}

template <int m, int n>
void multiplyAll(const Rows &rows, const Spread32 &a, const Spread32 &b, int k) {
  // As many rows at a time as there are registers for their sums.
  constexpr int count = HWY_TARGET == HWY_AVX2 ? 8 : 16;
  for (int first = 0; first < m; first += count) {
    multiplyRows<count, n>(rows, first, a, b, m, k);
  }
}

/// Any other element type: one element at a time.
void spreadElements(const MatrixShape &shape, Element element, const Register *regs, int words,
                    Spread32 &out) {
  static const struct Tables {
    f32 fp8[256], bf8[256], fp6[64], bf6[64], fp4[16];
    Tables() {
      for (u32 i = 0; i < 256; ++i) {
        fp8[i] = fromSmall(e4m3, i);
        bf8[i] = fromSmall(e5m2, i);
        fp6[i & 63] = fromSmall(e2m3, i & 63);
        bf6[i & 63] = fromSmall(e3m2, i & 63);
        fp4[i & 15] = fromSmall(e2m1, i & 15);
      }
    }
  } tables;
  const f32 *table = element == Element::fp8   ? tables.fp8
                     : element == Element::bf8 ? tables.bf8
                     : element == Element::fp6 ? tables.fp6
                     : element == Element::bf6 ? tables.bf6
                                               : tables.fp4;
  const int bits = elementBits(element);
  const u32 mask = bits == 32 ? ~0u : (1u << bits) - 1;
  for (int k = 0; k < shape.k; ++k) {
    for (int row = 0; row < shape.m; ++row) {
      const ElementPlace place = operandPlace(shape, element, 0, row, k);
      const int bit = place.index * bits, word = bit / 32;
      u64 window = regs[word][place.lane];
      if (bit % 32 + bits > 32 && word + 1 < words) {
        window |= static_cast<u64>(regs[word + 1][place.lane]) << 32;
      }
      const u32 raw = static_cast<u32>(window >> (bit % 32)) & mask;
      out.at[k * shape.m + row] = bits == 32 ? floatOf(raw) : table[raw];
    }
  }
}

void spreadOperand(const Wave &wave, const Op &op, const MatrixShape &shape, int source,
                   Spread32 &out) {
  const Operand &operand = op.source[source];
  Element element = source == 0 ? shape.a : shape.b;
  if (element == Element::f8f6f4) {
    element = f8f6f4Format(static_cast<int>(source == 0 ? op.imm : op.imm3));
  }
  const Register *regs = &wave.vgpr[operand.reg];
  if (element == Element::f16) {
    spreadHalves<Element::f16>(regs, shape.m, shape.elementsPerLane(), out);
  } else if (element == Element::bf16) {
    spreadHalves<Element::bf16>(regs, shape.m, shape.elementsPerLane(), out);
  } else {
    spreadElements(shape, element, regs, operand.words, out);
  }
}

void applyScales(const Wave &wave, const Op &op, const MatrixShape &shape, int source,
                 Spread32 &out) {
  const int byte = static_cast<int>(op.imm2 >> (source == 3 ? 0 : 2) & 3);
  const Operand &operand = op.source[source];
  for (int k = 0; k < shape.k; ++k) {
    for (int row = 0; row < shape.m; ++row) {
      const u32 word = operand.file == File::vector
                           ? wave.vgpr[operand.reg][row + shape.m * (k / 32)]
                           : static_cast<u32>(operand.value);
      out.at[k * shape.m + row] *= fromE8m0(word >> (8 * byte) & 255);
    }
  }
}

bool allDefined(const Wave &wave, const Op &op) {
  u64 defined = allLanes;
  for (int i = 0; i < op.sourceCount; ++i) {
    if (op.source[i].file == File::vector) {
      for (int word = 0; word < op.source[i].words; ++word) {
        defined &= wave.vgprValid[op.source[i].reg + word];
      }
    }
  }
  return defined == allLanes;
}

/// Can the fast path take it? One block, 32-bit float result, no lane controls, vectors for A, B.
bool isFast(const Op &op, const MatrixShape &shape) {
  const bool controls = shape.a != Element::f8f6f4 && (op.imm | op.imm3) != 0;
  const bool vectors = op.source[0].file == File::vector && op.source[1].file == File::vector &&
                       (op.source[2].file == File::vector || op.source[2].file == File::constant);
  return shape.blocks == 1 && !shape.isDouble() && !shape.isInteger() && !controls && vectors;
}

void multiplyFast(Wave &wave, const Op &op, const MatrixShape &shape) {
  Spread32 a, b;
  spreadOperand(wave, op, shape, 0, a);
  spreadOperand(wave, op, shape, 1, b);
  if (shape.scaled) {
    applyScales(wave, op, shape, 3, a);
    applyScales(wave, op, shape, 4, b);
  }
  Rows rows;
  const bool constant = op.source[2].file == File::constant;
  for (int i = 0; i < shape.m; ++i) {
    const ResultPlace at = resultPlace(shape, 0, i, 0);
    rows.d[i] = reinterpret_cast<f32 *>(wave.vgpr[op.result[0].reg + at.reg] + at.lane);
    rows.c[i] = reinterpret_cast<const f32 *>(
        constant ? op.source[2].spread + at.lane : wave.vgpr[op.source[2].reg + at.reg] + at.lane);
  }
  shape.m == 16 ? multiplyAll<16, 16>(rows, a, b, shape.k)
                : multiplyAll<32, 32>(rows, a, b, shape.k);
}
#endif

void multiply(Wave &wave, const Op &op) {
  const MatrixShape &shape = matrixShape(op);
  wave.group->matrixFlops += shape.flops();
  constexpr u32 ieeeMode = 0x30; // rounding and denormal modes do not apply
  std::optional<HostFloatMode> mode;
  if ((wave.mode & 0x33) != ieeeMode) {
    mode.emplace(ieeeMode);
  }
#if HWY_TARGET != HWY_SCALAR
  const bool inOrder = wave.group->context.options.matrixSums == MatrixSums::inOrder;
  if (inOrder && isFast(op, shape) && (!wave.group->strict || allDefined(wave, op))) {
    // D overlapping A or B is fine (both are copied first); overlapping C only if it is C.
    const bool cAside = op.source[2].file != File::vector || op.source[2].reg == op.result[0].reg ||
                        op.source[2].reg + op.source[2].words <= op.result[0].reg ||
                        op.result[0].reg + op.result[0].words <= op.source[2].reg;
    if (cAside) {
      multiplyFast(wave, op, shape);
      std::fill_n(wave.vgprValid.begin() + op.result[0].reg, op.result[0].words, allLanes);
      return;
    }
  }
#endif
  multiplyGeneric(wave, op);
}

std::span<const Semantics> matrixRows() {
  using enum Element;
  // name, m, n, k, blocks, A, B, passes
  static const MatrixShape shapes[] = {
      {"V_MFMA_F32_32X32X16_F16", 32, 32, 16, 1, f16, f16, 8},
      {"V_MFMA_F32_32X32X16_BF16", 32, 32, 16, 1, bf16, bf16, 8},
      {"V_MFMA_F32_16X16X32_F16", 16, 16, 32, 1, f16, f16, 4},
      {"V_MFMA_F32_16X16X32_BF16", 16, 16, 32, 1, bf16, bf16, 4},
      {"V_MFMA_F32_32X32X8F16", 32, 32, 8, 1, f16, f16, 8},
      {"V_MFMA_F32_32X32X8BF16_1K", 32, 32, 8, 1, bf16, bf16, 8},
      {"V_MFMA_F32_16X16X16F16", 16, 16, 16, 1, f16, f16, 4},
      {"V_MFMA_F32_16X16X16BF16_1K", 16, 16, 16, 1, bf16, bf16, 4},
      {"V_MFMA_F32_32X32X4F16", 32, 32, 4, 2, f16, f16, 16},
      {"V_MFMA_F32_32X32X4BF16_1K", 32, 32, 4, 2, bf16, bf16, 16},
      {"V_MFMA_F32_16X16X4F16", 16, 16, 4, 4, f16, f16, 8},
      {"V_MFMA_F32_16X16X4BF16_1K", 16, 16, 4, 4, bf16, bf16, 8},
      {"V_MFMA_F32_4X4X4F16", 4, 4, 4, 16, f16, f16, 2},
      {"V_MFMA_F32_4X4X4BF16_1K", 4, 4, 4, 16, bf16, bf16, 2},
      {"V_MFMA_F32_32X32X16_FP8_FP8", 32, 32, 16, 1, fp8, fp8, 8},
      {"V_MFMA_F32_32X32X16_FP8_BF8", 32, 32, 16, 1, fp8, bf8, 8},
      {"V_MFMA_F32_32X32X16_BF8_FP8", 32, 32, 16, 1, bf8, fp8, 8},
      {"V_MFMA_F32_32X32X16_BF8_BF8", 32, 32, 16, 1, bf8, bf8, 8},
      {"V_MFMA_F32_16X16X32_FP8_FP8", 16, 16, 32, 1, fp8, fp8, 4},
      {"V_MFMA_F32_16X16X32_FP8_BF8", 16, 16, 32, 1, fp8, bf8, 4},
      {"V_MFMA_F32_16X16X32_BF8_FP8", 16, 16, 32, 1, bf8, fp8, 4},
      {"V_MFMA_F32_16X16X32_BF8_BF8", 16, 16, 32, 1, bf8, bf8, 4},
      {"V_MFMA_F32_32X32X64_F8F6F4", 32, 32, 64, 1, f8f6f4, f8f6f4, 16},
      {"V_MFMA_F32_16X16X128_F8F6F4", 16, 16, 128, 1, f8f6f4, f8f6f4, 8},
      {"V_MFMA_SCALE_F32_32X32X64_F8F6F4", 32, 32, 64, 1, f8f6f4, f8f6f4, 16, true},
      {"V_MFMA_SCALE_F32_16X16X128_F8F6F4", 16, 16, 128, 1, f8f6f4, f8f6f4, 8, true},
      {"V_MFMA_I32_32X32X32_I8", 32, 32, 32, 1, i8, i8, 8},
      {"V_MFMA_I32_16X16X64_I8", 16, 16, 64, 1, i8, i8, 4},
      {"V_MFMA_I32_32X32X16I8", 32, 32, 16, 1, i8, i8, 8},
      {"V_MFMA_I32_16X16X32I8", 16, 16, 32, 1, i8, i8, 4},
      {"V_MFMA_I32_32X32X4I8", 32, 32, 4, 2, i8, i8, 16},
      {"V_MFMA_I32_16X16X4I8", 16, 16, 4, 4, i8, i8, 8},
      {"V_MFMA_I32_4X4X4I8", 4, 4, 4, 16, i8, i8, 2},
      {"V_MFMA_F32_32X32X2F32", 32, 32, 2, 1, f32, f32, 16},
      {"V_MFMA_F32_16X16X4F32", 16, 16, 4, 1, f32, f32, 8},
      {"V_MFMA_F32_32X32X1F32", 32, 32, 1, 2, f32, f32, 16},
      {"V_MFMA_F32_16X16X1F32", 16, 16, 1, 4, f32, f32, 8},
      {"V_MFMA_F32_4X4X1F32", 4, 4, 1, 16, f32, f32, 2},
      {"V_MFMA_F64_16X16X4F64", 16, 16, 4, 1, f64, f64, 16},
      {"V_MFMA_F64_4X4X4F64", 4, 4, 4, 4, f64, f64, 4},
  };
  static const auto rows = [] {
    std::array<Semantics, std::size(shapes)> built{};
    for (std::size_t i = 0; i < built.size(); ++i) {
      built[i] = {shapes[i].name, multiply, Flow::handler, &shapes[i]};
    }
    return built;
  }();
  return rows;
}

} // namespace kw::detail::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace kw::detail {
HWY_EXPORT(matrixRows);
std::span<const Semantics> matrixTable() { return HWY_DYNAMIC_DISPATCH(matrixRows)(); }
} // namespace kw::detail
#endif
