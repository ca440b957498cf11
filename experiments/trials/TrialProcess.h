// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One disposable child that answers trials, one line in, one line out. The parent holds both ends
// of its pipes and never blocks on it: the pool polls. Linux only (posix_spawn, prlimit, memfd).
#pragma once

#include "ir/support/Expected.h"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>
#include <vector>

namespace kw {

class TrialProcess {
public:
  /// Starts `command` (its first word is a path) in a process group of its own.
  static Expected<TrialProcess> start(const std::vector<std::string> &command);

  TrialProcess(TrialProcess &&other) noexcept;
  TrialProcess &operator=(TrialProcess &&other) noexcept;
  ~TrialProcess(); ///< kills the group and reaps the child

  /// Sends one line. False: the child is gone.
  bool send(std::string_view line);
  /// Address space of the child in MiB from now on; 0 leaves it as it is.
  void limitMemory(std::int64_t mebibytes);

  /// To poll for POLLIN.
  int output() const { return fromChild; }
  /// Reads what is there. False: the child closed its output.
  bool receive();
  /// The next complete line that was received.
  std::optional<std::string> line();

  /// Kills the group, waits for the child, and says in one line how it ended: "killed by signal 11
  /// (Segmentation fault): last line of stderr".
  std::string kill();
  /// The same for a child that is ending on its own.
  std::string howItEnded();

private:
  TrialProcess() = default;
  void closeAll();
  std::string lastErrorLine() const;
  std::string reap(bool killFirst);

  pid_t pid = -1;
  int toChild = -1, fromChild = -1, errors = -1;
  std::string received;
};

} // namespace kw
