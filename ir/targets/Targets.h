// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function a GPU; the rows of `targets()` (ir/Target.cpp) call them. To add a GPU write
// ir/targets/NAME.cpp, declare it here and add it to the row list.
//
// Tags of the values in these files, as in the collected hardware notes: [V] stated by the vendor,
// [M] measured and published, [T] read from published instruction traces, [L] obtained from LLVM
// 22, [D] derived by arithmetic, [3] measured on CDNA3 and carried over, [A] assumed.
#pragma once

#include "ir/Target.h"

namespace kw {

const Target &gfx950Target();
const Target &gfx942Target();

} // namespace kw
