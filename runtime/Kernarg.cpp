// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Kernarg.h"

#include "runtime/emulator/Emulator.h"

#include <algorithm>
#include <cstring>
#include <fmt/format.h>

namespace kw {
namespace {

std::vector<std::uint8_t> pointerBytes(std::uint64_t address) {
  std::vector<std::uint8_t> bytes(sizeof(address));
  std::memcpy(bytes.data(), &address, sizeof(address));
  return bytes;
}

std::vector<std::uint8_t> bytesOf(const Argument &argument, const AddressOf &addressOf) {
  if (const auto *buffer = std::get_if<BufferArgument>(&argument.value)) {
    return pointerBytes(addressOf(buffer->buffer) + static_cast<std::uint64_t>(buffer->at));
  }
  if (const auto *value = std::get_if<ValueArgument>(&argument.value)) {
    return value->bytes;
  }
  return pointerBytes(0);
}

std::vector<ArgumentSlot> explicitSlots(const KernelFacts &kernel) {
  std::vector<ArgumentSlot> slots;
  for (const auto &argument : kernel.arguments) {
    if (!argument.hidden()) {
      slots.push_back({argument.name, argument.offset, argument.size});
    }
  }
  return slots;
}

} // namespace

Expected<std::vector<std::uint8_t>> packArguments(const Launch &launch,
                                                  std::span<const ArgumentSlot> slots,
                                                  std::int64_t kernargBytes,
                                                  const AddressOf &addressOf) {
  std::vector<std::uint8_t> segment(static_cast<std::size_t>(kernargBytes), 0);
  std::vector<bool> used(segment.size(), false);
  for (std::size_t i = 0; i < launch.arguments.size(); ++i) {
    const Argument &argument = launch.arguments[i];
    const std::vector<std::uint8_t> bytes = bytesOf(argument, addressOf);
    const auto size = static_cast<std::int64_t>(bytes.size());
    const auto where = [&] { return fmt::format("kernel '{}', argument {}", launch.kernel, i); };
    if (!argument.offset && i >= slots.size()) {
      return badInput(fmt::format("{}: the kernel takes {} arguments", where(), slots.size()));
    }
    if (!argument.offset && slots[i].bytes != size) {
      return badInput(fmt::format("{}: has {} bytes, the kernel's '{}' {}", where(), size,
                                  slots[i].name, slots[i].bytes));
    }
    const std::int64_t offset = argument.offset ? *argument.offset : slots[i].offset;
    if (offset < 0 || size > kernargBytes || offset > kernargBytes - size) {
      return badInput(fmt::format("{}: {} bytes at offset {} are not in the {} bytes of arguments",
                                  where(), size, offset, kernargBytes));
    }
    const auto begin = used.begin() + offset;
    if (std::find(begin, begin + size, true) != begin + size) {
      return badInput(fmt::format("{}: overlaps another argument at offset {}", where(), offset));
    }
    std::fill(begin, begin + size, true);
    std::copy(bytes.begin(), bytes.end(), segment.begin() + offset);
  }
  return segment;
}

Expected<std::vector<std::uint8_t>> packArguments(const Launch &launch, const LoadedCode &code,
                                                  const AddressOf &addressOf) {
  const KernelFacts *kernel = code.kernel(launch.kernel);
  if (!kernel) {
    return badInput(fmt::format("the code object has no kernel '{}', but {}", launch.kernel,
                                fmt::join(code.kernelNames(), ", ")));
  }
  return packArguments(launch, explicitSlots(*kernel), kernel->kernargBytes, addressOf);
}

} // namespace kw
