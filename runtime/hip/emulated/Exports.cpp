// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HIP's C functions, as far as host programs on the module API need them. Prototypes as in
// HipApi.h.
#include "runtime/hip/emulated/EmulatedHip.h"

#include <algorithm>
#include <cstring>
#include <iterator>
#include <utility>

using namespace kw;
using namespace kw::hip;

namespace {

EmulatedHip &runtime() { return EmulatedHip::instance(); }

template <typename T> void put(void *properties, std::size_t offset, T value) {
  std::memcpy(static_cast<char *>(properties) + offset, &value, sizeof(value));
}

/// Of MI355X. The name says that it is none.
Status fillProperties(void *properties, int device, const PropertiesLayout &layout) {
  if (!properties) {
    return invalidValue;
  }
  if (device != 0) {
    return invalidDevice;
  }
  auto *bytes = static_cast<char *>(properties);
  std::memset(bytes, 0, layout.bytes);
  std::strcpy(bytes + layout.name, emulatorName);
  std::strcpy(bytes + layout.arch, "gfx950:sramecc+:xnack-");
  put(properties, layout.globalBytes, std::size_t{288} << 30);
  put(properties, layout.warpSize, 64);
  put(properties, layout.workgroupLimit, 1024);
  put(properties, layout.clockRate, 2'400'000);
  put(properties, layout.computeUnits, 256);
  return success;
}

/// Streams all mean the same order; the handle only has to differ from null.
char anyStream;

} // namespace

#pragma GCC visibility push(default)
extern "C" {

Status hipInit(unsigned) { return success; }

Status hipGetDeviceCount(int *count) {
  if (!count) {
    return invalidValue;
  }
  *count = 1;
  return success;
}

/// As a library of HIP 6.4 would say; programs compare it with what they were built for.
Status hipRuntimeGetVersion(int *version) {
  if (!version) {
    return invalidValue;
  }
  *version = 60'400'000;
  return success;
}

Status hipSetDevice(int device) { return device == 0 ? success : invalidDevice; }

Status hipGetDevice(int *device) {
  if (!device) {
    return invalidValue;
  }
  *device = 0;
  return success;
}

Status hipGetDevicePropertiesR0600(void *properties, int device) {
  return fillProperties(properties, device, propertiesOfHip6);
}

Status hipGetDeviceProperties(void *properties, int device) {
  return fillProperties(properties, device, propertiesOfHip5);
}

Status hipMalloc(void **pointer, std::size_t bytes) { return runtime().allocate(pointer, bytes); }

Status hipFree(void *pointer) { return runtime().free(pointer); }

Status hipMemcpy(void *to, const void *from, std::size_t bytes, int kind) {
  return runtime().copy(to, from, bytes, kind);
}

Status hipMemset(void *to, int value, std::size_t bytes) {
  return runtime().fill(to, value, bytes);
}

Status hipModuleLoad(Module *module, const char *file) { return runtime().loadFile(module, file); }

Status hipModuleLoadData(Module *module, const void *image) {
  return runtime().load(module, image);
}

Status hipModuleUnload(Module module) { return runtime().unload(module); }

Status hipModuleGetFunction(Function *function, Module module, const char *name) {
  return runtime().find(function, module, name);
}

Status hipModuleLaunchKernel(Function function, unsigned gridX, unsigned gridY, unsigned gridZ,
                             unsigned blockX, unsigned blockY, unsigned blockZ, unsigned dynamicLds,
                             Stream, void **arguments, void **extra) {
  EmulatorLaunch what;
  what.grid = {gridX, gridY, gridZ};
  what.block = {blockX, blockY, blockZ};
  what.dynamicLds = dynamicLds;
  return runtime().launch(function, std::move(what), arguments, extra);
}

Status hipDeviceSynchronize() { return runtime().synchronize(); }

Status hipStreamCreate(Stream *stream) {
  if (!stream) {
    return invalidValue;
  }
  *stream = &anyStream;
  return success;
}

Status hipStreamDestroy(Stream stream) { return stream == &anyStream ? success : invalidHandle; }

Status hipStreamSynchronize(Stream) { return runtime().synchronize(); }

Status hipEventCreate(void **event) { return runtime().createEvent(event); }

Status hipEventDestroy(void *event) { return runtime().destroyEvent(event); }

Status hipEventRecord(void *event, Stream) { return runtime().record(event); }

Status hipEventSynchronize(void *) { return runtime().synchronize(); }

Status hipEventElapsedTime(float *milliseconds, void *start, void *stop) {
  return runtime().elapsed(milliseconds, start, stop);
}

const char *hipGetErrorString(Status status) {
  struct Text {
    Status status;
    const char *text;
  };
  static constexpr Text texts[] = {{success, "no error"},
                                   {invalidValue, "invalid argument"},
                                   {outOfMemory, "out of memory"},
                                   {invalidConfiguration, "invalid configuration argument"},
                                   {invalidDevice, "invalid device ordinal"},
                                   {invalidImage, "device kernel image is invalid"},
                                   {fileNotFound, "file not found"},
                                   {invalidHandle, "invalid resource handle"},
                                   {notFound, "named symbol not found"},
                                   {launchFailure, "unspecified launch failure"}};
  const auto found = std::find_if(std::begin(texts), std::end(texts), [&](const Text &candidate) {
    return candidate.status == status;
  });
  return found == std::end(texts) ? "unknown error" : found->text;
}

} // extern "C"
#pragma GCC visibility pop
