// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/hip/HipLibrary.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <vector>

namespace kw {
namespace {

struct Opened {
  void *handle = nullptr;
  std::string file;
};

Expected<Opened> openFirst() {
  if (const char *named = std::getenv("KW_HIP_LIBRARY"); named && *named) {
    if (void *handle = dlopen(named, RTLD_NOW | RTLD_LOCAL)) {
      return Opened{handle, named};
    }
    return failed(fmt::format("device 'hip': KW_HIP_LIBRARY: {}", dlerror()));
  }
  for (const char *file : {"libamdhip64.so.7", "libamdhip64.so.6", "libamdhip64.so.5"}) {
    if (void *handle = dlopen(file, RTLD_NOW | RTLD_LOCAL)) {
      return Opened{handle, file};
    }
  }
  return failed("device 'hip': none of libamdhip64.so.7, .6 and .5 is found (no ROCm on this "
                "machine); use 'emulated', or name the library in KW_HIP_LIBRARY");
}

/// Fills function pointers; remembers the first name that is missing.
class Symbols {
public:
  explicit Symbols(void *handle) : handle(handle) {}

  template <typename F> void get(F *&function, const char *symbol) {
    function = reinterpret_cast<F *>(dlsym(handle, symbol));
    if (!function && missing.empty()) {
      missing = symbol;
    }
  }
  bool has(const char *symbol) const { return dlsym(handle, symbol) != nullptr; }

  std::string missing;

private:
  void *handle;
};

std::string textAt(const std::vector<char> &properties, std::size_t offset) {
  constexpr std::size_t capacity = 256;
  return {properties.data() + offset, strnlen(properties.data() + offset, capacity)};
}

int intAt(const std::vector<char> &properties, std::size_t offset) {
  int value = 0;
  std::memcpy(&value, properties.data() + offset, sizeof(value));
  return value;
}

} // namespace

std::string toText(const HipDeviceInfo &info) {
  return nlohmann::json{info.name,         info.arch,           info.clockMhz,
                        info.computeUnits, info.runtimeVersion, info.isEmulator}
      .dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

HipDeviceInfo hipDeviceInfo(const std::string &text) {
  const auto json = nlohmann::json::parse(text);
  return {json[0], json[1], json[2], json[3], json[4], json[5]};
}

Expected<HipLibrary> HipLibrary::open() {
  Expected<Opened> opened = openFirst();
  if (!opened) {
    return tl::unexpected<Error>(opened.error());
  }
  HipLibrary library{};
  library.file = opened->file;
  Symbols symbols(opened->handle);
  symbols.get(library.init, "hipInit");
  symbols.get(library.getDeviceCount, "hipGetDeviceCount");
  symbols.get(library.setDevice, "hipSetDevice");
  symbols.get(library.malloc, "hipMalloc");
  symbols.get(library.free, "hipFree");
  symbols.get(library.memcpy, "hipMemcpy");
  symbols.get(library.moduleLoadData, "hipModuleLoadData");
  symbols.get(library.moduleUnload, "hipModuleUnload");
  symbols.get(library.moduleGetFunction, "hipModuleGetFunction");
  symbols.get(library.moduleLaunchKernel, "hipModuleLaunchKernel");
  symbols.get(library.deviceSynchronize, "hipDeviceSynchronize");
  symbols.get(library.eventCreate, "hipEventCreate");
  symbols.get(library.eventDestroy, "hipEventDestroy");
  symbols.get(library.eventRecord, "hipEventRecord");
  symbols.get(library.eventSynchronize, "hipEventSynchronize");
  symbols.get(library.eventElapsedTime, "hipEventElapsedTime");
  symbols.get(library.runtimeGetVersion, "hipRuntimeGetVersion");
  symbols.get(library.getErrorString, "hipGetErrorString");
  library.propertiesLayout =
      symbols.has(hip::propertiesOfHip6.symbol) ? hip::propertiesOfHip6 : hip::propertiesOfHip5;
  symbols.get(library.getDeviceProperties, library.propertiesLayout.symbol);
  if (!symbols.missing.empty()) {
    return failed(
        fmt::format("device 'hip': {} has no function {}", library.file, symbols.missing));
  }
  return library;
}

Expected<void> HipLibrary::check(hip::Status status, std::string_view what) const {
  if (status == hip::success) {
    return {};
  }
  const char *text = getErrorString(status);
  return failed(
      fmt::format("device 'hip': {}: {} (HIP error {})", what, text ? text : "unknown", status));
}

Expected<HipDeviceInfo> HipLibrary::describe(int device) const {
  // Twice the size: a later version may have grown at the end.
  std::vector<char> properties(2 * propertiesLayout.bytes, 0);
  if (auto done = check(getDeviceProperties(properties.data(), device), "device properties");
      !done) {
    return tl::unexpected<Error>(done.error());
  }
  HipDeviceInfo info;
  info.name = textAt(properties, propertiesLayout.name);
  info.arch = textAt(properties, propertiesLayout.arch);
  info.clockMhz = intAt(properties, propertiesLayout.clockRate) / 1000;
  info.computeUnits = intAt(properties, propertiesLayout.computeUnits);
  info.isEmulator = info.name == hip::emulatorName;
  if (auto done = check(runtimeGetVersion(&info.runtimeVersion), "asking for the version"); !done) {
    return tl::unexpected<Error>(done.error());
  }
  if (!info.arch.starts_with("gfx")) {
    return failed(
        fmt::format("device 'hip': {} does not tell the architecture of '{}'", file, info.name));
  }
  info.arch.resize(std::min(info.arch.size(), info.arch.find(':')));
  return info;
}

} // namespace kw
