// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What LLVM's decoder lets pass although hardware has no meaning for it: too many scalar operands,
// misaligned register tuples, modifiers on results that take none.
#pragma once

#include "runtime/emulator/Decoder.h"
#include "runtime/emulator/Op.h"

#include <cstdint>

namespace kw::detail {

/// One line that says what is wrong, or null. `op`: with its operands decoded. `first`: the
/// instruction's first dword, `bytes` its length.
const char *invalidEncoding(const OpcodeName &name, const Op &op, std::uint32_t first,
                            unsigned bytes);

} // namespace kw::detail
