// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/ForeignModel.h"

#include "costmodel/foreign/AttentionTile.h"
#include "costmodel/foreign/CaseFeatures.h"
#include "costmodel/foreign/TileChoices.h"
#include "costmodel/foreign/TileStream.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

void add(Estimate &sum, const Estimate &part) {
  sum.timeUs += part.timeUs;
  for (std::size_t i = 0; i < termCount; ++i) {
    sum.termsUs[i] += part.termsUs[i];
  }
}

void finish(Estimate &estimate, const ProblemFacts &facts) {
  estimate.limiter =
      static_cast<Term>(std::max_element(estimate.termsUs.begin(), estimate.termsUs.end()) -
                        estimate.termsUs.begin());
  estimate.tflops = facts.flops / estimate.timeUs * 1e-6;
  estimate.gbps = facts.compulsoryBytes / estimate.timeUs * 1e-3;
}

} // namespace

/// Mean in log of the times; mean of the terms, scaled to add up to it; mean of the bytes.
ForeignModel::Run ForeignModel::averaged(std::span<const Run> runs) {
  Run mean;
  double log = 0;
  for (const Run &run : runs) {
    log += std::log(run.estimate.timeUs) / double(runs.size());
    add(mean.estimate, run.estimate);
    mean.readBytes += run.readBytes / double(runs.size());
  }
  const double scale = std::exp(log) / mean.estimate.timeUs;
  mean.estimate.timeUs = std::exp(log);
  for (double &us : mean.estimate.termsUs) {
    us *= scale;
  }
  return mean;
}

struct ForeignModel::Part {
  TileProblem problem;
  Run run;
  SetTileKernel kernel; ///< the first of the alternative that was taken
};

const ReadKernel &ForeignModel::kernelOf(const KernelText &text) {
  const auto number = [](const std::optional<int> &value) { return value.value_or(0); };
  const std::string key = fmt::format("{}|{}|{}|{}|{}|{}|{}", text.generator, text.name,
                                      number(text.tileM), number(text.tileN), number(text.tileK),
                                      number(text.threads), number(text.splitK));
  const auto at = kernels.find(key);
  return at != kernels.end() ? at->second : kernels.emplace(key, readKernel(text)).first->second;
}

Expected<const Target *> ForeignModel::targetOf(const MeasuredRow &row) {
  const auto at = targets.find({row.gfx, row.cus});
  if (at != targets.end()) {
    return &at->second;
  }
  const auto target = findTarget(row.gfx.empty() ? "gfx950" : row.gfx);
  if (!target) {
    return target;
  }
  Target part = calibration.calibrated(**target);
  part.cus = row.cus == 0 ? part.cus : row.cus;
  return &targets.emplace(std::pair(row.gfx, row.cus), part).first->second;
}

void ForeignModel::addLaunch(const TileLaunch &launch, const ProblemFacts &facts,
                             const Target &target, ReadsFrom from, Run &run) {
  const LaunchProfile profile = profileLaunch(
      launch.plan, {launch.loops.data(), launch.loops.size()}, facts, target, reuse, from);
  run.estimate.timeUs += addLaunchTerms(profile, target, run.estimate.termsUs, without);
  run.readBytes += profile.mallReadBytes;
}

ForeignModel::Run ForeignModel::estimateKernel(const TileProblem &problem,
                                               const SetTileKernel &kernel,
                                               const ProblemFacts &facts, const Target &target) {
  Run run;
  addLaunch(tileLaunch(problem, kernel, target), facts, target, ReadsFrom::inputs, run);
  const bool split = kernel.splitK > 1 && kernel.reduction != TileReduction::last;
  const bool reduced = problem.rowsPerResult > 1 && kernel.reduction == TileReduction::launch;
  if (split || reduced) {
    addLaunch(secondLaunch(problem, kernel, target), facts, target, ReadsFrom::workspace, run);
  }
  return run;
}

ForeignModel::Part ForeignModel::estimatePart(const TileProblem &problem, const ReadKernel &kernel,
                                              const Target &target) {
  const ProblemFacts facts = problemFacts(problem);
  Part best{problem};
  for (const auto &members : tileChoices(kernel.tile, problem, target).alternatives) {
    std::vector<Run> runs;
    for (const SetTileKernel &member : members) {
      runs.push_back(estimateKernel(problem, member, facts, target));
    }
    const Run mean = averaged(runs);
    if (best.run.estimate.timeUs == 0 || mean.estimate.timeUs < best.run.estimate.timeUs) {
      best.run = mean;
      best.kernel = members.front();
    }
  }
  return best;
}

