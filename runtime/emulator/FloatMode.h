// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The wave's f32 rounding and denormal mode, carried out by the host's floating-point unit.
#pragma once

#include <cstdint>

namespace kw::detail {

/// MODE bits 0-1: f32 rounding (0 nearest even, 1 up, 2 down, 3 toward zero); bits 4-5: f32
/// denormals allowed in sources, in results. f16 and f64 follow the same mode (approximate when
/// they differ: their denormals are kept by f16's detour through f32 anyway).
class HostFloatMode {
public:
  explicit HostFloatMode(std::uint32_t mode);
  ~HostFloatMode();
  HostFloatMode(const HostFloatMode &) = delete;
  HostFloatMode &operator=(const HostFloatMode &) = delete;

private:
  unsigned saved = 0;
};

} // namespace kw::detail
