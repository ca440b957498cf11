// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One size of a problem, taken through a range: `--sweep m=1..32768*2`.
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

struct SweepAxis {
  std::string key;                  ///< of the problem's text
  std::vector<std::int64_t> values; ///< rising
};

/// `KEY=FIRST..LAST*FACTOR`, `KEY=FIRST..LAST+STEP` (both ends included, the last where it is hit)
/// or `KEY=V,V,...`. The error says what is accepted; at most 4096 values.
Expected<SweepAxis> parseSweepAxis(std::string_view text);

/// The problem's text with `key=value` in place of what stood there, or added. `words` may be
/// quoted together.
std::string withKey(std::span<const std::string> words, std::string_view key, std::int64_t value);

} // namespace kw
