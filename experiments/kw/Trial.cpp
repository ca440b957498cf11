// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `kw trial` answers each line through a trial process of its own, so that a crash or a hang has an
// answer too. `kw trial --worker PID` is that process.
#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"
#include "experiments/kw/TrialCommand.h"
#include "experiments/support/Files.h"
#include "experiments/trials/RunTrial.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <iostream>
#include <memory>
#include <sys/prctl.h>
#include <unistd.h>

namespace kw {

namespace fs = std::filesystem;

namespace {

struct Options {
  std::int64_t worker = 0; ///< process id of the pool's process; 0: not a worker
  std::string artifacts;   ///< folder; empty: beside the store
};

TrialAnswer refusal(const std::string &line, const Error &error) {
  TrialAnswer answer;
  answer.id = requestId(line);
  answer.state = TrialState::failed;
  answer.error = error.message;
  return answer;
}

/// Answers until stdin ends. `answerTo` is given each request.
Expected<ExitStatus> serve(const std::function<Expected<TrialAnswer>(TrialRequest &)> &answerTo) {
  for (std::string line; std::getline(std::cin, line);) {
    if (line.find_first_not_of(" \t\r") == std::string::npos) {
      continue;
    }
    Expected<TrialRequest> request = parseRequest(line);
    Expected<TrialAnswer> answer = request ? answerTo(*request) : refusal(line, request.error());
    if (!answer) {
      return tl::unexpected(answer.error());
    }
    if (Expected<void> printed = printText(printAnswer(*answer) + "\n"); !printed) {
      return tl::unexpected(printed.error());
    }
  }
  return exitDone;
}

Expected<ExitStatus> work(std::int64_t parent, const fs::path &artifacts) {
  // The kernel ends this process with its parent, even when that is killed.
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != static_cast<pid_t>(parent)) {
    return failed("the process that started this trial process has ended");
  }
  return serve([&](const TrialRequest &request) -> Expected<TrialAnswer> {
    return runTrial(request, artifacts);
  });
}

Expected<ExitStatus> supervise(const fs::path &artifacts) {
  TrialPool pool = makeTrialPool(artifacts, 1);
  return serve([&](TrialRequest &request) -> Expected<TrialAnswer> {
    TrialAnswer answer;
    const auto done = [&](std::size_t, const TrialAnswer &given) -> Expected<void> {
      answer = given;
      return {};
    };
    const Expected<bool> ran = pool.run(std::span(&request, 1), done);
    return ran ? Expected<TrialAnswer>(std::move(answer)) : tl::unexpected(ran.error());
  });
}

} // namespace

TrialPool makeTrialPool(const fs::path &artifactFolder, int jobs) {
  std::error_code code;
  const fs::path self = fs::read_symlink("/proc/self/exe", code);
  return TrialPool({{self.string(), "trial", "--worker", std::to_string(::getpid()), "--artifacts",
                     absolutePath(artifactFolder).string()},
                    jobs});
}

std::int64_t trialMemoryMb(int jobs) {
  const std::int64_t pages = ::sysconf(_SC_PHYS_PAGES);
  const std::int64_t mebibytes = pages * ::sysconf(_SC_PAGESIZE) >> 20;
  return std::max<std::int64_t>(4096, mebibytes / std::max(1, jobs));
}

RunCommand addTrial(CLI::App &app, const CommonOptions &common) {
  const auto options = std::make_shared<Options>();
  app.add_option("--artifacts", options->artifacts, "folder for HSACO (default: beside the store)");
  app.add_option("--worker", options->worker)->group(""); // hidden
  return [options, &common]() -> Expected<ExitStatus> {
    const fs::path artifacts =
        options->artifacts.empty() ? fs::path(common.db + ".files") : fs::path(options->artifacts);
    return options->worker != 0 ? work(options->worker, artifacts) : supervise(artifacts);
  };
}

} // namespace kw
