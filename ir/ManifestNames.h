// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The words of the launch manifest, in the order of the enumerations that they stand for.
#pragma once

#include "ir/CodeObject.h"

#include <array>
#include <cstddef>
#include <string_view>

namespace kw {

inline constexpr std::array<std::string_view, 3> bufferRoleNames = {"input", "output", "workspace"};

/// The kinds of `BufferInit` that draw numbers, from `normal` on.
inline constexpr std::array<std::string_view, 4> randomKindNames = {"normal", "uniform", "integers",
                                                                    "bytes"};
inline constexpr auto firstRandomKind = static_cast<std::size_t>(BufferInit::Kind::normal);

} // namespace kw
