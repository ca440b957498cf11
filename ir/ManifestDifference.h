// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds a manifest against the one that its problem, schedule and target make.
#pragma once

#include "ir/CodeObject.h"

#include <string>

namespace kw {

/// Where `claimed` first says something else of buffers or launches than `truth`, as "buffer 'c':
/// role is input, not output"; empty: nowhere. A buffer may be larger. Left free: names of files and
/// kernels, random contents of inputs, what is saved, guards (proven by running sizes within them).
std::string firstDifference(const Manifest &claimed, const Manifest &truth);

} // namespace kw
