// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LLVM's decoder lets pass although hardware has no meaning for it: too many scalar operands,
// operands of a wrong kind, misaligned or overlapping register tuples, modifiers on results that
// take none.
#pragma once

#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Op.h"

#include <cstdint>
#include <string_view>

namespace kw::detail {

/// An instruction as it lies in memory and as LLVM prints it.
struct EncodedText {
  std::uint32_t first; ///< dword
  unsigned bytes;
  std::string_view text;
};

/// One line that says what is wrong, or null. `op`: with its operands decoded.
const char *invalidEncoding(const OpcodeName &name, const Op &op, const EncodedText &encoded);

} // namespace kw::detail
