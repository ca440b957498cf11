// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/reference/Gemm.h"

#include "ir/PreshuffledLayout.h"
#include "runtime/Numbers.h"
#include "runtime/reference/DotProducts.h"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

/// Elements of k that are converted at a time: the panels of a 256 x 256 block stay in L2.
constexpr std::int64_t chunkLength = 512;

/// A as rows or B as columns: vectors along k.
struct Operand {
  ElementType type;
  const std::uint8_t *data;
  std::int64_t base;         ///< element of the first vector at k = 0
  std::int64_t vectorStride; ///< elements from vector to vector
  std::int64_t kStride;
  std::int64_t vectors;
  const PreshuffledLayout *packed = nullptr; ///< then `base` is its element 0
  std::int64_t firstColumn = 0;
};

/// Elements [k, k + count) of packed columns; k and the layout are whole packs.
void convertPacked(const Operand &operand, std::int64_t k, std::int64_t count, std::int64_t pitch,
                   double *to) {
  const std::int64_t pack = operand.packed->packElements();
  for (std::int64_t v = 0; v < operand.vectors; ++v) {
    for (std::int64_t i = 0; i < count; i += pack) {
      const std::int64_t at = operand.packed->index(operand.firstColumn + v, k + i);
      decodeNumbers(operand.type, operand.data, operand.base + at, pack, to + v * pitch + i);
    }
  }
}

/// Elements [k, k + count) of every vector, padded with zeros to `pitch`.
void convert(const Operand &operand, std::int64_t k, std::int64_t count, std::int64_t pitch,
             double *to, std::vector<double> &scratch) {
  std::fill_n(to, operand.vectors * pitch, 0.0);
  if (operand.packed != nullptr) {
    return convertPacked(operand, k, count, pitch, to);
  }
  if (operand.kStride == 1) {
    for (std::int64_t v = 0; v < operand.vectors; ++v) {
      decodeNumbers(operand.type, operand.data, operand.base + v * operand.vectorStride + k, count,
                    to + v * pitch);
    }
    return;
  }
  scratch.resize(static_cast<std::size_t>(operand.vectors));
  for (std::int64_t i = 0; i < count; ++i) { // vectorStride is 1: a line of memory per k
    decodeNumbers(operand.type, operand.data, operand.base + (k + i) * operand.kStride,
                  operand.vectors, scratch.data());
    for (std::int64_t v = 0; v < operand.vectors; ++v) {
      to[v * pitch + i] = scratch[static_cast<std::size_t>(v)];
    }
  }
}

Operand rowsOfA(const Gemm &gemm, const std::uint8_t *a, const GemmBlock &block) {
  const std::int64_t rowStride = gemm.aTransposed ? 1 : gemm.lda;
  const std::int64_t kStride = gemm.aTransposed ? gemm.lda : 1;
  return {gemm.aType, a,       block.batch * gemm.sa + block.row * rowStride,
          rowStride,  kStride, block.rows};
}

Operand columnsOfB(const Gemm &gemm, const std::uint8_t *b, const GemmBlock &block) {
  const std::int64_t colStride = gemm.bTransposed ? gemm.ldb : 1;
  const std::int64_t kStride = gemm.bTransposed ? 1 : gemm.ldb;
  return {gemm.bType, b,       block.batch * gemm.sb + block.col * colStride,
          colStride,  kStride, block.cols};
}

} // namespace

Expected<void> checkReferenceCovers(const Gemm &gemm) {
  const auto without = [](const char *what) {
    return failed(std::string("validation of gemm does not cover ") + what + " yet");
  };
  if (gemm.aScale != ScaleMode::none || gemm.bScale != ScaleMode::none) {
    return without("scales");
  }
  if (!gemm.epilogue.empty() && gemm.epilogue.back().kind == EpilogueKind::quant) {
    return without("quantised results");
  }
  if (gemm.preshuffle && gemm.k % preshuffledLayout(gemm).blockK() != 0) {
    return without("packed weights with k no multiple of a block");
  }
  return {};
}

GemmReference referenceGemm(const Gemm &gemm, const std::uint8_t *a, const std::uint8_t *b,
                            const GemmBlock &block, bool withMagnitude) {
  const Operand left = rowsOfA(gemm, a, block);
  const PreshuffledLayout layout = preshuffledLayout(gemm);
  Operand right = columnsOfB(gemm, b, block);
  if (gemm.preshuffle) {
    right.base = block.batch * gemm.sb;
    right.packed = &layout;
    right.firstColumn = block.col;
  }
  const auto elements = static_cast<std::size_t>(block.rows * block.cols);
  GemmReference result;
  result.value.assign(elements, 0);
  result.magnitude.assign(withMagnitude ? elements : 0, 0);
  std::vector<double> leftPanel(static_cast<std::size_t>(block.rows * chunkLength));
  std::vector<double> rightPanel(static_cast<std::size_t>(block.cols * chunkLength));
  std::vector<double> scratch;
  for (std::int64_t k = 0; k < gemm.k; k += chunkLength) {
    const std::int64_t count = std::min(chunkLength, gemm.k - k);
    const std::int64_t pitch = (count + dotGranule - 1) / dotGranule * dotGranule;
    convert(left, k, count, pitch, leftPanel.data(), scratch);
    convert(right, k, count, pitch, rightPanel.data(), scratch);
    addDotProducts(leftPanel.data(), block.rows, rightPanel.data(), block.cols, pitch,
                   result.value.data(), withMagnitude ? result.magnitude.data() : nullptr);
  }
  for (double &value : result.value) {
    value *= gemm.alpha;
  }
  for (double &magnitude : result.magnitude) {
    magnitude *= std::fabs(gemm.alpha);
  }
  return result;
}

} // namespace kw
