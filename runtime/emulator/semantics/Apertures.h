// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Where flat addresses mean LDS or scratch: 4 GiB windows above all global allocations.
#pragma once

#include <cstdint>

namespace kw::detail::aperture {

constexpr std::uint64_t shared = std::uint64_t{1} << 48;
constexpr std::uint64_t scratch = std::uint64_t{2} << 48;

inline bool isShared(std::uint64_t address) { return address >> 32 == shared >> 32; }
inline bool isScratch(std::uint64_t address) { return address >> 32 == scratch >> 32; }

} // namespace kw::detail::aperture
