// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/inductor/Prediction.h"

#include "costmodel/CostModel.h"
#include "experiments/rungs/CompiledRung.h"

#include <fmt/format.h>

namespace kw {

Expected<void> predict(BundleEntry &entry, const Target &target) {
  CostModel model(entry.problem, target, entry.calibration);
  Estimate estimate;
  if (entry.source == "model") {
    estimate = model.estimate(entry.schedule);
  } else if (entry.source == "compiled") {
    const Expected<CompiledFacts> facts = compiledFacts(entry.object);
    if (!facts) {
      return tl::unexpected(facts.error());
    }
    estimate = model.estimate(entry.schedule, *facts);
  } else {
    return failed(fmt::format("source '{}' is neither model nor compiled: nothing in a bundle "
                              "proves such a time",
                              entry.source));
  }
  entry.timeUs = estimate.timeUs;
  entry.lowUs = estimate.lowUs;
  entry.highUs = estimate.highUs;
  entry.limiter = name(estimate.limiter);
  return {};
}

} // namespace kw
