// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/hip/emulated/EmulatedHip.h"

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <elf.h>
#include <fmt/core.h>
#include <fstream>
#include <iterator>
#include <thread>
#include <utility>

namespace kw::hip {
namespace {

using Lock = std::lock_guard<std::mutex>;

/// A HIP program sees a number; the reason goes to stderr.
Status refuse(Status status, std::string_view why) {
  fmt::print(stderr, "emulated HIP: {}\n", why);
  return status;
}

void print(const EmulatorFinding &finding) {
  fmt::print(stderr,
             "emulated HIP: {} in kernel '{}' at {:#x}: {}: workgroup {},{},{} wave {} lane {}: {} "
             "({} times)\n",
             name(finding.kind), finding.kernel, finding.pc, finding.instruction,
             finding.workgroup[0], finding.workgroup[1], finding.workgroup[2], finding.wave,
             finding.lane, finding.detail, finding.occurrences);
}

/// Length of the ELF file at `image`, as its headers tell; 0 if it is none.
std::size_t elfBytes(const void *image) {
  Elf64_Ehdr header;
  if (std::memcmp(image, ELFMAG, SELFMAG) != 0) {
    return 0;
  }
  std::memcpy(&header, image, sizeof(header));
  const auto *bytes = static_cast<const std::uint8_t *>(image);
  std::size_t end =
      std::max<std::size_t>(header.e_phoff + std::size_t{header.e_phnum} * sizeof(Elf64_Phdr),
                            header.e_shoff + std::size_t{header.e_shnum} * sizeof(Elf64_Shdr));
  for (int i = 0; i < header.e_phnum; ++i) {
    Elf64_Phdr segment;
    std::memcpy(&segment, bytes + header.e_phoff + i * sizeof(segment), sizeof(segment));
    end = std::max<std::size_t>(end, segment.p_offset + segment.p_filesz);
  }
  for (int i = 0; i < header.e_shnum; ++i) {
    Elf64_Shdr section;
    std::memcpy(&section, bytes + header.e_shoff + i * sizeof(section), sizeof(section));
    if (section.sh_type != SHT_NOBITS) {
      end = std::max<std::size_t>(end, section.sh_offset + section.sh_size);
    }
  }
  return end;
}

std::uint64_t addressOf(const void *pointer) { return reinterpret_cast<std::uint64_t>(pointer); }

/// The kernarg segment from {pointerKey, bytes, sizeKey, &size, endKey}, in any order of the keys.
std::optional<std::vector<std::uint8_t>> fromExtra(void **extra) {
  const std::uint8_t *bytes = nullptr;
  std::size_t size = 0;
  for (; *extra != endKey; extra += 2) {
    if (*extra == pointerKey) {
      bytes = static_cast<const std::uint8_t *>(extra[1]);
    } else if (*extra == sizeKey && extra[1]) {
      std::memcpy(&size, extra[1], sizeof(size));
    } else {
      return std::nullopt;
    }
  }
  if (!bytes && size > 0) {
    return std::nullopt;
  }
  return std::vector<std::uint8_t>(bytes, bytes + size);
}

std::vector<std::uint8_t> fromPointers(const KernelFacts &kernel, void **arguments) {
  std::vector<std::uint8_t> kernarg(kernel.kernargBytes, 0);
  for (const MetadataArgument &argument : kernel.arguments) {
    const bool inside = std::size_t{argument.offset} + argument.size <= kernarg.size();
    if (!argument.hidden() && inside) {
      std::memcpy(kernarg.data() + argument.offset, *arguments++, argument.size);
    }
  }
  return kernarg;
}

} // namespace

EmulatedHip &EmulatedHip::instance() {
  static EmulatedHip hip;
  return hip;
}

Status EmulatedHip::allocate(void **pointer, std::size_t bytes) {
  if (!pointer) {
    return invalidValue;
  }
  *pointer = nullptr;
  if (bytes == 0) {
    return success;
  }
  const Lock lock(mutex);
  const auto address = memory.allocate(fmt::format("allocation {}", allocated++), bytes,
                                       GlobalMemory::Contents::uninitialised);
  if (!address) {
    return refuse(outOfMemory, address.error().message);
  }
  *pointer = reinterpret_cast<void *>(*address);
  return success;
}

Status EmulatedHip::free(void *pointer) {
  if (!pointer) {
    return success;
  }
  const Lock lock(mutex);
  const GlobalMemory::Allocation *allocation = memory.owner(addressOf(pointer));
  if (!allocation || allocation->base != addressOf(pointer)) {
    return refuse(invalidValue, fmt::format("hipFree of {}, which is no allocation", pointer));
  }
  memory.release(allocation->base);
  return success;
}

/// Where the bytes are that a pointer of the program means; null if a device pointer is none.
std::uint8_t *EmulatedHip::onHost(const void *pointer, std::size_t bytes, bool onDevice,
                                  bool written) {
  if (!onDevice) {
    return static_cast<std::uint8_t *>(const_cast<void *>(pointer));
  }
  const std::uint64_t address = addressOf(pointer);
  const GlobalMemory::Allocation *allocation = memory.find(address, bytes);
  if (!allocation) {
    refuse(invalidValue, memory.describe(address, bytes));
    return nullptr;
  }
  if (written) {
    memory.markInitialised(address, bytes);
  }
  return allocation->host + (address - allocation->base);
}

Status EmulatedHip::copy(void *to, const void *from, std::size_t bytes, int kind) {
  const Lock lock(mutex);
  if (bytes == 0) {
    return success;
  }
  if (kind < hostToHost || kind > byAddress) {
    return invalidValue;
  }
  const bool byOwner = kind == byAddress;
  const bool toDevice = byOwner ? memory.owner(addressOf(to)) != nullptr
                                : kind == hostToDevice || kind == deviceToDevice;
  const bool fromDevice = byOwner ? memory.owner(addressOf(from)) != nullptr
                                  : kind == deviceToHost || kind == deviceToDevice;
  const std::uint8_t *source = onHost(from, bytes, fromDevice, false);
  std::uint8_t *target = source ? onHost(to, bytes, toDevice, true) : nullptr;
  if (!source || !target) {
    return invalidValue;
  }
  std::memmove(target, source, bytes);
  return std::exchange(pending, success);
}

Status EmulatedHip::fill(void *to, int value, std::size_t bytes) {
  const Lock lock(mutex);
  if (bytes == 0) {
    return success;
  }
  std::uint8_t *target = onHost(to, bytes, true, true);
  if (!target) {
    return invalidValue;
  }
  std::memset(target, value, bytes);
  return success;
}

Status EmulatedHip::load(Module *module, const void *image) {
  if (!module || !image) {
    return invalidValue;
  }
  const std::size_t bytes = elfBytes(image);
  if (bytes == 0) {
    return refuse(invalidImage, "the image is no ELF file; bundles are not taken");
  }
  return load(module, {static_cast<const std::uint8_t *>(image), bytes});
}

Status EmulatedHip::loadFile(Module *module, const char *file) {
  if (!module || !file) {
    return invalidValue;
  }
  std::ifstream in(file, std::ios::binary);
  if (!in) {
    return refuse(fileNotFound, fmt::format("cannot read {}", file));
  }
  const std::vector<char> bytes{std::istreambuf_iterator<char>(in), {}};
  return load(module, {reinterpret_cast<const std::uint8_t *>(bytes.data()), bytes.size()});
}

Status EmulatedHip::load(Module *module, std::span<const std::uint8_t> elf) {
  Expected<LoadedCode> code = LoadedCode::load(elf);
  if (!code) {
    return refuse(invalidImage, code.error().message);
  }
  auto loaded = std::make_unique<EmulatedModule>(EmulatedModule{std::move(*code), {}});
  const Lock lock(mutex);
  *module = loaded.get();
  modules[*module] = std::move(loaded);
  return success;
}

Status EmulatedHip::unload(Module module) {
  const Lock lock(mutex);
  return modules.erase(module) == 1 ? success : invalidHandle;
}

Status EmulatedHip::find(Function *function, Module module, const char *name) {
  if (!function || !name) {
    return invalidValue;
  }
  const Lock lock(mutex);
  const auto found = modules.find(module);
  if (found == modules.end()) {
    return invalidHandle;
  }
  EmulatedModule &loaded = *found->second;
  if (!loaded.code.kernel(name)) {
    return notFound;
  }
  *function =
      &loaded.functions.try_emplace(name, EmulatedFunction{&loaded.code, name}).first->second;
  return success;
}

EmulatedFunction *EmulatedHip::known(Function function) {
  for (auto &[handle, module] : modules) {
    for (auto &[name, candidate] : module->functions) {
      if (&candidate == function) {
        return &candidate;
      }
    }
  }
  return nullptr;
}

Status EmulatedHip::launch(Function function, EmulatorLaunch what, void **arguments, void **extra) {
  const Lock lock(mutex);
  const EmulatedFunction *kernel = known(function);
  if (!kernel) {
    return invalidHandle;
  }
  if (arguments && extra) {
    return invalidValue;
  }
  if (extra) {
    auto kernarg = fromExtra(extra);
    if (!kernarg) {
      return invalidValue;
    }
    what.kernarg = std::move(*kernarg);
  } else if (arguments) {
    what.kernarg = fromPointers(*kernel->code->kernel(kernel->name), arguments);
  }
  EmulatorOptions options;
  options.jobs = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
  const auto result = emulate(*kernel->code, kernel->name, memory, what, options);
  if (!result && result.error().kind == Error::Kind::badInput) {
    return refuse(invalidConfiguration, result.error().message);
  }
  if (!result) {
    pending = refuse(launchFailure, result.error().message);
    return success;
  }
  std::for_each(result->findings.begin(), result->findings.end(), print);
  if (!result->clean()) {
    pending = launchFailure;
  }
  return success;
}

Status EmulatedHip::synchronize() {
  const Lock lock(mutex);
  return std::exchange(pending, success);
}

Status EmulatedHip::createEvent(void **event) {
  if (!event) {
    return invalidValue;
  }
  const Lock lock(mutex);
  auto created = std::make_unique<EmulatedEvent>();
  *event = created.get();
  events[*event] = std::move(created);
  return success;
}

Status EmulatedHip::destroyEvent(void *event) {
  const Lock lock(mutex);
  return events.erase(event) == 1 ? success : invalidHandle;
}

Status EmulatedHip::record(void *event) {
  const Lock lock(mutex);
  const auto found = events.find(event);
  if (found == events.end()) {
    return invalidHandle;
  }
  found->second->recorded = std::chrono::steady_clock::now();
  return success;
}

Status EmulatedHip::elapsed(float *milliseconds, void *start, void *stop) {
  const Lock lock(mutex);
  const auto from = events.find(start), to = events.find(stop);
  if (!milliseconds) {
    return invalidValue;
  }
  if (from == events.end() || to == events.end() || !from->second->recorded ||
      !to->second->recorded) {
    return invalidHandle;
  }
  const auto between = *to->second->recorded - *from->second->recorded;
  *milliseconds = std::chrono::duration<float, std::milli>(between).count();
  return success;
}

} // namespace kw::hip
