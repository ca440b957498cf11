// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The matrix instructions of gfx950 as data, and where their elements lie. [gfx950.md 2.1 to 2.3]
//
//   D(i,j) = C(i,j) + sum over k of A(i,k) * B(k,j), `blocks` times
//
// A: row i, and B: column j, is the lane modulo M; the G = 64 / (M blocks) lane groups hold
// consecutive pieces of k, packed little end first. D: four rows to a register, then lane groups.
#pragma once

#include "runtime/emulator/Op.h"

#include <string_view>

namespace kw::detail {

enum class Element : std::uint8_t { f16, bf16, f32, f64, i8, fp8, bf8, fp6, bf6, fp4, f8f6f4 };

struct MatrixShape {
  std::string_view name;
  int m, n, k, blocks;
  Element a, b; ///< f8f6f4: cbsz and blgp tell
  int passes;   ///< of four cycles
  bool scaled = false;

  bool isDouble() const { return a == Element::f64; }
  bool isInteger() const { return a == Element::i8; }
  /// Runs on the XDL unit: all but f32 and f64. Decides wait states (Hazards.h).
  bool isXdl() const { return a != Element::f32 && a != Element::f64; }
  int groups() const { return laneCount / (m * blocks); }
  int elementsPerLane() const { return k / groups(); }
  double flops() const { return 2.0 * m * n * k * blocks; }
};

int elementBits(Element element);
/// Format of an f8f6f4 operand by its cbsz or blgp code, 0 to lastFormat. [gfx950.md 2.1]
Element f8f6f4Format(int code);
constexpr int lastFormat = 4;

/// Where an element of A or B is: lane, and its number among the lane's elements.
struct ElementPlace {
  int lane, index;
};
/// `row`: i of A or j of B. 8-bit operands of f8f6f4 come in two chunks of 16 elements.
inline ElementPlace operandPlace(const MatrixShape &shape, Element element, int block, int row,
                                 int k) {
  const int groups = shape.groups(), perLane = shape.elementsPerLane();
  int group = k / perLane, index = k % perLane;
  const bool isByte = element == Element::fp8 || element == Element::bf8;
  if (isByte && perLane == 32) {
    group = k % (16 * groups) / 16;
    index = k / (16 * groups) * 16 + k % 16;
  }
  return {row + shape.m * (block + shape.blocks * group), index};
}

/// Register (relative) and lane of D(i,j); f64 takes register pairs.
struct ResultPlace {
  int lane, reg;
};
inline ResultPlace resultPlace(const MatrixShape &shape, int block, int i, int j) {
  if (shape.isDouble()) {
    return shape.m == 4 ? ResultPlace{j + 4 * block + 16 * i, 0}
                        : ResultPlace{j + 16 * (i % 4), 2 * (i / 4)};
  }
  if (shape.m == 4) {
    return {4 * block + j, i};
  }
  const int groups = laneCount / shape.n;
  return {j + shape.n * (i / 4 % groups),
          4 * (i / (4 * groups)) + i % 4 + block * shape.m * shape.n / laneCount};
}

/// Op::data of a V_MFMA_*.
const MatrixShape &matrixShape(const Op &op);

/// The plain implementation: element by element through the layout functions, f32 fused
/// multiply-adds in k order. The fast paths must agree with it bit for bit.
void multiplyGeneric(Wave &wave, const Op &op);

} // namespace kw::detail
