// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/trials/TrialProcess.h"

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

extern char **environ;

namespace kw {

namespace {

tl::unexpected<Error> systemError(std::string_view what, int code) {
  return failed(fmt::format("trial process: {}: {}", what, std::strerror(code)));
}

void closeIfOpen(int &descriptor) {
  if (descriptor >= 0) {
    ::close(std::exchange(descriptor, -1));
  }
}

/// Spawns with stdin, stdout and stderr replaced. Returns 0 or an errno.
int spawn(const std::vector<std::string> &command, int input, int output, int errors, pid_t &pid) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, input, STDIN_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors, STDERR_FILENO);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGDEF);
  posix_spawnattr_setpgroup(&attributes, 0);
  sigset_t defaults;
  sigemptyset(&defaults);
  for (const int signal : {SIGINT, SIGTERM, SIGPIPE}) {
    sigaddset(&defaults, signal);
  }
  posix_spawnattr_setsigdefault(&attributes, &defaults);
  std::vector<char *> words;
  for (const std::string &word : command) {
    words.push_back(const_cast<char *>(word.c_str()));
  }
  words.push_back(nullptr);
  const int code = ::posix_spawn(&pid, words.front(), &actions, &attributes, words.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  return code;
}

} // namespace

Expected<TrialProcess> TrialProcess::start(const std::vector<std::string> &command) {
  TrialProcess process;
  int input[2] = {-1, -1};
  int output[2] = {-1, -1};
  process.errors = ::memfd_create("trial-stderr", MFD_CLOEXEC);
  if (process.errors < 0 || ::pipe2(input, O_CLOEXEC) != 0) {
    return systemError("no pipe", errno);
  }
  process.toChild = input[1];
  if (::pipe2(output, O_CLOEXEC) != 0) {
    const int code = errno;
    ::close(input[0]);
    return systemError("no pipe", code);
  }
  process.fromChild = output[0];
  ::fcntl(process.fromChild, F_SETFL, O_NONBLOCK);
  const int code = spawn(command, input[0], output[1], process.errors, process.pid);
  ::close(input[0]);
  ::close(output[1]);
  if (code != 0) {
    process.pid = -1;
    return systemError(fmt::format("{} cannot be started", command.front()), code);
  }
  return process;
}

TrialProcess::TrialProcess(TrialProcess &&other) noexcept { *this = std::move(other); }

TrialProcess &TrialProcess::operator=(TrialProcess &&other) noexcept {
  if (this != &other) {
    reap(true);
    closeAll();
    pid = std::exchange(other.pid, -1);
    toChild = std::exchange(other.toChild, -1);
    fromChild = std::exchange(other.fromChild, -1);
    errors = std::exchange(other.errors, -1);
    received = std::move(other.received);
  }
  return *this;
}

TrialProcess::~TrialProcess() {
  reap(true);
  closeAll();
}

void TrialProcess::closeAll() {
  closeIfOpen(toChild);
  closeIfOpen(fromChild);
  closeIfOpen(errors);
}

bool TrialProcess::send(std::string_view line) {
  // What the child said before this trial is not about it.
  if (::ftruncate(errors, 0) == 0) {
    ::lseek(errors, 0, SEEK_SET);
  }
  std::string text(line);
  text += '\n';
  std::string_view rest = text;
  while (!rest.empty()) {
    const ssize_t written = ::write(toChild, rest.data(), rest.size());
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written < 0) {
      return false;
    }
    rest.remove_prefix(static_cast<std::size_t>(written));
  }
  return true;
}

void TrialProcess::limitMemory(std::int64_t mebibytes) {
#ifndef __SANITIZE_ADDRESS__ // its shadow takes terabytes of address space
  if (mebibytes > 0) {
    rlimit limit{};
    ::prlimit(pid, RLIMIT_AS, nullptr, &limit);
    limit.rlim_cur = std::min(static_cast<rlim_t>(mebibytes) << 20, limit.rlim_max);
    ::prlimit(pid, RLIMIT_AS, &limit, nullptr);
  }
#else
  (void)mebibytes;
#endif
}

bool TrialProcess::receive() {
  char buffer[1 << 14];
  while (true) {
    const ssize_t count = ::read(fromChild, buffer, sizeof buffer);
    if (count < 0 && errno == EINTR) {
      continue;
    }
    if (count < 0) {
      return errno == EAGAIN;
    }
    if (count == 0) {
      return false;
    }
    received.append(buffer, static_cast<std::size_t>(count));
  }
}

std::optional<std::string> TrialProcess::line() {
  const std::size_t end = received.find('\n');
  if (end == std::string::npos) {
    return std::nullopt;
  }
  std::string first = received.substr(0, end);
  received.erase(0, end + 1);
  return first;
}

std::string TrialProcess::lastErrorLine() const {
  char buffer[1 << 12];
  const off_t size = ::lseek(errors, 0, SEEK_END);
  const off_t from = std::max<off_t>(0, size - static_cast<off_t>(sizeof buffer));
  const ssize_t count = ::pread(errors, buffer, sizeof buffer, from);
  std::string_view text(buffer, count > 0 ? static_cast<std::size_t>(count) : 0);
  while (!text.empty() && (text.back() == '\n' || text.back() == '\r')) {
    text.remove_suffix(1);
  }
  const std::size_t start = text.rfind('\n');
  return std::string(start == std::string_view::npos ? text : text.substr(start + 1));
}

std::string TrialProcess::reap(bool killFirst) {
  if (pid < 0) {
    return "had ended";
  }
  int status = 0;
  bool ended = false;
  if (!killFirst) { // one that closed its output and lives on gets a second
    for (int i = 0; i < 100 && !ended; ++i) {
      ended = ::waitpid(pid, &status, WNOHANG) == pid;
      if (!ended) {
        ::usleep(10'000);
      }
    }
  }
  ::kill(-pid, SIGKILL); // with what it may have left behind in its group
  while (!ended && ::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
  }
  pid = -1;
  std::string how = WIFSIGNALED(status) ? fmt::format("killed by signal {} ({})", WTERMSIG(status),
                                                      strsignal(WTERMSIG(status)))
                                        : fmt::format("ended with status {}", WEXITSTATUS(status));
  const std::string last = errors >= 0 ? lastErrorLine() : "";
  return last.empty() ? how : how + ": " + last;
}

std::string TrialProcess::kill() { return reap(true); }

std::string TrialProcess::howItEnded() { return reap(false); }

} // namespace kw
