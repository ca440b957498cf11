// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Packs weights for preshuffle=1: what the caller of such a kernel does once.
#pragma once

#include "ir/ops/Gemm.h"

#include <cstdint>

namespace kw {

/// `b` as the problem's order, ldb and sb describe it without preshuffle, to as many matrices in
/// the order of ir/PreshuffledLayout.h, one behind the other; padded columns are zero.
void packWeights(const Gemm &unpacked, const std::uint8_t *b, std::uint8_t *packed);

} // namespace kw
