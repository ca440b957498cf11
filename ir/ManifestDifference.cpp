// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/ManifestDifference.h"

#include <algorithm>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <string_view>

namespace kw {
namespace {

std::string_view name(BufferRole role) {
  switch (role) {
  case BufferRole::input:
    return "input";
  case BufferRole::output:
    return "output";
  case BufferRole::workspace:
    return "workspace";
  }
  return "";
}

std::string sayType(const std::optional<ElementType> &type) {
  return type ? std::string(kw::name(*type)) : "missing";
}

/// Not as stated: "KEY is CLAIMED, not TRUTH".
template <typename T> std::string isNot(std::string_view key, const T &claimed, const T &truth) {
  return claimed == truth ? std::string() : fmt::format("{} is {}, not {}", key, claimed, truth);
}

std::string bufferDifference(const Buffer &claimed, const Buffer &truth) {
  if (claimed.bytes < truth.bytes) {
    return fmt::format("has {} bytes, the problem needs {}", claimed.bytes, truth.bytes);
  }
  if (claimed.role != truth.role) {
    return isNot("role", name(claimed.role), name(truth.role));
  }
  if (claimed.dtype != truth.dtype) {
    return isNot("dtype", sayType(claimed.dtype), sayType(truth.dtype));
  }
  if (claimed.shape != truth.shape) {
    return isNot("shape", claimed.shape, truth.shape);
  }
  // What must be zero before is no matter of taste, nor is poison, which shows what is not written.
  const bool zero = claimed.init.kind == BufferInit::Kind::zero;
  if (zero != (truth.init.kind == BufferInit::Kind::zero)) {
    return zero ? "init is zero, which the schedule does not ask for" : "init must be zero";
  }
  return {};
}

/// What an argument is, for messages and comparison; of a number its type.
std::string say(const Argument &argument) {
  if (const auto *buffer = std::get_if<BufferArgument>(&argument.value)) {
    return buffer->at == 0 ? fmt::format("buffer '{}'", buffer->buffer)
                           : fmt::format("buffer '{}' at {}", buffer->buffer, buffer->at);
  }
  if (const auto *value = std::get_if<ValueArgument>(&argument.value)) {
    return sayType(value->type);
  }
  return "null";
}

std::string argumentDifference(const Argument &claimed, const Argument &truth) {
  if (claimed.offset && claimed.offset != truth.offset) {
    return isNot("offset", *claimed.offset, truth.offset.value_or(-1));
  }
  return isNot("value", say(claimed), say(truth));
}

std::string launchDifference(const Launch &claimed, const Launch &truth) {
  if (claimed.grid != truth.grid) {
    const auto count = [](const Launch &launch) {
      return 1.0 * launch.grid[0] * launch.grid[1] * launch.grid[2];
    };
    return count(claimed) == count(truth)
               ? isNot("grid", claimed.grid, truth.grid)
               : fmt::format("the grid has {} workgroups, the schedule {}", count(claimed),
                             count(truth));
  }
  if (claimed.block != truth.block) {
    return isNot("block", claimed.block, truth.block);
  }
  if (claimed.dynamicLds != truth.dynamicLds) {
    return isNot("dynamic_lds", claimed.dynamicLds, truth.dynamicLds);
  }
  if (claimed.arguments.size() != truth.arguments.size()) {
    return fmt::format("{} arguments, not {}", claimed.arguments.size(), truth.arguments.size());
  }
  for (std::size_t i = 0; i < truth.arguments.size(); ++i) {
    const std::string difference = argumentDifference(claimed.arguments[i], truth.arguments[i]);
    if (!difference.empty()) {
      return fmt::format("args[{}]: {}", i, difference);
    }
  }
  return {};
}

std::string buffersDifference(const Manifest &claimed, const Manifest &truth) {
  for (const Buffer &wanted : truth.buffers) {
    const Buffer *buffer = claimed.findBuffer(wanted.name);
    if (!buffer) {
      return fmt::format("the manifest has no buffer '{}'", wanted.name);
    }
    if (const std::string difference = bufferDifference(*buffer, wanted); !difference.empty()) {
      return fmt::format("buffer '{}' {}", wanted.name, difference);
    }
  }
  for (const Buffer &buffer : claimed.buffers) {
    if (!truth.findBuffer(buffer.name)) {
      return fmt::format("the schedule has no buffer '{}'", buffer.name);
    }
  }
  return {};
}

} // namespace

std::string firstDifference(const Manifest &claimed, const Manifest &truth) {
  if (const std::string difference = buffersDifference(claimed, truth); !difference.empty()) {
    return difference;
  }
  if (claimed.launches.size() != truth.launches.size()) {
    return fmt::format("the manifest has {} launches, the schedule {}", claimed.launches.size(),
                       truth.launches.size());
  }
  for (const std::string &guard : truth.guards) {
    if (std::find(claimed.guards.begin(), claimed.guards.end(), guard) == claimed.guards.end()) {
      return fmt::format("the guard '{}' is missing", guard);
    }
  }
  for (std::size_t i = 0; i < truth.launches.size(); ++i) {
    const std::string difference = launchDifference(claimed.launches[i], truth.launches[i]);
    if (!difference.empty()) {
      return fmt::format("launch {}: {}", i, difference);
    }
  }
  return {};
}

std::string firstOtherNumber(const Manifest &claimed, const Manifest &truth) {
  for (std::size_t i = 0; i < truth.launches.size(); ++i) {
    const std::vector<Argument> &arguments = truth.launches[i].arguments;
    for (std::size_t j = 0; j < arguments.size(); ++j) {
      const auto *number = std::get_if<ValueArgument>(&arguments[j].value);
      const auto *other = std::get_if<ValueArgument>(&claimed.launches[i].arguments[j].value);
      if (number && other && number->bytes != other->bytes) {
        return fmt::format("launch {}: args[{}] is {:02x}, not {:02x}", i, j,
                           fmt::join(other->bytes, ""), fmt::join(number->bytes, ""));
      }
    }
  }
  return {};
}

} // namespace kw
