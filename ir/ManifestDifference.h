// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Holds a manifest against the one that its problem, schedule and target make.
#pragma once

#include "ir/CodeObject.h"

#include <string>

namespace kw {

/// Where `claimed` first says something else of buffers or launches than `truth`, as "buffer 'c':
/// role is input, not output"; empty: nowhere. A buffer may be larger, guards may be more. Left
/// free: names of files and kernels, random contents of inputs, what is saved, numbers among
/// arguments.
std::string firstDifference(const Manifest &claimed, const Manifest &truth);

/// Where a number among the arguments is first another, as "launch 0: args[3] is ff000000, not
/// 10000000" (bytes in the order of memory); empty: nowhere. For manifests without a first
/// difference.
std::string firstOtherNumber(const Manifest &claimed, const Manifest &truth);

} // namespace kw
