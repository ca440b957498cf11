// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/AttentionInterface.h"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

/// Work-items of a launch are counted in 32 bits. [AQL dispatch packet]
constexpr std::int64_t largestGrid = (std::int64_t(1) << 32) - 1;
/// Elements that an offset within a tile may reach: signed 32-bit arithmetic on 2-byte elements.
constexpr std::int64_t largestElementOffset = (std::int64_t(1) << 30) - 1;

std::vector<std::string> guardsOf(const Attention &attention, const AttentionSchedule &schedule) {
  const std::int64_t group = attention.group();
  const std::int64_t rowTiles = ceilDiv<std::int64_t>(mostQueries * group, schedule.tiling.rows);
  const std::int64_t perBatch = attention.hkv * schedule.split.kv * rowTiles * schedule.waves * 64;
  std::vector<std::string> guards{
      "b >= 1",   fmt::format("b <= {}", std::max<std::int64_t>(1, largestGrid / perBatch)),
      "sq >= 1",  fmt::format("sq <= {}", mostQueries),
      "skv >= 1", fmt::format("skv <= {}", largestColumns)};
  // A tile of q or o: queries and the heads of a group; of k or v: the columns of a wave.
  for (const char *tensor : {"q", "o"}) {
    guards.push_back(
        fmt::format("sq * {}_s + {} * {}_h <= {}", tensor, group, tensor, largestElementOffset));
  }
  for (const char *tensor : {"k", "v"}) {
    guards.push_back(
        fmt::format("{}_s <= {}", tensor, largestElementOffset / schedule.tiling.columns));
  }
  for (const char *tensor : {"q", "k", "v", "o"}) {
    const int elements = *tensor == 'o' ? 4 : 8; // of one access
    for (const char *axis : {"b", "h", "s"}) {
      guards.push_back(fmt::format("{}_{} % {} == 0", tensor, axis, elements));
    }
  }
  return guards;
}

LaunchInterface mainInterface(const Problem &problem, const Schedule &any, const Target &target) {
  const Attention &attention = problem.attention();
  const auto &schedule = std::get<AttentionSchedule>(any);
  LaunchInterface launch;
  launch.kernel = kernelName(problem, any);
  launch.grid = {fmt::format("b * {} * ceildiv(sq * {}, {})", attention.hkv * schedule.split.kv,
                             attention.group(), schedule.tiling.rows),
                 "1", "1"};
  launch.block = {static_cast<std::uint32_t>(schedule.waves * target.waveSize), 1, 1};
  for (const char *operand : {"q", "k", "v"}) {
    addArgument(launch, operand, KernelArgument::Kind::pointer);
  }
  return launch;
}

void addResults(const Attention &attention, LaunchInterface &launch) {
  addArgument(launch, "o", KernelArgument::Kind::pointer);
  if (attention.lse) {
    addArgument(launch, "lse", KernelArgument::Kind::pointer);
  }
}

void addPartials(const KernelInterface &interface, LaunchInterface &launch) {
  for (const WorkspaceInterface &workspace : interface.workspaces) {
    addArgument(launch, workspace.name, KernelArgument::Kind::pointer);
  }
}

/// f32: results before the division, and maximum and sum, of each split and row.
std::vector<WorkspaceInterface> splitWorkspaces(const Attention &attention, int splits) {
  constexpr std::int64_t elementBytes = 4;
  const std::int64_t perQuery = splits * attention.hq * elementBytes;
  return {{"partial", fmt::format("b * sq * {}", perQuery * attention.dv)},
          {"statistics", fmt::format("b * sq * {}", perQuery * 2)}};
}

void addSizes(const Problem &problem, LaunchInterface &launch) {
  for (const auto &[name, value] : attentionSizes(problem)) {
    const bool isWide = name.ends_with("_b") || name.ends_with("_h");
    addArgument(launch, name, isWide ? KernelArgument::Kind::i64 : KernelArgument::Kind::i32);
  }
}

} // namespace

KernelInterface attentionInterface(const Problem &problem, const Schedule &any,
                                   const Target &target) {
  const Attention &attention = problem.attention();
  const auto &schedule = std::get<AttentionSchedule>(any);
  KernelInterface interface;
  for (const auto &[name, value] : attentionSizes(problem)) {
    interface.sizes.push_back(name);
  }
  interface.guards = guardsOf(attention, schedule);
  LaunchInterface main = mainInterface(problem, any, target);
  if (schedule.split.kv == 1) {
    addResults(attention, main);
    addSizes(problem, main);
    interface.launches.push_back(std::move(main));
    return interface;
  }
  interface.workspaces = splitWorkspaces(attention, schedule.split.kv);
  addPartials(interface, main);
  addSizes(problem, main);
  LaunchInterface combine;
  combine.kernel = main.kernel + "_combine";
  combine.grid = {fmt::format("ceildiv(b * sq * {}, {})", attention.hq, combineRows), "1", "1"};
  combine.block = {static_cast<std::uint32_t>(combineRows * target.waveSize), 1, 1};
  addPartials(interface, combine);
  addResults(attention, combine);
  addSizes(problem, combine);
  interface.launches.push_back(std::move(main));
  interface.launches.push_back(std::move(combine));
  return interface;
}

std::vector<std::pair<std::string, std::int64_t>> attentionSizes(const Problem &problem) {
  const Attention &op = problem.attention();
  std::vector<std::pair<std::string, std::int64_t>> sizes{
      {"b", op.b}, {"sq", op.sq}, {"skv", op.skv}};
  const auto add = [&](const std::string &tensor, std::int64_t heads, std::int64_t sequence,
                       std::int64_t dimension) {
    const AttentionStrides strides = attentionStrides(op.layout, heads, sequence, dimension);
    sizes.emplace_back(tensor + "_b", strides.batch);
    sizes.emplace_back(tensor + "_h", strides.head);
    sizes.emplace_back(tensor + "_s", strides.sequence);
  };
  add("q", op.hq, op.sq, op.d);
  add("k", op.hkv, op.skv, op.d);
  add("v", op.hkv, op.skv, op.dv);
  add("o", op.hq, op.sq, op.dv);
  return sizes;
}

std::string attentionStem(const Problem &problem, const Schedule &any) {
  const Attention &op = problem.attention();
  const auto &schedule = std::get<AttentionSchedule>(any);
  return fmt::format("attention_{}_h{}x{}_d{}{}_{}x{}_w{}_s{}", name(op.type), op.hq, op.hkv, op.d,
                     op.mask == MaskKind::causal ? "_causal" : "", schedule.tiling.rows,
                     schedule.tiling.columns, schedule.waves, schedule.split.kv);
}

} // namespace kw
