// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Work in a child process that may hang or die: a GPU kernel cannot be stopped, the process that
// waits for it can.
#pragma once

#include "ir/support/Expected.h"

#include <functional>
#include <string>
#include <string_view>

namespace kw {

/// Says what is done now; the time limit starts again.
using Heartbeat = std::function<void(std::string_view doing)>;

/// Forks, runs `work` in the child and hands back its text. failed() in one line if the child says
/// nothing for `limitSeconds` (it is killed; the line tells what it was doing), or if it dies. The
/// child ends without destructors and exit handlers of the parent. It must not be a process with
/// other threads that hold locks at this moment.
Expected<std::string>
runDisposable(const std::function<Expected<std::string>(const Heartbeat &)> &work,
              double limitSeconds);

} // namespace kw
