// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A subcommand of kw: a row of the table in Commands.cpp and a file of its name.
#pragma once

#include "ir/Target.h"
#include "ir/support/Expected.h"

#include <CLI/CLI.hpp>
#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>

namespace kw {

/// Exit statuses of the program (CLI.md): an Error's kind decides among the others.
enum ExitStatus : int { exitDone = 0, exitFailed = 1, exitBadInput = 2, exitNothingLegal = 3 };
ExitStatus exitStatus(const Error &error);

/// Options that every command takes.
struct CommonOptions {
  std::string targetName = "gfx950";
  bool json = false;
  std::string db = "kw.db";
  std::uint64_t seed = 0;
  int jobs = 1; ///< default: cores
  bool quiet = false;

  Expected<const Target *> target() const { return findTarget(targetName); }
};

/// Runs the command after its options have been parsed; the status to exit with.
using RunCommand = std::function<Expected<ExitStatus>()>;

struct Command {
  std::string_view name, meaning;
  /// Adds the command's own options; both arguments outlive the result.
  RunCommand (*add)(CLI::App &app, const CommonOptions &common);
};

std::span<const Command> commands();

RunCommand addCalibrate(CLI::App &app, const CommonOptions &common);
RunCommand addCheckBundle(CLI::App &app, const CommonOptions &common);
RunCommand addCompile(CLI::App &app, const CommonOptions &common);
RunCommand addEstimate(CLI::App &app, const CommonOptions &common);
RunCommand addExport(CLI::App &app, const CommonOptions &common);
RunCommand addImport(CLI::App &app, const CommonOptions &common);
RunCommand addLaunch(CLI::App &app, const CommonOptions &common);
RunCommand addMeasure(CLI::App &app, const CommonOptions &common);
RunCommand addMutate(CLI::App &app, const CommonOptions &common);
RunCommand addNotYet(CLI::App &app, const CommonOptions &common);
RunCommand addResume(CLI::App &app, const CommonOptions &common);
RunCommand addRuns(CLI::App &app, const CommonOptions &common);
RunCommand addShow(CLI::App &app, const CommonOptions &common);
RunCommand addScore(CLI::App &app, const CommonOptions &common);
RunCommand addSpace(CLI::App &app, const CommonOptions &common);
RunCommand addTargets(CLI::App &app, const CommonOptions &common);
RunCommand addTrial(CLI::App &app, const CommonOptions &common);
RunCommand addTune(CLI::App &app, const CommonOptions &common);
RunCommand addValidate(CLI::App &app, const CommonOptions &common);

} // namespace kw
