// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/hip/HipDevice.h"

#include "runtime/Kernarg.h"
#include "runtime/emulator/Emulator.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <fmt/format.h>

namespace kw {
namespace {

constexpr int firstDevice = 0;

/// The buffers of a manifest in the GPU's memory.
class DeviceBuffers {
public:
  explicit DeviceBuffers(const HipLibrary &library) : library(library) {}
  DeviceBuffers(const DeviceBuffers &) = delete;
  DeviceBuffers &operator=(const DeviceBuffers &) = delete;
  ~DeviceBuffers() {
    for (const Copy &copy : copies) {
      library.free(copy.device);
    }
  }

  Expected<void> copyIn(std::span<const BufferView> views) {
    for (const BufferView &view : views) {
      void *device = nullptr;
      // HIP gives null for no bytes, which a kernel may not even be handed.
      const std::size_t bytes = std::max<std::size_t>(view.bytes.size(), 1);
      if (auto done = library.check(library.malloc(&device, bytes),
                                    fmt::format("{} bytes for '{}'", bytes, view.name));
          !done) {
        return done;
      }
      copies.push_back({view, device});
      if (auto done = library.check(
              library.memcpy(device, view.bytes.data(), view.bytes.size(), hip::hostToDevice),
              fmt::format("copying '{}' to the device", view.name));
          !done) {
        return done;
      }
    }
    return {};
  }

  Expected<void> copyOut() const {
    for (const Copy &copy : copies) {
      if (auto done = library.check(library.memcpy(copy.view.bytes.data(), copy.device,
                                                   copy.view.bytes.size(), hip::deviceToHost),
                                    fmt::format("copying '{}' back", copy.view.name));
          !done) {
        return done;
      }
    }
    return {};
  }

  std::uint64_t address(std::string_view buffer) const {
    const auto found = std::find_if(copies.begin(), copies.end(),
                                    [&](const Copy &copy) { return copy.view.name == buffer; });
    assert(found != copies.end() && "manifests name existing buffers only");
    return reinterpret_cast<std::uint64_t>(found->device);
  }

private:
  struct Copy {
    BufferView view;
    void *device;
  };
  const HipLibrary &library;
  std::vector<Copy> copies;
};

class LoadedModule {
public:
  explicit LoadedModule(const HipLibrary &library) : library(library) {}
  LoadedModule(const LoadedModule &) = delete;
  LoadedModule &operator=(const LoadedModule &) = delete;
  ~LoadedModule() {
    if (module) {
      library.moduleUnload(module);
    }
  }

  Expected<void> load(std::span<const std::uint8_t> hsaco) {
    return library.check(library.moduleLoadData(&module, hsaco.data()), "loading the code object");
  }
  Expected<hip::Function> function(const std::string &kernel) const {
    hip::Function result = nullptr;
    if (auto done = library.check(library.moduleGetFunction(&result, module, kernel.c_str()),
                                  fmt::format("kernel '{}'", kernel));
        !done) {
      return tl::unexpected<Error>(done.error());
    }
    return result;
  }

private:
  const HipLibrary &library;
  hip::Module module = nullptr;
};

/// Launches and waits.
Expected<void> launchAndWait(const HipLibrary &library, hip::Function function,
                             const Launch &launch, std::vector<std::uint8_t> &kernarg) {
  std::size_t bytes = kernarg.size();
  void *extra[] = {hip::pointerKey, kernarg.data(), hip::sizeKey, &bytes, hip::endKey};
  const auto &[gridX, gridY, gridZ] = launch.grid;
  const auto &[blockX, blockY, blockZ] = launch.block;
  if (auto done = library.check(library.moduleLaunchKernel(function, gridX, gridY, gridZ, blockX,
                                                           blockY, blockZ, launch.dynamicLds,
                                                           nullptr, nullptr, extra),
                                fmt::format("launching '{}'", launch.kernel));
      !done) {
    return done;
  }
  return library.check(library.deviceSynchronize(), fmt::format("running '{}'", launch.kernel));
}

Expected<double> runLaunch(const HipLibrary &library, const LoadedCode &code,
                           const LoadedModule &module, const Launch &launch,
                           const DeviceBuffers &buffers) {
  Expected<std::vector<std::uint8_t>> kernarg =
      packArguments(launch, code, [&](std::string_view buffer) { return buffers.address(buffer); });
  if (!kernarg) {
    return tl::unexpected<Error>(kernarg.error());
  }
  Expected<hip::Function> function = module.function(launch.kernel);
  if (!function) {
    return tl::unexpected<Error>(function.error());
  }
  const auto start = std::chrono::steady_clock::now();
  if (auto done = launchAndWait(library, *function, launch, *kernarg); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// Whether the device can run the code object, as it was asked to.
Expected<void> checkRunnable(const Manifest &manifest, const HipDeviceInfo &device,
                             const RunOptions &options) {
  // LoadedCode takes code for gfx950 only: a manifest without a target means that.
  const std::string_view target = manifest.target.empty() ? "gfx950" : manifest.target;
  if (target != device.arch) {
    return badInput(fmt::format("the code object is for {}, but device 'hip' ({}) is {}", target,
                                device.name, device.arch));
  }
  for (const auto &chosen : options.workgroups) {
    if (!chosen.empty()) {
      return badInput("device 'hip' runs all workgroups of a launch, not a choice of them");
    }
  }
  return {};
}

} // namespace

Expected<std::unique_ptr<HipDevice>> HipDevice::open() {
  Expected<HipLibrary> library = HipLibrary::open();
  if (!library) {
    return tl::unexpected<Error>(library.error());
  }
  int count = 0;
  if (auto done = library->check(library->init(0), "initialising"); !done) {
    return tl::unexpected<Error>(done.error());
  }
  if (auto done = library->check(library->getDeviceCount(&count), "counting devices"); !done) {
    return tl::unexpected<Error>(done.error());
  }
  if (count == 0) {
    return failed(fmt::format("device 'hip': {} finds no GPU", library->file));
  }
  Expected<HipDeviceInfo> info = library->describe(firstDevice);
  if (!info) {
    return tl::unexpected<Error>(info.error());
  }
  return std::unique_ptr<HipDevice>(new HipDevice(std::move(*library), std::move(*info)));
}

Expected<RunResult> HipDevice::run(const CodeObject &object, std::span<const BufferView> views,
                                   const RunOptions &options) {
  if (auto runnable = checkRunnable(object.manifest, description, options); !runnable) {
    return tl::unexpected<Error>(runnable.error());
  }
  Expected<LoadedCode> code = LoadedCode::load(object.hsaco);
  if (!code) {
    return tl::unexpected<Error>(code.error());
  }
  // The current device belongs to the calling thread.
  if (auto done = library.check(library.setDevice(firstDevice), "choosing the device"); !done) {
    return tl::unexpected<Error>(done.error());
  }
  LoadedModule module(library);
  if (auto done = module.load(object.hsaco); !done) {
    return tl::unexpected<Error>(done.error());
  }
  DeviceBuffers buffers(library);
  if (auto done = buffers.copyIn(views); !done) {
    return tl::unexpected<Error>(done.error());
  }
  RunResult result;
  for (const Launch &launch : object.manifest.launches) {
    Expected<double> seconds = runLaunch(library, *code, module, launch, buffers);
    if (!seconds) {
      return tl::unexpected<Error>(seconds.error());
    }
    result.seconds += *seconds;
  }
  if (auto done = buffers.copyOut(); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return result;
}

} // namespace kw
