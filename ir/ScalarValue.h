// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Scalar kernel arguments between JSON numbers and raw little-endian bytes.
#pragma once

#include "ir/ElementType.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <vector>

namespace kw {

/// Types that a scalar argument may have: i8 to i64, u8 to u64, f16, bf16, f32, f64.
bool isScalarType(ElementType type);

/// Integers must fit; floats round to nearest even, and a finite number that does not fit is
/// refused. Floats may also be the strings "inf", "-inf" and "nan". The error names only the value.
Expected<std::vector<std::uint8_t>> encodeScalar(ElementType type, const nlohmann::json &value);

/// The inverse; `bytes` must have the size of the type.
nlohmann::json decodeScalar(ElementType type, const std::vector<std::uint8_t> &bytes);

} // namespace kw
