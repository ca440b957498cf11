// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The kernel argument segment of one launch, from a manifest's arguments and the kernel's metadata.
#pragma once

#include "ir/CodeObject.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

class LoadedCode;

/// Where the compiled kernel expects an explicit argument.
struct ArgumentSlot {
  std::string name;
  std::int64_t offset = 0, bytes = 0;
};

/// Device address of a buffer of the manifest.
using AddressOf = std::function<std::uint64_t(std::string_view buffer)>;

/// `slots` in metadata order. An argument with an offset goes there; one without takes the slot of
/// its position and must have its size. Gaps are zero. Arguments may neither overlap nor end behind
/// `kernargBytes`.
Expected<std::vector<std::uint8_t>> packArguments(const Launch &launch,
                                                  std::span<const ArgumentSlot> slots,
                                                  std::int64_t kernargBytes,
                                                  const AddressOf &addressOf);
/// The same with slots and size from the code object's metadata; badInput if it has no such kernel.
Expected<std::vector<std::uint8_t>> packArguments(const Launch &launch, const LoadedCode &code,
                                                  const AddressOf &addressOf);

} // namespace kw
