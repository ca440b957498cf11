// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emulated HIP library, posing as a GPU that gives trouble, for tests. Environment:
//   KW_FAKE_GPU_FAIL=hipMemcpy    every call of it fails with "out of memory"
//   KW_FAKE_GPU_HANG=hipMemcpy    never comes back
//   KW_FAKE_GPU_CRASH=hipMemcpy   ends the process by SIGSEGV
//   KW_FAKE_GPU_LOG=FILE          appends a line for each call; launches with their first argument
#include "runtime/hip/HipApi.h"

#include <csignal>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <optional>
#include <string_view>
#include <unistd.h>

namespace {

using namespace kw::hip;

bool isNamed(const char *variable, std::string_view function) {
  const char *value = std::getenv(variable);
  return value && value == function;
}

void log(const char *function, std::uint64_t argument = 0) {
  if (const char *file = std::getenv("KW_FAKE_GPU_LOG")) {
    std::FILE *stream = std::fopen(file, "a");
    std::fprintf(stream, "%s %llx\n", function, static_cast<unsigned long long>(argument));
    std::fclose(stream);
  }
}

std::optional<Status> trouble(const char *function) {
  while (isNamed("KW_FAKE_GPU_HANG", function)) {
    pause();
  }
  if (isNamed("KW_FAKE_GPU_CRASH", function)) {
    std::signal(SIGSEGV, SIG_DFL);
    std::raise(SIGSEGV);
  }
  return isNamed("KW_FAKE_GPU_FAIL", function) ? std::optional(outOfMemory) : std::nullopt;
}

template <typename F> F real(const char *function) {
  static void *const library = dlopen(KW_EMULATED_HIP, RTLD_NOW | RTLD_LOCAL);
  return reinterpret_cast<F>(dlsym(library, function));
}

} // namespace

#define KW_FORWARD(function, parameters, ...)                                                      \
  extern "C" Status function parameters {                                                          \
    if (const auto status = trouble(#function)) {                                                  \
      return *status;                                                                              \
    }                                                                                              \
    log(#function);                                                                                \
    return real<Status(*) parameters>(#function)(__VA_ARGS__);                                     \
  }

KW_FORWARD(hipInit, (unsigned flags), flags)
KW_FORWARD(hipGetDeviceCount, (int *count), count)
KW_FORWARD(hipSetDevice, (int device), device)
KW_FORWARD(hipRuntimeGetVersion, (int *version), version)
KW_FORWARD(hipMalloc, (void **pointer, std::size_t bytes), pointer, bytes)
KW_FORWARD(hipFree, (void *pointer), pointer)
KW_FORWARD(hipMemcpy, (void *to, const void *from, std::size_t bytes, int kind), to, from, bytes,
           kind)
KW_FORWARD(hipModuleLoadData, (Module * module, const void *image), module, image)
KW_FORWARD(hipModuleUnload, (Module module), module)
KW_FORWARD(hipModuleGetFunction, (Function * function, Module module, const char *name), function,
           module, name)
KW_FORWARD(hipDeviceSynchronize, ())
KW_FORWARD(hipEventCreate, (Event * event), event)
KW_FORWARD(hipEventDestroy, (Event event), event)
KW_FORWARD(hipEventRecord, (Event event, Stream stream), event, stream)
KW_FORWARD(hipEventSynchronize, (Event event), event)
KW_FORWARD(hipEventElapsedTime, (float *milliseconds, Event start, Event stop), milliseconds, start,
           stop)

extern "C" Status hipModuleLaunchKernel(Function function, unsigned gridX, unsigned gridY,
                                        unsigned gridZ, unsigned blockX, unsigned blockY,
                                        unsigned blockZ, unsigned dynamicLds, Stream stream,
                                        void **arguments, void **extra) {
  if (const auto status = trouble("hipModuleLaunchKernel")) {
    return *status;
  }
  std::uint64_t first = 0;
  if (extra) {
    std::memcpy(&first, extra[1], sizeof(first));
  }
  log("hipModuleLaunchKernel", first);
  return real<decltype(&hipModuleLaunchKernel)>("hipModuleLaunchKernel")(
      function, gridX, gridY, gridZ, blockX, blockY, blockZ, dynamicLds, stream, arguments, extra);
}

extern "C" Status hipGetDevicePropertiesR0600(void *properties, int device) {
  if (const auto status = trouble("hipGetDevicePropertiesR0600")) {
    return *status;
  }
  const Status status = real<decltype(&hipGetDevicePropertiesR0600)>("hipGetDevicePropertiesR0600")(
      properties, device);
  std::strcpy(static_cast<char *>(properties) + propertiesOfHip6.name, "Test double of a GPU");
  return status;
}

extern "C" const char *hipGetErrorString(Status status) {
  return real<const char *(*)(Status)>("hipGetErrorString")(status);
}
