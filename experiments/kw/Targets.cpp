// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"

#include <fmt/format.h>

namespace kw {

namespace {

Json targetJson(const Target &target) {
  return {{"name", target.name},
          {"product", target.product},
          {"cus", target.cus},
          {"xcds", target.xcds},
          {"lds_bytes", target.ldsBytes},
          {"hbm_bytes", target.hbmBytes},
          {"hbm_bytes_per_second", target.hbmBytesPerSecond},
          {"peak_clock_mhz", target.peakClockHz / 1e6},
          {"peak_tflops_bf16", peakFlops(target, ElementType::bf16, ElementType::bf16) / 1e12}};
}

Expected<ExitStatus> run(const CommonOptions &common) {
  Json list = Json::array();
  std::vector<std::vector<std::string>> rows{
      {"target", "product", "CUs", "XCDs", "LDS/CU", "HBM TB/s", "bf16 TFLOP/s"}};
  for (const Target *target : targets()) {
    list.push_back(targetJson(*target));
    rows.push_back(
        {std::string(target->name), std::string(target->product), std::to_string(target->cus),
         std::to_string(target->xcds), fmt::format("{} KiB", target->ldsBytes / 1024),
         fmt::format("{:.1f}", target->hbmBytesPerSecond / 1e12),
         fmt::format("{:.0f}", peakFlops(*target, ElementType::bf16, ElementType::bf16) / 1e12)});
  }
  if (Expected<void> printed = print(common, list, table(rows)); !printed) {
    return tl::unexpected(printed.error());
  }
  return exitDone;
}

} // namespace

RunCommand addTargets(CLI::App &, const CommonOptions &common) {
  return [&common] { return run(common); };
}

} // namespace kw
