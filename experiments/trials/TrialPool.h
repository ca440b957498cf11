// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A few trial processes that are kept warm. A crash, a hang or a kill costs the one trial that ran
// there, is its recorded state, and the process is replaced.
#pragma once

#include "experiments/trials/TrialMessage.h"
#include "experiments/trials/TrialProcess.h"

#include <atomic>
#include <functional>
#include <span>

namespace kw {

struct PoolOptions {
  std::vector<std::string> command; ///< of one trial process; its first word is a path
  int jobs = 1;
};

class TrialPool {
public:
  explicit TrialPool(PoolOptions options);

  /// Called with the index of the request, in the order of completion. An error ends the run.
  using Done = std::function<Expected<void>(std::size_t, const TrialAnswer &)>;

  /// Runs all requests, `jobs` at a time, starting them in order. Returns false as soon as `stop`
  /// is set: trials in flight are lost, those told to `done` are not. Processes start when needed
  /// and stay for the next call.
  Expected<bool> run(std::span<const TrialRequest> requests, const Done &done,
                     const std::atomic<bool> *stop = nullptr);

private:
  struct Worker {
    std::optional<TrialProcess> process;
    std::optional<std::size_t> request; ///< that it is working on
    double deadline = 0;                ///< monotonic seconds
  };
  Expected<void> assign(Worker &worker, std::span<const TrialRequest> requests, std::size_t index);
  /// The answer if the worker has one now, in whatever way its trial ended.
  std::optional<TrialAnswer> collect(Worker &worker, const TrialRequest &request, bool readable);
  void waitForOutput(std::vector<bool> &readable) const;
  Expected<void> collectAll(std::span<const TrialRequest> requests, const Done &done,
                            const std::vector<bool> &readable);

  PoolOptions options;
  std::vector<Worker> workers;
};

} // namespace kw
