// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Relocatable AMDGPU object to HSACO, with LLD in process. No ROCm installation is needed.
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <string_view>
#include <vector>

namespace kw {

/// LLD keeps global state and works on files only: calls are serialised, and the files lie in a
/// fresh private folder that is gone afterwards.
Expected<std::vector<std::uint8_t>> linkHsaco(std::string_view object);

} // namespace kw
