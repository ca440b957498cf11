// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The inside of a trial process: one request becomes one answer, in this process. Whatever LLVM or
// the emulator does to it is the pool's concern.
#pragma once

#include "experiments/trials/TrialMessage.h"

#include <filesystem>

namespace kw {

/// Compiled kernels are written to `artifactFolder`. Rungs run in the order of the ladder and end
/// at the first that fails; a kernel that spills ends there too.
TrialAnswer runTrial(const TrialRequest &request, const std::filesystem::path &artifactFolder);

} // namespace kw
