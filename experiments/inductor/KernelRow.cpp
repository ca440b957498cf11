// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/inductor/KernelRow.h"

#include "experiments/inductor/ops/Facts.h"
#include "experiments/support/Sha256.h"
#include "ir/KernelPlan.h"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

using Json = nlohmann::ordered_json;

struct KindRow {
  std::string_view name;
  int bytes;
};

/// In the order of KernelArgument::Kind.
constexpr KindRow argumentKinds[] = {{"pointer", 8}, {"i32", 4}, {"i64", 8}, {"f32", 4}};

Json argumentRow(const KernelArgument &argument) {
  const KindRow &kind = argumentKinds[static_cast<std::size_t>(argument.kind)];
  return {{"name", argument.name},
          {"kind", kind.name},
          {"offset", argument.offset},
          {"size", kind.bytes}};
}

Json launchRow(const LaunchInterface &launch) {
  Json row{{"kernel", launch.kernel},
           {"grid", launch.grid},
           {"block", launch.block},
           {"dynamic_lds", 0},
           {"kernarg_bytes", launch.kernargBytes},
           {"args", Json::array()}};
  for (const KernelArgument &argument : launch.arguments) {
    row["args"].push_back(argumentRow(argument));
  }
  return row;
}

Json resourcesRow(const KernelResources &kernel) {
  return {{"kernel", kernel.kernel},
          {"vgpr", kernel.vgpr},
          {"agpr", kernel.agpr},
          {"sgpr", kernel.sgpr},
          {"vgpr_spills", kernel.vgprSpills},
          {"sgpr_spills", kernel.sgprSpills},
          {"lds_bytes", kernel.ldsBytes},
          {"scratch_bytes", kernel.scratchBytes},
          {"kernarg_bytes", kernel.kernargBytes}};
}

/// Bytes that each tensor's address must be a multiple of: its widest access.
Json alignmentRow(const BundleEntry &entry, const Target &target) {
  Json row = Json::object();
  const KernelPlan plan = makePlan(entry.problem, entry.schedule, target);
  for (const Tensor &tensor : tensors(entry.problem)) {
    int bytes = std::max(1, bitWidth(tensor.type) / 8);
    for (const LaunchPlan &launch : plan.launches) {
      for (const TileTraffic &traffic : launch.traffic) {
        if (name(traffic.operand) == tensor.name) {
          bytes = std::max(bytes, static_cast<int>(traffic.vectorBytes));
        }
      }
    }
    row[tensor.name] = bytes;
  }
  return row;
}

Json workspaceRow(const WorkspaceInterface &workspace) {
  return {{"name", workspace.name},
          {"bytes", workspace.bytes},
          {"zeroed", workspace.zeroedBefore},
          {"reset", workspace.resetAfter}};
}

template <typename Row, typename Items, typename Make> Row arrayOf(const Items &items, Make make) {
  Row rows = Row::array();
  for (const auto &item : items) {
    rows.push_back(make(item));
  }
  return rows;
}

} // namespace

std::string codeObjectFile(const BundleEntry &entry) {
  return kernelName(entry.problem, entry.schedule) + ".hsaco";
}

Json kernelRow(const BundleEntry &entry, const Target &target) {
  const KernelInterface interface = kernelInterface(entry.problem, entry.schedule, target);
  return {{"name", kernelName(entry.problem, entry.schedule)},
          {"operator", name(entry.problem.family())},
          {"problem", print(entry.problem)},
          {"schedule", print(entry.schedule)},
          {"target", target.name},
          {"wave_size", target.waveSize},
          {"facts", operatorFacts(entry.problem)},
          {"code_object", codeObjectFile(entry)},
          {"sha256", sha256(entry.object.hsaco)},
          {"sizes", interface.sizes},
          {"guards", interface.guards},
          {"alignment", alignmentRow(entry, target)},
          {"workspaces", arrayOf<Json>(interface.workspaces, workspaceRow)},
          {"launches", arrayOf<Json>(interface.launches, launchRow)},
          {"resources", arrayOf<Json>(entry.object.kernels, resourcesRow)},
          {"time_us", entry.timeUs},
          {"source", entry.source}};
}

Json problemRow(const BundleEntry &entry) {
  Json row{{"problem", print(entry.problem)},
           {"kernel", kernelName(entry.problem, entry.schedule)},
           {"schedule", print(entry.schedule)},
           {"time_us", entry.timeUs},
           {"source", entry.source},
           {"interval_us", {entry.lowUs, entry.highUs}},
           {"limiter", entry.limiter},
           {"measured_us", entry.measuredUs ? Json(*entry.measuredUs) : Json()},
           {"validated", entry.validated},
           {"seed", entry.seed},
           {"max_rel", entry.maxRel}};
  if (!entry.calibration.isNone()) {
    row["calibration"] = toJson(entry.calibration);
  }
  return row;
}

std::string firstDifference(const Json &claimed, const Json &truth, const std::string &path) {
  const std::string here = path.empty() ? "it" : path;
  if (truth.is_object() && claimed.is_object()) {
    for (const auto &[key, value] : truth.items()) {
      const std::string below = path.empty() ? key : path + "." + key;
      if (!claimed.contains(key)) {
        return below + " is missing";
      }
      if (std::string difference = firstDifference(claimed[key], value, below);
          !difference.empty()) {
        return difference;
      }
    }
    for (const auto &[key, value] : claimed.items()) {
      if (!truth.contains(key)) {
        return fmt::format("{} has an unknown field '{}'", here, key);
      }
    }
    return {};
  }
  if (truth.is_array() && claimed.is_array() && truth.size() == claimed.size()) {
    for (std::size_t i = 0; i < truth.size(); ++i) {
      if (std::string difference =
              firstDifference(claimed[i], truth[i], fmt::format("{}[{}]", path, i));
          !difference.empty()) {
        return difference;
      }
    }
    return {};
  }
  return claimed == truth ? ""
                          : fmt::format("{} is {}, not {}", here, truth.dump(), claimed.dump());
}

} // namespace kw
