// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/CostModel.h"

#include "costmodel/Combine.h"
#include "costmodel/Features.h"
#include "costmodel/LoopSummary.h"
#include "costmodel/Memo.h"
#include "costmodel/OwnCase.h"

#include <algorithm>
#include <cmath>

namespace kw {

std::string_view modelVersion() { return "analytic-6"; }

struct CostModel::Context {
  Problem problem;
  Target target;
  ProblemFacts facts;
  Memo<LoopSummary> loops;
  TileReuse reuse;

  Correction correction;
  double factor = 1; ///< of the analytic time

  Context(const Problem &p, const Target &t, const Calibration &calibration)
      : problem(p), target(calibration.calibrated(t)), facts(problemFacts(p, target)),
        correction(calibration.correct(ownCase(p))), factor(std::exp(correction.log)) {}

  LaunchProfile profile(const Schedule &schedule, const KernelPlan &plan,
                        const LaunchPlan &launch) {
    Inline<LoopSummary, 8> summaries;
    for (const Region &region : launch.regions) {
      summaries.push_back(loops.find(region.loop, [&] {
        return summarise(loopTotals(problem, schedule, target, launch, region));
      }));
    }
    return profileOf(plan, launch, {summaries.data(), summaries.size()});
  }

  LaunchProfile profileOf(const KernelPlan &plan, const LaunchPlan &launch,
                          std::span<const LoopSummary> summaries) {
    return profileLaunch(launch, summaries, facts, target, reuse,
                         &launch == &plan.launches.front() ? ReadsFrom::inputs
                                                           : ReadsFrom::workspace);
  }

  /// What is known already of a launch and what holds of each: with unknown loops empty it is at
  /// least this much work, and every term rises with work. False: all loops were known.
  bool leastProfile(const KernelPlan &plan, const LaunchPlan &launch, LaunchProfile &profile) {
    Inline<LoopSummary, 8> summaries;
    bool incomplete = false;
    for (const Region &region : launch.regions) {
      const LoopSummary *known = loops.known(region.loop);
      incomplete |= known == nullptr;
      summaries.push_back(known ? *known : LoopSummary{});
    }
    profile = profileOf(plan, launch, {summaries.data(), summaries.size()});
    if (incomplete && &launch == &plan.launches.front()) { // the products are the first launch's
      const double waves = static_cast<double>(profile.workgroups) * profile.waves;
      profile.matrixCycles = std::max(profile.matrixCycles, facts.leastMatrixCycles / waves);
    }
    return incomplete;
  }

  Estimate estimate(const Schedule &schedule, const KernelPlan &plan);
};

namespace {

/// Makes the parts add up to the last bit where that is possible: the largest takes the rounding.
void settle(Estimate &estimate) {
  double &largest = estimate.termsUs[static_cast<std::size_t>(estimate.limiter)];
  for (int pass = 0; pass < 4; ++pass) {
    double sum = 0;
    for (const double us : estimate.termsUs) {
      sum += us;
    }
    largest += estimate.timeUs - sum;
  }
}

void replaceByCompiled(LaunchPlan &launch, const CompiledFacts &compiled) {
  launch.registers = {};
  launch.registers.accumulators = compiled.agpr;
  launch.registers.fragments = compiled.vgpr;
  launch.registers.accumulatorsInAgpr = true;
  launch.ldsBytes = static_cast<std::int32_t>(compiled.ldsBytes);
  launch.occupancy = compiled.occupancy;
}

} // namespace

Estimate CostModel::Context::estimate(const Schedule &schedule, const KernelPlan &plan) {
  Estimate result;
  for (const LaunchPlan &launch : plan.launches) {
    result.timeUs += addLaunchTerms(profile(schedule, plan, launch), target, result.termsUs);
  }
  const auto largest = std::max_element(result.termsUs.begin(), result.termsUs.end());
  result.limiter = static_cast<Term>(largest - result.termsUs.begin());
  result.termsUs[static_cast<std::size_t>(Term::residual)] = result.timeUs * (factor - 1);
  result.timeUs *= factor;
  settle(result);
  const double spread = std::exp(correction.halfWidth80);
  result.lowUs = result.timeUs / spread;
  result.highUs = result.timeUs * spread;
  result.tflops = facts.flops / result.timeUs * 1e-6;
  result.gbps = facts.compulsoryBytes / result.timeUs * 1e-3;
  const LaunchPlan &main = plan.launches.front();
  result.occupancy = main.occupancy;
  result.vgpr = main.registers.vgpr();
  result.agpr = main.registers.agpr();
  result.ldsBytes = main.ldsBytes;
  return result;
}

CostModel::CostModel(const Problem &problem, const Target &target)
    : CostModel(problem, target, uncalibrated()) {}
CostModel::CostModel(const Problem &problem, const Target &target, const Calibration &calibration)
    : context(std::make_unique<Context>(problem, target, calibration)) {}
CostModel::~CostModel() = default;
CostModel::CostModel(CostModel &&) noexcept = default;

Estimate CostModel::estimate(const Schedule &schedule) {
  return context->estimate(schedule, makePlan(context->problem, schedule, context->target));
}

Estimate CostModel::estimate(const Schedule &schedule, const CompiledFacts &compiled) {
  KernelPlan plan = makePlan(context->problem, schedule, context->target);
  replaceByCompiled(plan.launches.front(), compiled);
  return context->estimate(schedule, plan);
}

double CostModel::timeUs(const Schedule &schedule, double limitUs) {
  const KernelPlan plan = makePlan(context->problem, schedule, context->target);
  double us = 0;
  bool incomplete = false;
  for (const LaunchPlan &launch : plan.launches) {
    LaunchProfile profile;
    incomplete |= context->leastProfile(plan, launch, profile);
    us += launchUs(profile, context->target);
  }
  us *= context->factor;
  return incomplete && us <= limitUs ? timeUs(schedule) : us;
}

double CostModel::timeUs(const Schedule &schedule) {
  const KernelPlan plan = makePlan(context->problem, schedule, context->target);
  double us = 0;
  for (const LaunchPlan &launch : plan.launches) {
    us += launchUs(context->profile(schedule, plan, launch), context->target);
  }
  return us * context->factor;
}

} // namespace kw
