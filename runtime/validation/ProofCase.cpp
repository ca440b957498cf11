// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/validation/ProofCase.h"

#include "ir/ManifestDifference.h"
#include "runtime/validation/Comparison.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <fmt/format.h>
#include <functional>
#include <thread>

namespace kw {
namespace {

/// Runs work(0..count-1) on several threads.
void inParallel(std::size_t count, int jobs, const std::function<void(std::size_t)> &work) {
  const std::size_t threads = std::min<std::size_t>(count, static_cast<std::size_t>(jobs));
  const auto share = [&](std::size_t first) {
    for (std::size_t i = first; i < count; i += threads) {
      work(i);
    }
  };
  std::vector<std::thread> others;
  for (std::size_t first = 1; first < threads; ++first) {
    others.emplace_back(share, first);
  }
  if (count > 0) {
    share(0);
  }
  for (std::thread &other : others) {
    other.join();
  }
}

/// Position-dependent, four independent lanes for speed.
std::uint64_t checksum(std::span<const std::uint8_t> bytes, std::uint64_t start) {
  constexpr std::uint64_t factor = 0x9E3779B97F4A7C15U;
  std::array<std::uint64_t, 4> lanes{start, start + 1, start + 2, start + 3};
  std::size_t at = 0;
  for (; at + sizeof(lanes) <= bytes.size(); at += sizeof(lanes)) {
    std::array<std::uint64_t, 4> words{};
    std::memcpy(words.data(), bytes.data() + at, sizeof(words));
    for (std::size_t i = 0; i < lanes.size(); ++i) {
      lanes[i] = (lanes[i] ^ words[i]) * factor;
    }
  }
  std::uint64_t sum = lanes[0] ^ lanes[1] * 3 ^ lanes[2] * 5 ^ lanes[3] * 7;
  for (; at < bytes.size(); ++at) {
    sum = (sum ^ bytes[at]) * factor;
  }
  return sum;
}

Finding complaint(const char *kind, std::string detail) {
  Finding finding;
  finding.kind = kind;
  finding.detail = std::move(detail);
  return finding;
}

RunOptions runOptions(const ValidateOptions &options) {
  RunOptions how;
  how.strict = options.strict;
  how.seed = options.seed;
  how.jobs = options.jobs;
  how.matrixSums = options.matrixSums;
  return how;
}

std::int64_t elementsOf(const Tensor &tensor) {
  std::int64_t elements = 1;
  for (const std::int64_t size : tensor.shape) {
    elements *= size;
  }
  return elements;
}

} // namespace

Expected<ProofCase> ProofCase::make(const CodeObject &object, const Problem &problem,
                                    const Schedule &schedule, const Target &target) {
  ProofCase proofCase;
  proofCase.object = &object;
  proofCase.problem = problem;
  proofCase.plan = makePlan(problem, schedule, target);
  proofCase.operands = tensors(problem);
  Expected<std::unique_ptr<Oracle>> oracle = makeOracle(problem, proofCase.plan);
  if (!oracle) {
    return tl::unexpected<Error>(oracle.error());
  }
  proofCase.truth = std::move(*oracle);
  const Manifest truth = makeManifest(problem, schedule, target, object.manifest.codeObject);
  if (std::string difference = firstDifference(object.manifest, truth); !difference.empty()) {
    return badInput(std::move(difference));
  }
  return proofCase;
}

std::int64_t ProofCase::outputElements() const {
  std::int64_t elements = 0;
  for (const Tensor &tensor : operands) {
    elements += tensor.role == BufferRole::output ? elementsOf(tensor) : 0;
  }
  return elements;
}

Expected<ProofCase::Memory> ProofCase::allocate() const {
  Memory memory;
  for (const Buffer &buffer : object->manifest.buffers) {
    const bool zero = buffer.init.kind == BufferInit::Kind::zero;
    Expected<HostBuffer> made =
        zero ? HostBuffer::zeroed(buffer.bytes) : HostBuffer::poisoned(buffer.bytes);
    if (!made) {
      return tl::unexpected<Error>(made.error());
    }
    memory.views.push_back({buffer.name, made->bytes()});
    const auto operand = std::find_if(operands.begin(), operands.end(), [&](const Tensor &tensor) {
      return tensor.name == buffer.name;
    });
    if (operand != operands.end()) {
      memory.contents.add(*operand, made->bytes());
    }
    memory.buffers.push_back(std::move(*made));
  }
  return memory;
}

std::uint64_t ProofCase::checksumOfInputs(const Memory &memory) const {
  std::uint64_t sum = 0;
  for (const Tensor &tensor : operands) {
    if (tensor.role == BufferRole::input) {
      sum = checksum(memory.contents[tensor.name].bytes, sum);
    }
  }
  return sum;
}

void ProofCase::checkWorkspaces(const Memory &memory, Observation &seen) const {
  for (const PlanBuffer &buffer : plan.buffers) {
    for (const BufferView &view : memory.views) {
      if (buffer.resetAfter && view.name == buffer.name &&
          firstOtherByte(view.bytes, 0) < view.bytes.size()) {
        seen.findings.push_back(
            complaint("not-reset", fmt::format("'{}' is not zero after the run", view.name)));
      }
    }
  }
}

void ProofCase::checkOutputs(const InputSet &set, const std::vector<OutputBlock> &blocks,
                             const Memory &memory, int jobs, Observation &seen) const {
  const std::string circumstances = fmt::format("{} inputs, {}", set.name, print(problem));
  const auto group = static_cast<std::size_t>(std::max(jobs, 1));
  for (const Tensor &tensor : operands) {
    if (tensor.role != BufferRole::output) {
      continue;
    }
    std::vector<const OutputBlock *> own;
    for (const OutputBlock &block : blocks) {
      if (block.tensor == tensor.name) {
        own.push_back(&block);
      }
    }
    Comparison comparison(memory.contents[tensor.name], circumstances);
    for (std::size_t first = 0; first < own.size(); first += group) {
      std::vector<Expectation> expectations(std::min(group, own.size() - first));
      inParallel(expectations.size(), jobs, [&](std::size_t i) {
        expectations[i] = truth->expect(set, *own[first + i], memory.contents);
      });
      for (std::size_t i = 0; i < expectations.size(); ++i) {
        comparison.check(*own[first + i], expectations[i]);
      }
    }
    comparison.checkUntouched();
    for (Finding finding : comparison.findings()) {
      finding.kernel = object->manifest.launches.front().kernel;
      seen.findings.push_back(std::move(finding));
    }
    seen.checked += comparison.checked();
    seen.maxAbs = std::max(seen.maxAbs, comparison.maxAbs());
    seen.maxRel = std::max(seen.maxRel, comparison.maxRel());
  }
}

Expected<RunResult> ProofCase::runOnce(Device &device, const InputSet &set,
                                       const std::vector<OutputBlock> &blocks,
                                       const RunOptions &how, const Memory &memory,
                                       Observation &seen) const {
  for (const Tensor &tensor : operands) {
    if (tensor.role == BufferRole::output) {
      std::ranges::fill(memory.contents[tensor.name].bytes, HostBuffer::poison);
    }
  }
  truth->fill(set, blocks, memory.contents);
  const std::uint64_t before = checksumOfInputs(memory);
  Expected<RunResult> run = device.run(*object, memory.views, how);
  if (!run) {
    return tl::unexpected<Error>(run.error());
  }
  seen.findings.insert(seen.findings.end(), run->findings.begin(), run->findings.end());
  seen.seconds += run->seconds;
  seen.matrixFlops += run->matrixFlops;
  if (checksumOfInputs(memory) != before) {
    seen.findings.push_back(complaint("input-modified", "an input was written to"));
  }
  checkOutputs(set, blocks, memory, how.jobs, seen);
  return run;
}

Expected<Observation> ProofCase::run(Device &device, const InputSet &set,
                                     const std::vector<std::uint64_t> &workgroups,
                                     const ValidateOptions &options) const {
  Expected<ObservedRun> observed = runAs(device, set, workgroups, runOptions(options));
  if (!observed) {
    return tl::unexpected<Error>(observed.error());
  }
  return std::move(observed->seen);
}

Expected<Observation> ProofCase::runUnder(Device &device, const InputSet &set,
                                          const std::vector<std::uint64_t> &workgroups,
                                          const ValidateOptions &options,
                                          const std::vector<Timing> &timings) const {
  const RunOptions how = runOptions(options);
  Expected<ObservedRun> expected = runAs(device, set, workgroups, how);
  if (!expected || !expected->seen.findings.empty()) {
    return expected ? Expected<Observation>(std::move(expected->seen))
                    : tl::unexpected<Error>(expected.error());
  }
  Observation &sum = expected->seen;
  const auto again = [&](const RunOptions &timed) -> Expected<TimedRun> {
    Expected<ObservedRun> other = runAs(device, set, workgroups, timed);
    if (!other) {
      return tl::unexpected<Error>(other.error());
    }
    sum.seconds += other->seen.seconds;
    sum.matrixFlops += other->seen.matrixFlops;
    other->run.result.findings = std::move(other->seen.findings);
    return std::move(other->run);
  };
  Expected<std::vector<Finding>> findings =
      compareTimings(object->manifest, expected->run, timings, how, again);
  if (!findings) {
    return tl::unexpected<Error>(findings.error());
  }
  sum.findings = std::move(*findings);
  return sum;
}

Expected<ObservedRun> ProofCase::runAs(Device &device, const InputSet &set,
                                       const std::vector<std::uint64_t> &workgroups,
                                       RunOptions how) const {
  Expected<Memory> memory = allocate();
  if (!memory) {
    return tl::unexpected<Error>(memory.error());
  }
  std::vector<std::vector<std::uint64_t>> needed = truth->needed(workgroups);
  const std::vector<OutputBlock> blocks = truth->blocksOfAll(needed.front());
  const bool finishesAll = truth->finishesAll(needed.front());
  if (needed.front().size() == static_cast<std::size_t>(mainLaunch().workgroups)) {
    needed.clear();
  }
  how.workgroups = std::move(needed);
  how.workgroups.resize(object->manifest.launches.size());

  // A workspace that the kernel must leave as it found it is used again as it was left.
  const bool leavesWorkspace =
      finishesAll &&
      std::ranges::any_of(plan.buffers, [](const PlanBuffer &b) { return b.resetAfter; });
  Observation seen;
  Expected<RunResult> run = runOnce(device, set, blocks, how, *memory, seen);
  if (run && leavesWorkspace) {
    checkWorkspaces(*memory, seen);
  }
  if (run && leavesWorkspace && set.exact && seen.findings.empty()) {
    ++how.seed; // another order of waves
    seen.checked = 0;
    run = runOnce(device, set, blocks, how, *memory, seen);
    if (run) {
      checkWorkspaces(*memory, seen);
    }
  }
  if (!run) {
    return tl::unexpected<Error>(run.error());
  }
  return ObservedRun{std::move(seen), {std::move(*run), std::move(memory->buffers)}};
}

} // namespace kw
