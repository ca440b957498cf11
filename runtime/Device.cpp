// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Device.h"

#include <dlfcn.h>
#include <fmt/format.h>

namespace kw {
namespace {

/// Why there is no HIP device here. The library is looked for at run time, so that one binary
/// serves machines with and without a GPU.
Error hipUnavailable() {
  for (const char *library : {"libamdhip64.so", "libamdhip64.so.7", "libamdhip64.so.6"}) {
    if (void *handle = dlopen(library, RTLD_NOW | RTLD_LOCAL)) {
      dlclose(handle);
      return {Error::Kind::failed,
              fmt::format("device 'hip': found {}, but running on a GPU is not built into this "
                          "version; use 'emulated'",
                          library)};
    }
  }
  return {Error::Kind::failed, "device 'hip': libamdhip64.so is not found (no ROCm, no GPU on this "
                               "machine); use 'emulated'"};
}

} // namespace

Expected<std::unique_ptr<Device>> makeDevice(std::string_view name) {
  if (name == "emulated") {
    return makeEmulatedDevice();
  }
  if (name == "hip") {
    return tl::unexpected<Error>(hipUnavailable());
  }
  return badInput(fmt::format("device '{}' is unknown; accepted: emulated, hip", name));
}

} // namespace kw
