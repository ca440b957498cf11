// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a bundle says of a kernel's time, made again from problem, schedule and code object.
#pragma once

#include "experiments/inductor/Bundle.h"

namespace kw {

/// Time, interval and limiter of `entry` by the model (source "model") or by the model with the
/// code object's registers and occupancy ("compiled"). Other sources are an error: nothing in a
/// bundle could prove them.
Expected<void> predict(BundleEntry &entry, const Target &target);

} // namespace kw
