// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/trials/TrialPool.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <cmath>
#include <fmt/format.h>
#include <poll.h>

namespace kw {

namespace {

double now() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

TrialAnswer lost(const TrialRequest &request, TrialState state, std::string error) {
  TrialAnswer answer;
  answer.id = request.id;
  answer.state = state;
  answer.error = std::move(error);
  return answer;
}

/// After these the compiler or a library may be in any condition: the next trial gets a new
/// process.
bool spoils(TrialState state) {
  return state == TrialState::compileFailed || state == TrialState::failed;
}

} // namespace

TrialPool::TrialPool(PoolOptions poolOptions)
    : options(std::move(poolOptions)), workers(std::max(1, options.jobs)) {
  assert(!options.command.empty() && "a pool needs a program");
}

Expected<void> TrialPool::assign(Worker &worker, std::span<const TrialRequest> requests,
                                 std::size_t index) {
  const TrialRequest &request = requests[index];
  const std::string line = printRequest(request);
  // A process that ended while idle is replaced once; one that ends at once is a crash of its
  // trial.
  for (int attempt = 0; attempt < 2; ++attempt) {
    if (!worker.process) {
      Expected<TrialProcess> started = TrialProcess::start(options.command);
      if (!started) {
        return tl::unexpected(started.error());
      }
      worker.process.emplace(std::move(*started));
    }
    worker.process->limitMemory(request.limits.memoryMb);
    if (worker.process->send(line) || attempt == 1) {
      break;
    }
    worker.process.reset();
  }
  worker.request = index;
  worker.deadline = now() + request.limits.seconds;
  return {};
}

std::optional<TrialAnswer> TrialPool::collect(Worker &worker, const TrialRequest &request,
                                              bool readable) {
  const bool open = !readable || worker.process->receive();
  if (const std::optional<std::string> line = worker.process->line()) {
    Expected<TrialAnswer> answer = parseAnswer(*line);
    if (answer && answer->id == request.id) {
      if (spoils(answer->state) || !open) {
        worker.process.reset();
      }
      return std::move(*answer);
    }
    worker.process.reset();
    return lost(request, TrialState::crashed,
                fmt::format("the trial process answered something else: {}", line->substr(0, 80)));
  }
  if (!open) {
    TrialAnswer answer = lost(request, TrialState::crashed, worker.process->howItEnded());
    worker.process.reset();
    return answer;
  }
  if (now() >= worker.deadline) {
    worker.process->kill();
    worker.process.reset();
    return lost(request, TrialState::timeout,
                fmt::format("no answer within {:g} s", request.limits.seconds));
  }
  return std::nullopt;
}

void TrialPool::waitForOutput(std::vector<bool> &readable) const {
  std::vector<pollfd> waiting;
  std::vector<std::size_t> which;
  double deadline = now() + 0.2; // how late a stop may be seen
  for (std::size_t i = 0; i < workers.size(); ++i) {
    if (workers[i].request) {
      waiting.push_back({workers[i].process->output(), POLLIN, 0});
      which.push_back(i);
      deadline = std::min(deadline, workers[i].deadline);
    }
  }
  const int milliseconds = static_cast<int>(std::ceil(std::max(0.0, deadline - now()) * 1000));
  ::poll(waiting.data(), waiting.size(), milliseconds);
  readable.assign(workers.size(), false);
  for (std::size_t i = 0; i < which.size(); ++i) {
    readable[which[i]] = waiting[i].revents != 0;
  }
}

Expected<void> TrialPool::collectAll(std::span<const TrialRequest> requests, const Done &done,
                                     const std::vector<bool> &readable) {
  for (std::size_t i = 0; i < workers.size(); ++i) {
    Worker &worker = workers[i];
    if (!worker.request) {
      continue;
    }
    const std::size_t index = *worker.request;
    if (const std::optional<TrialAnswer> answer = collect(worker, requests[index], readable[i])) {
      worker.request.reset();
      if (Expected<void> told = done(index, *answer); !told) {
        return tl::unexpected(told.error());
      }
    }
  }
  return {};
}

Expected<bool> TrialPool::run(std::span<const TrialRequest> requests, const Done &done,
                              const std::atomic<bool> *stop) {
  // Nothing may be left to a later call: its answer would belong to other requests.
  const auto abandon = [this] {
    for (Worker &worker : workers) {
      if (worker.request) {
        worker.process.reset();
        worker.request.reset();
      }
    }
  };
  std::size_t next = 0;
  std::vector<bool> readable;
  while (true) {
    if (stop != nullptr && stop->load()) {
      abandon();
      return false;
    }
    bool busy = false;
    for (Worker &worker : workers) {
      if (!worker.request && next < requests.size()) {
        if (Expected<void> assigned = assign(worker, requests, next++); !assigned) {
          abandon();
          return tl::unexpected(assigned.error());
        }
      }
      busy = busy || worker.request.has_value();
    }
    if (!busy) {
      return true;
    }
    waitForOutput(readable);
    if (const Expected<void> collected = collectAll(requests, done, readable); !collected) {
      abandon();
      return tl::unexpected(collected.error());
    }
  }
}

} // namespace kw
