// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/PreshuffledLayout.h"

#include <algorithm>

namespace kw {

std::int64_t PreshuffledLayout::index(std::int64_t column, std::int64_t row) const {
  const std::int64_t block = column / columns * blocksK() + row / blockK();
  const std::int64_t group = row % blockK() / packElements();
  return ((block * groups + group) * columns + column % columns) * packElements() +
         row % packElements();
}

PreshuffledLayout preshuffledLayout(const Gemm &gemm) {
  const int bits = bitWidth(gemm.bType);
  return {gemm.n, gemm.k, std::max(1, bits / 8), bits == 4 ? 2 : 1};
}

} // namespace kw
