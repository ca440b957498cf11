// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/reference/Packing.h"

#include "ir/PreshuffledLayout.h"

#include <cassert>
#include <cstring>

namespace kw {

void packWeights(const Gemm &unpacked, const std::uint8_t *b, std::uint8_t *packed) {
  const PreshuffledLayout layout = preshuffledLayout(unpacked);
  assert(unpacked.k % layout.blockK() == 0 && "whole blocks along k");
  const std::int64_t bytes = layout.elementBytes;
  const std::int64_t columnStride = unpacked.bTransposed ? unpacked.ldb : 1;
  const std::int64_t rowStride = unpacked.bTransposed ? 1 : unpacked.ldb;
  std::memset(packed, 0, static_cast<std::size_t>(unpacked.batch * layout.elements() * bytes));
  for (std::int64_t batch = 0; batch < unpacked.batch; ++batch) {
    const std::uint8_t *from = b + batch * unpacked.sb * bytes;
    std::uint8_t *to = packed + batch * layout.elements() * bytes;
    for (std::int64_t column = 0; column < unpacked.n; ++column) {
      for (std::int64_t row = 0; row < unpacked.k; ++row) {
        std::memcpy(to + layout.index(column, row) * bytes,
                    from + (column * columnStride + row * rowStride) * bytes,
                    static_cast<std::size_t>(bytes));
      }
    }
  }
}

} // namespace kw
