// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Kernels by their text and what they leave in c.
#pragma once

#include "codegen/Compile.h"
#include "ir/KernelPlan.h"
#include "ir/Rule.h"
#include "runtime/Device.h"
#include "runtime/HostBuffer.h"
#include "runtime/RandomValues.h"

#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kw {

inline CodeObject compiled(const std::string &problem, const std::string &schedule,
                           const Target &target = **findTarget("gfx950")) {
  const Problem parsed = *parseProblem(problem);
  const Schedule decided = *parseSchedule(schedule);
  for (const Violation &violation : checkLegal(parsed, decided, target)) {
    ADD_FAILURE() << schedule << ": " << violation.message;
  }
  auto result = compile(parsed, decided, target);
  EXPECT_TRUE(result) << result.error().message;
  return result->object;
}

/// Bytes of c of one run.
inline std::string resultOf(const CodeObject &object, Device &device, std::uint64_t seed) {
  std::vector<HostBuffer> memory;
  std::vector<BufferView> views;
  std::string result;
  for (const Buffer &buffer : object.manifest.buffers) {
    memory.push_back(buffer.init.kind == BufferInit::Kind::zero
                         ? *HostBuffer::zeroed(buffer.bytes)
                         : *HostBuffer::poisoned(buffer.bytes));
    if (buffer.role == BufferRole::input) {
      RandomSource source;
      source.seed = buffer.init.seed;
      fillRandom(source, *buffer.dtype, memory.back().bytes().data(), 0,
                 buffer.bytes / (bitWidth(*buffer.dtype) / 8));
    }
    views.push_back({buffer.name, memory.back().bytes()});
  }
  RunOptions options;
  options.seed = seed;
  options.wildTurns = true; // workgroups too
  const auto run = device.run(object, views, options);
  EXPECT_TRUE(run && run->findings.empty());
  for (const BufferView &view : views) {
    if (view.name == "c") {
      result.assign(view.bytes.begin(), view.bytes.end());
    }
  }
  return result;
}

} // namespace kw
