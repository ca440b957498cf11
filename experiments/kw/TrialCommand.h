// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How this program starts itself as a trial process.
#pragma once

#include "experiments/trials/TrialPool.h"

#include <filesystem>

namespace kw {

/// A pool of `kw trial --worker` processes that write kernels to `artifactFolder` and end with
/// this process, however it ends.
TrialPool makeTrialPool(const std::filesystem::path &artifactFolder, int jobs);

/// Memory that one of `jobs` trials at a time may use, MiB: its share of the machine, but at least
/// 4 GiB, since what is limited is address space.
std::int64_t trialMemoryMb(int jobs);

} // namespace kw
