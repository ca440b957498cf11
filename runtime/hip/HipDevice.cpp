// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/hip/HipDevice.h"

#include "runtime/hip/Disposable.h"
#include "runtime/hip/HipModule.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <fmt/format.h>
#include <sys/mman.h>

namespace kw {
namespace {

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

  Expected<void> copyIn(std::span<const BufferView> views, const Heartbeat &heartbeat) {
    for (const BufferView &view : views) {
      heartbeat(fmt::format("copying '{}' to the device", view.name));
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

  /// One after another to `to`.
  Expected<void> copyOut(std::uint8_t *to, const Heartbeat &heartbeat) const {
    for (const Copy &copy : copies) {
      const std::string what = fmt::format("copying '{}' back", copy.view.name);
      heartbeat(what);
      const std::size_t bytes = copy.view.bytes.size();
      if (auto done =
              library.check(library.memcpy(to, copy.device, bytes, hip::deviceToHost), what);
          !done) {
        return done;
      }
      to += bytes;
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

/// Memory that parent and child see.
class SharedBytes {
public:
  explicit SharedBytes(std::size_t bytes) : bytes(std::max<std::size_t>(bytes, 1)) {
    memory = mmap(nullptr, this->bytes, PROT_READ | PROT_WRITE,
                  MAP_SHARED | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  }
  SharedBytes(const SharedBytes &) = delete;
  SharedBytes &operator=(const SharedBytes &) = delete;
  ~SharedBytes() {
    if (*this) {
      munmap(memory, bytes);
    }
  }
  explicit operator bool() const { return memory != MAP_FAILED; }
  std::uint8_t *data() const { return static_cast<std::uint8_t *>(memory); }

private:
  std::size_t bytes;
  void *memory;
};

/// Launches and waits; host seconds.
Expected<double> runLaunch(const HipLibrary &library, ReadyLaunch &launch) {
  const auto start = std::chrono::steady_clock::now();
  if (auto done = launch.queue(library); !done) {
    return tl::unexpected<Error>(done.error());
  }
  if (auto done =
          library.check(library.deviceSynchronize(), fmt::format("running '{}'", launch.kernel));
      !done) {
    return tl::unexpected<Error>(done.error());
  }
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

/// The child's work: the seconds of all launches as text, the buffers in `results`.
Expected<std::string> runAll(const CodeObject &object, std::span<const BufferView> views,
                             std::uint8_t *results, const Heartbeat &heartbeat) {
  const Expected<OpenedHip> hip = OpenedHip::open();
  if (!hip) {
    return tl::unexpected<Error>(hip.error());
  }
  const Expected<HipModule> module = HipModule::load(hip->library, hip->device, object);
  if (!module) {
    return tl::unexpected<Error>(module.error());
  }
  DeviceBuffers buffers(hip->library);
  if (auto done = buffers.copyIn(views, heartbeat); !done) {
    return tl::unexpected<Error>(done.error());
  }
  Expected<std::vector<ReadyLaunch>> launches = module->ready(
      object.manifest, [&](std::string_view buffer) { return buffers.address(buffer); });
  if (!launches) {
    return tl::unexpected<Error>(launches.error());
  }
  double seconds = 0;
  for (ReadyLaunch &launch : *launches) {
    heartbeat(fmt::format("running '{}'", launch.kernel));
    const Expected<double> taken = runLaunch(hip->library, launch);
    if (!taken) {
      return tl::unexpected<Error>(taken.error());
    }
    seconds += *taken;
  }
  if (auto done = buffers.copyOut(results, heartbeat); !done) {
    return tl::unexpected<Error>(done.error());
  }
  return fmt::format("{}", seconds);
}

/// What the device is, asked by a child.
Expected<std::string> describeFirst(const Heartbeat &heartbeat) {
  heartbeat("opening the library");
  return OpenedHip::open().map([](const OpenedHip &hip) { return toText(hip.device); });
}

} // namespace

Expected<std::unique_ptr<HipDevice>> HipDevice::open(double limitSeconds) {
  return runDisposable(describeFirst, limitSeconds).map([&](const std::string &text) {
    return std::unique_ptr<HipDevice>(new HipDevice(hipDeviceInfo(text), limitSeconds));
  });
}

Expected<RunResult> HipDevice::run(const CodeObject &object, std::span<const BufferView> views,
                                   const RunOptions &options) {
  for (const auto &chosen : options.workgroups) {
    if (!chosen.empty()) {
      return badInput("device 'hip' runs all workgroups of a launch, not a choice of them");
    }
  }
  std::size_t bytes = 0;
  for (const BufferView &view : views) {
    bytes += view.bytes.size();
  }
  const SharedBytes results(bytes);
  if (!results) {
    return failed(fmt::format("device 'hip': no room for {} bytes of results", bytes));
  }
  const Expected<std::string> seconds = runDisposable(
      [&](const Heartbeat &heartbeat) { return runAll(object, views, results.data(), heartbeat); },
      limitSeconds);
  if (!seconds) {
    return tl::unexpected<Error>(seconds.error());
  }
  const std::uint8_t *from = results.data();
  for (const BufferView &view : views) {
    std::memcpy(view.bytes.data(), from, view.bytes.size());
    from += view.bytes.size();
  }
  RunResult result;
  result.seconds = std::strtod(seconds->c_str(), nullptr);
  return result;
}

} // namespace kw
