// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the emulated HIP library does behind its C functions (Exports.cpp): one device, whose
// pointers are emulated addresses. Work is done when it is asked for, in one order whatever the
// stream. A kernel that fails is reported as a GPU would: by the next call that waits for it.
#pragma once

#include "runtime/emulator/Emulator.h"
#include "runtime/hip/HipApi.h"

#include <chrono>
#include <map>
#include <mutex>

namespace kw::hip {

struct EmulatedFunction {
  const LoadedCode *code;
  std::string name;
};

struct EmulatedModule {
  LoadedCode code;
  std::map<std::string, EmulatedFunction> functions; ///< those that were asked for
};

struct EmulatedEvent {
  std::optional<std::chrono::steady_clock::time_point> recorded;
};

class EmulatedHip {
public:
  static EmulatedHip &instance();

  Status allocate(void **pointer, std::size_t bytes);
  Status free(void *pointer);
  Status copy(void *to, const void *from, std::size_t bytes, int kind);
  Status fill(void *to, int value, std::size_t bytes);

  /// `image`: an ELF file in memory, whose headers say how long it is.
  Status load(Module *module, const void *image);
  Status loadFile(Module *module, const char *file);
  Status unload(Module module);
  Status find(Function *function, Module module, const char *name);

  /// Exactly one of `arguments` (a pointer to each explicit argument) and `extra` is not null, or
  /// both are for a kernel without arguments.
  Status launch(Function function, EmulatorLaunch what, void **arguments, void **extra);
  /// What the launches since the last call came to.
  Status synchronize();

  Status createEvent(void **event);
  Status destroyEvent(void *event);
  Status record(void *event);
  /// Host time between two events: how long the emulation took.
  Status elapsed(float *milliseconds, void *start, void *stop);

private:
  Status load(Module *module, std::span<const std::uint8_t> elf);
  std::uint8_t *onHost(const void *pointer, std::size_t bytes, bool onDevice, bool written);
  EmulatedFunction *known(Function function);

  std::mutex mutex;
  GlobalMemory memory;
  std::size_t allocated = 0; ///< for names
  std::map<Module, std::unique_ptr<EmulatedModule>> modules;
  std::map<void *, std::unique_ptr<EmulatedEvent>> events;
  Status pending = success;
};

} // namespace kw::hip