ModelCase ForeignModel::caseOf(std::span<const Part> parts, std::span<const ReadKernel> kernels,
                               const Target &target) {
  ModelCase result;
  ProblemFacts facts;
  std::vector<CasePart> cases;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    const Part &part = parts[i];
    const ReadKernel &kernel = kernels[std::min(i, kernels.size() - 1)];
    add(result.analytic, part.run.estimate);
    result.readBytes += part.run.readBytes;
    const ProblemFacts own = problemFacts(part.problem);
    facts.flops += own.flops;
    facts.compulsoryBytes += own.compulsoryBytes;
    cases.push_back({part.problem, part.kernel, kernel.tile, part.run.estimate.timeUs});
    if (i > 0 && i < kernels.size()) {
      result.kernel += "+";
    }
    result.kernel += i < kernels.size() ? kernel.identity : std::string();
  }
  finish(result.analytic, facts);
  result.features = caseFeatures(cases[0], cases.size() > 1 ? &cases[1] : nullptr, target);
  const TileProblem &first = parts.front().problem;
  result.dtype = typeName(first.a, first.b, first.scale);
  result.generator = kernels.front().generator;
  result.variant = kernels.front().tile.variant;
  return result;
}

Expected<ModelCase> ForeignModel::estimateParts(std::span<const TileProblem> problems,
                                                std::span<const ReadKernel> kernels,
                                                const Target &target) {
  std::vector<Part> parts;
  for (std::size_t i = 0; i < problems.size(); ++i) {
    const TileProblem &problem = problems[i];
    if (matrixRate(problem, {}, target) == 0) {
      return badInput(fmt::format("{} has no matrix instruction for {}", target.name,
                                  typeName(problem.a, problem.b, problem.scale)));
    }
    parts.push_back(estimatePart(problem, kernels[std::min(i, kernels.size() - 1)], target));
  }
  ModelCase result = caseOf(parts, kernels, target);
  for (std::size_t i = 0; parts.size() > 1 && parts.size() == kernels.size() && i < parts.size();
       ++i) {
    result.parts.push_back(caseOf({&parts[i], 1}, {&kernels[i], 1}, target));
  }
  return result;
}

Expected<ModelCase> ForeignModel::estimateGemm(const MeasuredRow &row, const Target &target) {
  if (!row.op.empty() && row.op != "gemm" && row.op != "bgemm") { // more than the products
    return badInput(fmt::format("op={}: not modelled; gemm and bgemm are", row.op));
  }
  const auto problem = gemmProblem(row);
  if (!problem) {
    return tl::unexpected(problem.error());
  }
  return estimateParts({&*problem, 1}, {&kernelOf(row.kernels.front()), 1}, target);
}

Expected<ModelCase> ForeignModel::estimateMoe(const MeasuredRow &row, const Target &target) {
  std::vector<TileProblem> problems;
  std::vector<ReadKernel> parts;
  for (const int stage : {1, 2}) {
    if (row.moe.stage != 0 && row.moe.stage != stage) {
      continue;
    }
    const auto problem = moeProblem(row, stage);
    if (!problem) {
      return tl::unexpected(problem.error());
    }
    problems.push_back(*problem);
  }
  for (const KernelText &text : row.kernels) {
    ReadKernel &kernel = parts.emplace_back(kernelOf(text));
    if (!kernel.tile.tileM && row.moe.blockM > 0) {
      kernel.tile.tileM = row.moe.blockM;
    }
    if (!kernel.tile.sortedRows && row.moe.blockM > 0) {
      kernel.tile.sortedRows = row.moe.blockM;
    }
  }
  return estimateParts(problems, parts, target);
}

Expected<ModelCase> ForeignModel::estimateAttention(const MeasuredRow &row, const Target &target) {
  const bool backward = row.op == "attn_bwd";
  if (!backward && row.op != "attn_fwd") {
    return badInput(fmt::format("op={}: not modelled; attn_fwd and attn_bwd are", row.op));
  }
  const auto type = elementTypeOf("dtype", row.typeA);
  if (!type) {
    return tl::unexpected(type.error());
  }
  const AttentionWork work{row.attention, *type, backward};
  const ProblemFacts facts = problemFacts(work);
  std::vector<Run> runs;
  for (const AttentionTile &tile : attentionTiles()) {
    addLaunch(attentionLaunch(work, tile, target), facts, target, ReadsFrom::inputs,
              runs.emplace_back());
  }
  const Run mean = averaged(runs);
  ModelCase result;
  result.analytic = mean.estimate;
  result.readBytes = mean.readBytes;
  finish(result.analytic, facts);
  result.features = attentionFeatures(work, target);
  result.dtype = std::string(name(*type));
  result.generator = row.kernels.front().generator;
  result.variant = fmt::format("{}{}", row.op, row.attention.causal ? "_causal" : "");
  result.kernel = fmt::format("{} {} d{}", result.generator, result.variant, row.attention.headDim);
  return result;
}

Expected<ModelCase> ForeignModel::estimate(const MeasuredRow &row) {
  if (!row.damage.empty()) {
    return badInput(row.damage);
  }
  const auto target = targetOf(row);
  if (!target) {
    return tl::unexpected(target.error());
  }
  auto result = row.kind == RowKind::gemm  ? estimateGemm(row, **target)
                : row.kind == RowKind::moe ? estimateMoe(row, **target)
                                           : estimateAttention(row, **target);
  if (result) {
    result->family = familyOf(row);
    result->group = groupOf(row);
    for (ModelCase &part : result->parts) {
      part.family = result->family;
      part.group = result->group;
    }
  }
  return result;
}

} // namespace kw
