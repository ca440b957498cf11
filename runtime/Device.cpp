// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Device.h"

#include "runtime/hip/HipDevice.h"

#include <fmt/format.h>

namespace kw {

Expected<std::unique_ptr<Device>> makeDevice(std::string_view name, double limitSeconds) {
  if (name == "emulated") {
    return makeEmulatedDevice();
  }
  if (name == "hip") {
    return HipDevice::open(limitSeconds)
        .map([](std::unique_ptr<HipDevice> device) -> std::unique_ptr<Device> { return device; });
  }
  return badInput(fmt::format("device '{}' is unknown; accepted: emulated, hip", name));
}

} // namespace kw
