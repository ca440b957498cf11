// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/FloatMode.h"

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace kw::detail {

#if defined(__x86_64__)
HostFloatMode::HostFloatMode(std::uint32_t mode) : saved(_mm_getcsr()) {
  constexpr unsigned flushResults = 1u << 15, flushSources = 1u << 6, allMasked = 0x1f80;
  static constexpr unsigned roundings[] = {0, 2u << 13, 1u << 13, 3u << 13};
  unsigned csr = allMasked | roundings[mode & 3];
  csr |= mode >> 4 & 1 ? 0 : flushSources;
  csr |= mode >> 5 & 1 ? 0 : flushResults;
  _mm_setcsr(csr);
}
HostFloatMode::~HostFloatMode() { _mm_setcsr(saved); }
#else
HostFloatMode::HostFloatMode(std::uint32_t) {}
HostFloatMode::~HostFloatMode() = default;
#endif

} // namespace kw::detail
