// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/KernelPlan.h"

#include "ir/Decision.h"
#include "ir/Expression.h"
#include "ir/plans/Plans.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cassert>
#include <cstring>
#include <fmt/format.h>

namespace kw {
namespace {

const Planner &plannerOf(ScheduleKind kind) {
  // In the order of the alternatives of `Schedule`.
  static const std::array<const Planner *, std::variant_size_v<Schedule>> planners{
      &gemmPlanner(),      &rmsNormPlanner(),     &tritonGemmPlanner(),
      &attentionPlanner(), &groupedGemmPlanner(), &topKPlanner()};
  return *planners[indexOf(kind)];
}

const Planner &plannerOf(const Schedule &schedule) { return plannerOf(kindOf(schedule)); }

/// FNV-1a, 64 bits.
std::uint64_t hashOf(std::string_view text) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : text) {
    hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  }
  return hash;
}

Buffer bufferOf(const Tensor &tensor, std::uint64_t seed) {
  Buffer buffer;
  buffer.name = tensor.name;
  buffer.bytes = spanBytes(tensor);
  buffer.role = tensor.role;
  buffer.dtype = tensor.type;
  buffer.shape = tensor.shape;
  if (tensor.role == BufferRole::input || tensor.accumulates) {
    buffer.init = {BufferInit::Kind::normal, tensor.type, seed, {}};
  }
  return buffer;
}

Buffer bufferOf(const PlanBuffer &planned) {
  Buffer buffer;
  buffer.name = planned.name;
  buffer.bytes = planned.bytes;
  buffer.role = planned.role;
  buffer.init.kind = planned.zeroedBefore ? BufferInit::Kind::zero : BufferInit::Kind::poison;
  return buffer;
}

std::int64_t sizeNamed(const SizeValues &sizes, std::string_view name) {
  const auto at = std::ranges::find(sizes, name, &SizeValues::value_type::first);
  assert(at != sizes.end() && "argument is no run-time size");
  return at->second;
}

/// The floats that kernels take at run time.
double floatNamed(const Problem &problem, std::string_view name) {
  if (problem.family() == Family::gemm) {
    assert(name == "alpha" || name == "beta");
    return name == "alpha" ? problem.gemm().alpha : problem.gemm().beta;
  }
  assert(name == "eps" && problem.family() == Family::rmsnorm);
  return name == "eps" ? problem.rmsnorm().eps : 0;
}

template <typename T> ValueArgument valueOf(ElementType type, T value) {
  ValueArgument argument{type, std::vector<std::uint8_t>(sizeof(T))};
  std::memcpy(argument.bytes.data(), &value, sizeof(T));
  return argument;
}

Argument argumentOf(const KernelArgument &wanted, const Problem &problem, const SizeValues &sizes) {
  Argument argument;
  argument.offset = wanted.offset;
  switch (wanted.kind) {
  case KernelArgument::Kind::pointer:
    argument.value = BufferArgument{wanted.name, 0};
    break;
  case KernelArgument::Kind::i32:
    argument.value =
        valueOf(ElementType::i32, static_cast<std::int32_t>(sizeNamed(sizes, wanted.name)));
    break;
  case KernelArgument::Kind::i64:
    argument.value = valueOf(ElementType::i64, sizeNamed(sizes, wanted.name));
    break;
  case KernelArgument::Kind::f32:
    argument.value =
        valueOf(ElementType::f32, static_cast<float>(floatNamed(problem, wanted.name)));
    break;
  }
  return argument;
}

Launch launchOf(const LaunchInterface &interface, const Problem &problem, const SizeValues &sizes) {
  Launch launch;
  launch.kernel = interface.kernel;
  launch.block = interface.block;
  for (std::size_t axis = 0; axis < interface.grid.size(); ++axis) {
    const auto workgroups = evaluate(interface.grid[axis], sizes);
    assert(workgroups.has_value() && "our own grid expressions evaluate");
    launch.grid[axis] = static_cast<std::uint32_t>(*workgroups);
  }
  for (const KernelArgument &argument : interface.arguments) {
    launch.arguments.push_back(argumentOf(argument, problem, sizes));
  }
  return launch;
}

} // namespace

KernelPlan makePlan(const Problem &problem, const Schedule &schedule, const Target &target) {
  return plannerOf(schedule).plan(problem, schedule, target);
}

LoopGraph loopGraph(const Problem &problem, const Schedule &schedule, const Target &target,
                    const LaunchPlan & /*launch*/, const Region &region) {
  UnfinishedLoop loop = plannerOf(schedule).loop(problem, schedule, target, region);
  return loop.builder.finish(loop.order);
}

LoopTotals loopTotals(const Problem &problem, const Schedule &schedule, const Target &target,
                      const LaunchPlan & /*launch*/, const Region &region) {
  UnfinishedLoop loop = plannerOf(schedule).loop(problem, schedule, target, region);
  return loop.builder.totals(loop.order);
}

KernelInterface kernelInterface(const Problem &problem, const Schedule &schedule,
                                const Target &target) {
  const Planner &planner = plannerOf(schedule);
  assert(planner.interface && "only kernels that we generate have an interface");
  return planner.interface(problem, schedule, target);
}

SizeValues runtimeSizes(const Problem &problem) {
  return plannerOf(problem.family()).sizes(problem);
}

Manifest makeManifest(const Problem &problem, const Schedule &schedule, const Target &target,
                      std::string codeObjectFile) {
  const KernelInterface interface = kernelInterface(problem, schedule, target);
  const SizeValues sizes = runtimeSizes(problem);
  Manifest manifest;
  manifest.codeObject = std::move(codeObjectFile);
  std::uint64_t seed = 1;
  for (const Tensor &tensor : tensors(problem)) {
    manifest.buffers.push_back(bufferOf(tensor, seed++));
  }
  for (const PlanBuffer &planned : makePlan(problem, schedule, target).buffers) {
    if (planned.role == BufferRole::workspace) {
      manifest.buffers.push_back(bufferOf(planned));
    }
  }
  for (const LaunchInterface &launch : interface.launches) {
    manifest.launches.push_back(launchOf(launch, problem, sizes));
  }
  manifest.guards = interface.guards;
  manifest.problem = print(problem);
  manifest.schedule = print(schedule);
  manifest.target = target.name;
  return manifest;
}

std::string kernelName(const Problem &problem, const Schedule &schedule) {
  const std::string identity = printCompiledPart(problem) + ' ' + print(schedule);
  return fmt::format("{}_{:016x}", plannerOf(schedule).stem(problem, schedule), hashOf(identity));
}

int sizeOf(KernelArgument::Kind kind) {
  return kind == KernelArgument::Kind::pointer || kind == KernelArgument::Kind::i64 ? 8 : 4;
}

void addArgument(LaunchInterface &launch, std::string name, KernelArgument::Kind kind) {
  const int size = sizeOf(kind);
  const int offset = static_cast<int>(ceilDiv<std::int64_t>(launch.kernargBytes, size)) * size;
  launch.arguments.push_back({std::move(name), kind, offset});
  launch.kernargBytes = offset + size;
}

LoopKeyPacker &LoopKeyPacker::add(std::uint64_t value, int bits) {
  assert(used + bits <= 64);
  packed |= (value & ((std::uint64_t(1) << bits) - 1)) << used;
  used += bits;
  return *this;
}

} // namespace kw
