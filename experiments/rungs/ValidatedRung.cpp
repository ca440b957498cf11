// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/rungs/ValidatedRung.h"

#include <fmt/format.h>

namespace kw {

Json findingsJson(std::span<const Finding> findings) {
  Json list = Json::array();
  for (const Finding &finding : findings) {
    list.push_back({{"kind", finding.kind},
                    {"kernel", finding.kernel},
                    {"pc", finding.pc},
                    {"instruction", finding.instruction},
                    {"workgroup", finding.workgroup},
                    {"wave", finding.wave},
                    {"lane", finding.lane},
                    {"detail", finding.detail}});
  }
  return list;
}

Json validationJson(std::string_view problem, std::string_view device,
                    const Validation &validation) {
  return {{"ok", validation.ok},
          {"problem", problem},
          {"device", device},
          {"max_abs", validation.maxAbs},
          {"max_rel", validation.maxRel},
          {"tolerance", validation.tolerance},
          {"checked", validation.checked},
          {"total", validation.total},
          {"findings", findingsJson(validation.findings)},
          {"seconds", validation.seconds},
          {"gflops", validation.gflops}};
}

std::string whyInvalid(const Validation &validation) {
  if (validation.findings.empty()) {
    return fmt::format("relative error {:.3g} > {:.3g}", validation.maxRel, validation.tolerance);
  }
  const Finding &first = validation.findings.front();
  return first.detail.empty() ? first.kind : fmt::format("{}: {}", first.kind, first.detail);
}

} // namespace kw
