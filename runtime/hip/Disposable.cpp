// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/hip/Disposable.h"

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdint>
#include <cstring>
#include <fcntl.h>
#include <fmt/format.h>
#include <optional>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

namespace kw {
namespace {

/// What the child says: a kind, a length, a text.
enum class Word : char {
  doing = 'd',
  done = 'k',
  badInput = 'b',
  nothingLegal = 'n',
  failed = 'f'
};
constexpr std::size_t headBytes = 1 + sizeof(std::uint64_t);

void writeAll(int to, const char *data, std::size_t size) {
  while (size > 0) {
    const ssize_t count = ::write(to, data, size);
    if (count < 0 && errno != EINTR) {
      ::_exit(1); // the parent is gone
    }
    data += std::max<ssize_t>(count, 0);
    size -= static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
}

void say(int to, Word word, std::string_view text) {
  const std::uint64_t length = text.size();
  char head[headBytes] = {static_cast<char>(word)};
  std::memcpy(head + 1, &length, sizeof(length));
  writeAll(to, head, sizeof(head));
  writeAll(to, text.data(), text.size());
}

Word wordOf(Error::Kind kind) {
  switch (kind) {
  case Error::Kind::badInput:
    return Word::badInput;
  case Error::Kind::nothingLegal:
    return Word::nothingLegal;
  case Error::Kind::failed:
    break;
  }
  return Word::failed;
}

Expected<std::string> answerOf(Word word, std::string text) {
  switch (word) {
  case Word::badInput:
    return badInput(std::move(text));
  case Word::nothingLegal:
    return nothingLegal(std::move(text));
  case Word::failed:
    return failed(std::move(text));
  default:
    return text;
  }
}

/// The parent's side.
class Child {
public:
  Child(pid_t pid, int output) : pid(pid), output(output) {}
  Child(const Child &) = delete;
  ~Child() {
    ::close(output);
    if (pid > 0) {
      reap();
    }
  }

  Expected<std::string> listen(double limitSeconds) {
    using Clock = std::chrono::steady_clock;
    const auto limit =
        std::chrono::duration_cast<Clock::duration>(std::chrono::duration<double>(limitSeconds));
    auto deadline = Clock::now() + limit;
    while (true) {
      while (auto answer = takeWord()) {
        if (answer->first != Word::doing) {
          return answerOf(answer->first, std::move(answer->second));
        }
        doing = std::move(answer->second);
        deadline = Clock::now() + limit;
      }
      const auto left =
          std::chrono::ceil<std::chrono::milliseconds>(deadline - Clock::now()).count();
      pollfd waiting{output, POLLIN, 0};
      const int ready =
          left <= 0 ? 0 : ::poll(&waiting, 1, static_cast<int>(std::min(left, 1000L)));
      if (left <= 0) {
        return failed(fmt::format("device 'hip': {} did not end within {:g} s; the process that "
                                  "waited for it was killed",
                                  doing, limitSeconds));
      }
      if (ready > 0 && !receive()) {
        return failed(fmt::format("device 'hip': {}: {}", doing, reap()));
      }
    }
  }

private:
  /// False: the child has closed its end.
  bool receive() {
    char buffer[1 << 16];
    const ssize_t count = ::read(output, buffer, sizeof(buffer));
    if (count > 0) {
      received.append(buffer, static_cast<std::size_t>(count));
    }
    return count > 0 || (count < 0 && errno == EINTR);
  }

  std::optional<std::pair<Word, std::string>> takeWord() {
    std::uint64_t length = 0;
    if (received.size() < headBytes) {
      return std::nullopt;
    }
    std::memcpy(&length, received.data() + 1, sizeof(length));
    if (received.size() - headBytes < length) {
      return std::nullopt;
    }
    std::pair word(static_cast<Word>(received[0]), received.substr(headBytes, length));
    received.erase(0, headBytes + length);
    return word;
  }

  /// How it ended, or was made to.
  std::string reap() {
    int status = 0;
    ::kill(pid, SIGKILL); // one that has ended keeps its status
    while (::waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    pid = -1;
    return WIFSIGNALED(status)
               ? fmt::format("its process was killed by signal {} ({})", WTERMSIG(status),
                             ::strsignal(WTERMSIG(status)))
               : fmt::format("its process ended with status {}", WEXITSTATUS(status));
  }

  pid_t pid;
  int output;
  std::string received, doing = "starting";
};

[[noreturn]] void runChild(int output, pid_t parent,
                           const std::function<Expected<std::string>(const Heartbeat &)> &work) {
  ::prctl(PR_SET_PDEATHSIG, SIGKILL);
  if (::getppid() != parent) {
    ::_exit(1); // it ended before it could be told
  }
  const Expected<std::string> answer =
      work([&](std::string_view doing) { say(output, Word::doing, doing); });
  if (answer) {
    say(output, Word::done, *answer);
  } else {
    say(output, wordOf(answer.error().kind), answer.error().message);
  }
  ::_exit(0);
}

} // namespace

Expected<std::string>
runDisposable(const std::function<Expected<std::string>(const Heartbeat &)> &work,
              double limitSeconds) {
  int ends[2] = {-1, -1};
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return failed(fmt::format("no pipe: {}", std::strerror(errno)));
  }
  const pid_t parent = ::getpid();
  const pid_t pid = ::fork();
  if (pid == 0) {
    ::close(ends[0]);
    runChild(ends[1], parent, work);
  }
  const int code = errno;
  ::close(ends[1]);
  if (pid < 0) {
    ::close(ends[0]);
    return failed(fmt::format("no process for the GPU: {}", std::strerror(code)));
  }
  return Child(pid, ends[0]).listen(limitSeconds);
}

} // namespace kw
