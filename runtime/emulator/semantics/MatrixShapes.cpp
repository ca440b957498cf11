// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/semantics/MatrixShapes.h"

#include "runtime/emulator/FloatMode.h"
#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/Fetch.h"
#include "runtime/emulator/semantics/Numbers.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>
#include <vector>

namespace kw::detail {

int elementBits(Element element) {
  switch (element) {
  case Element::f64:
    return 64;
  case Element::f32:
    return 32;
  case Element::f16:
  case Element::bf16:
    return 16;
  case Element::fp6:
  case Element::bf6:
    return 6;
  case Element::fp4:
    return 4;
  default:
    return 8;
  }
}

Element f8f6f4Format(int code) {
  static constexpr Element formats[] = {Element::fp8, Element::bf8, Element::fp6, Element::bf6,
                                        Element::fp4};
  assert(code >= 0 && code <= lastFormat && "others are invalid encodings");
  return formats[code];
}

const MatrixShape &matrixShape(const Op &op) {
  assert(op.data && "not a matrix instruction");
  return *static_cast<const MatrixShape *>(op.data);
}

namespace {

f64 decode(Element element, u64 bits) {
  switch (element) {
  case Element::f64:
    return std::bit_cast<f64>(bits);
  case Element::f32:
    return floatOf(static_cast<u32>(bits));
  case Element::f16:
    return fromHalf(static_cast<u32>(bits));
  case Element::bf16:
    return fromBfloat(static_cast<u32>(bits));
  case Element::fp8:
    return fromSmall(e4m3, static_cast<u32>(bits));
  case Element::bf8:
    return fromSmall(e5m2, static_cast<u32>(bits));
  case Element::fp6:
    return fromSmall(e2m3, static_cast<u32>(bits));
  case Element::bf6:
    return fromSmall(e3m2, static_cast<u32>(bits));
  case Element::fp4:
    return fromSmall(e2m1, static_cast<u32>(bits));
  default:
    return static_cast<std::int8_t>(bits);
  }
}

/// a + b rounded once to f32: the f64 sum is made odd where it is not exact.
f32 addOnce(f64 a, f64 b) {
  const f64 sum = a + b;
  const f64 back = sum - a;
  const f64 error = (a - (sum - back)) + (b - back);
  if (error == 0 || !std::isfinite(sum)) {
    return static_cast<f32>(sum);
  }
  u64 bits = std::bit_cast<u64>(sum);
  if ((bits & 1) == 0) {
    bits = std::signbit(error) == std::signbit(sum) ? bits + 1 : bits - 1;
  }
  return static_cast<f32>(std::bit_cast<f64>(bits));
}

/// MatrixSums::grouped.
f32 addGroup(f32 sum, std::span<const f64> products) {
  int largest = std::numeric_limits<int>::min();
  f64 special = 0;
  for (const f64 product : products) {
    if (!std::isfinite(product)) {
      special += product;
    } else if (product != 0) {
      largest = std::max(largest, std::ilogb(product));
    }
  }
  if (special != 0 || std::isnan(special)) {
    return static_cast<f32>(static_cast<f64>(sum) + special);
  }
  if (largest == std::numeric_limits<int>::min()) {
    return sum;
  }
  f64 group = 0; // at most 16 integers of 25 bits: exact
  for (const f64 product : products) {
    group += std::floor(std::ldexp(product, 24 - largest));
  }
  return addOnce(sum, std::ldexp(group, largest - 24));
}

class GenericMultiply {
public:
  GenericMultiply(Wave &wave, const Op &op)
      : wave(wave), op(op), shape(matrixShape(op)),
        formatA(shape.a == Element::f8f6f4 ? f8f6f4Format(static_cast<int>(op.imm)) : shape.a),
        formatB(shape.b == Element::f8f6f4 ? f8f6f4Format(static_cast<int>(op.imm3)) : shape.b) {}

  void run() {
    const int registers = op.result[0].words;
    // Results are written at the end: D may overlap A and B.
    std::vector<std::array<u32, laneCount>> out(registers);
    std::vector<u64> valid(registers, allLanes);
    for (int block = 0; block < shape.blocks; ++block) {
      for (int i = 0; i < shape.m; ++i) {
        for (int j = 0; j < shape.n; ++j) {
          const ResultPlace at = resultPlace(shape, block, i, j);
          defined = true;
          if (shape.isDouble()) {
            const u64 bits = std::bit_cast<u64>(elementF64(block, i, j, at));
            out[at.reg][at.lane] = static_cast<u32>(bits);
            out[at.reg + 1][at.lane] = static_cast<u32>(bits >> 32);
            valid[at.reg + 1] &= defined ? allLanes : ~(u64{1} << at.lane);
          } else {
            out[at.reg][at.lane] = shape.isInteger() ? elementI32(block, i, j, at)
                                                     : bitsOf(elementF32(block, i, j, at));
          }
          valid[at.reg] &= defined ? allLanes : ~(u64{1} << at.lane);
        }
      }
    }
    for (int reg = 0; reg < registers; ++reg) {
      std::copy(out[reg].begin(), out[reg].end(), wave.vgpr[op.result[0].reg + reg]);
      wave.vgprValid[op.result[0].reg + reg] = valid[reg];
      wave.vgprOrigin[op.result[0].reg + reg] = op.index + 1;
    }
  }

private:
  u64 raw(const Operand &operand, Element element, ElementPlace place) {
    const int bits = elementBits(element), bit = place.index * bits, word = bit / 32;
    const auto at = [&](int w) -> u64 {
      if (operand.file != File::vector) {
        return operand.value;
      }
      if (w >= operand.words) {
        return 0;
      }
      defined = defined && (wave.vgprValid[operand.reg + w] >> place.lane & 1);
      return wave.vgpr[operand.reg + w][place.lane];
    };
    if (bits == 64) {
      return at(2 * place.index) | at(2 * place.index + 1) << 32;
    }
    const bool crosses = bit % 32 + bits > 32;
    const u64 window = at(word) | (crosses ? at(word + 1) << 32 : 0);
    return window >> (bit % 32) & ((u64{1} << bits) - 1);
  }

  /// cbsz: groups of 2^cbsz blocks share the A of block abid.
  ElementPlace placeA(int block, int i, int k) {
    if (shape.a != Element::f8f6f4 && shape.blocks > 1 && op.imm > 0) {
      const int group = 1 << op.imm;
      block = block / group * group + static_cast<int>(op.imm2) % group;
    }
    return operandPlace(shape, formatA, block, i, k);
  }
  /// blgp: 1, 2 broadcast a half of the lanes, 3 rotates by 16, 4..7 broadcast 16 lanes.
  ElementPlace placeB(int block, int j, int k) {
    ElementPlace place = operandPlace(shape, formatB, block, j, k);
    if (shape.b == Element::f8f6f4 || shape.isDouble()) {
      return place;
    }
    const int blgp = static_cast<int>(op.imm3);
    place.lane = blgp == 0   ? place.lane
                 : blgp == 1 ? place.lane % 32
                 : blgp == 2 ? place.lane % 32 + 32
                 : blgp == 3 ? (place.lane + 16) % laneCount
                             : place.lane % 16 + 16 * (blgp - 4);
    return place;
  }
  f64 a(int block, int i, int k) {
    return decode(formatA, raw(op.source[0], formatA, placeA(block, i, k)));
  }
  f64 b(int block, int k, int j) {
    return decode(formatB, raw(op.source[1], formatB, placeB(block, j, k)));
  }
  u32 c32(ResultPlace at) {
    return static_cast<u32>(raw(op.source[2], Element::f32, {at.lane, at.reg}));
  }

  /// E8M0 scale of row or column `row` for the block of 32 that k is in: lane row + M (k / 32).
  f32 scale(int source, int row, int k) {
    if (!shape.scaled) {
      return 1;
    }
    const int byte = static_cast<int>(op.imm2 >> (source == 3 ? 0 : 2) & 3);
    const u64 word = raw(op.source[source], Element::f32, {row + shape.m * (k / 32), 0});
    return fromE8m0(static_cast<u32>(word >> (8 * byte)) & 255);
  }

  f32 elementF32(int block, int i, int j, ResultPlace at) {
    f32 sum = floatOf(c32(at));
    if (wave.group->context.options.matrixSums == MatrixSums::grouped && shape.a != Element::f32) {
      const int group = elementBits(formatA) > 8 ? 8 : 16;
      for (int k = 0; k < shape.k; k += group) {
        f64 products[16];
        const int count = std::min(group, shape.k - k);
        for (int n = 0; n < count; ++n) {
          products[n] = a(block, i, k + n) * static_cast<f64>(scale(3, i, k + n)) *
                        (b(block, k + n, j) * static_cast<f64>(scale(4, j, k + n)));
        }
        sum = addGroup(sum, {products, static_cast<std::size_t>(count)});
      }
      return sum;
    }
    for (int k = 0; k < shape.k; ++k) {
      const f32 left = static_cast<f32>(a(block, i, k)) * scale(3, i, k);
      const f32 right = static_cast<f32>(b(block, k, j)) * scale(4, j, k);
      sum = std::fma(left, right, sum);
    }
    return sum;
  }
  u32 elementI32(int block, int i, int j, ResultPlace at) {
    u32 sum = c32(at);
    for (int k = 0; k < shape.k; ++k) {
      sum += static_cast<u32>(static_cast<i32>(a(block, i, k)) * static_cast<i32>(b(block, k, j)));
    }
    return sum;
  }
  f64 elementF64(int block, int i, int j, ResultPlace at) {
    const auto negated = [&](int operand) { return op.imm3 >> operand & 1 ? -1.0 : 1.0; };
    f64 sum =
        negated(2) * std::bit_cast<f64>(raw(op.source[2], Element::f64, {at.lane, at.reg / 2}));
    for (int k = 0; k < shape.k; ++k) {
      sum = std::fma(negated(0) * a(block, i, k), negated(1) * b(block, k, j), sum);
    }
    return sum;
  }

  Wave &wave;
  const Op &op;
  const MatrixShape &shape;
  Element formatA, formatB;
  bool defined = true;
};

} // namespace

void multiplyGeneric(Wave &wave, const Op &op) { GenericMultiply(wave, op).run(); }

} // namespace kw::detail
