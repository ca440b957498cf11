// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The program kw. Each subcommand is a row in Commands.cpp and a file of its name; this one parses
// the common options, runs the command, and turns errors into one line and an exit status.
#include "experiments/kw/Arguments.h"
#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"

#include <algorithm>
#include <csignal>
#include <fmt/format.h>
#include <limits>
#include <thread>

namespace kw {
namespace {

void addCommonOptions(CLI::App &app, CommonOptions &common) {
  const char *group = "Common options";
  app.add_option("--target", common.targetName, "GPU to compile for; `kw targets` lists them")
      ->capture_default_str()
      ->group(group);
  app.add_flag("--json", common.json, "print one JSON document on stdout")->group(group);
  app.add_option("--db", common.db, "the store")
      ->capture_default_str()
      ->check(notEmpty)
      ->group(group);
  app.add_option("--seed", common.seed, "of everything random")
      ->capture_default_str()
      ->check(wholeNumber(0, std::numeric_limits<std::int64_t>::max()))
      ->group(group);
  app.add_option("--jobs", common.jobs, "trials or threads at the same time (default: cores)")
      ->check(CLI::Range(1, 4096))
      ->group(group);
  app.add_flag("--quiet", common.quiet, "no progress on stderr")->group(group);
}

/// CLI11's messages as ours: one line, without the hint at --help behind it.
Error usageError(const CLI::ParseError &error) {
  std::string message = error.what();
  std::replace(message.begin(), message.end(), '\n', ' ');
  return {Error::Kind::badInput, message + "; `kw COMMAND --help` lists what is accepted"};
}

std::string commandNames() {
  std::string names;
  for (const Command &command : commands()) {
    names += (names.empty() ? "" : " ") + std::string(command.name);
  }
  return names;
}

int run(int argc, char **argv) {
  CommonOptions common;
  common.jobs = static_cast<int>(std::max(1U, std::thread::hardware_concurrency()));
  CLI::App app("Kernelwright: search, compile, prove and export kernels for AMD Instinct GPUs",
               "kw");
  app.require_subcommand(1);
  addCommonOptions(app, common);
  std::vector<std::pair<CLI::App *, RunCommand>> runs;
  for (const Command &command : commands()) {
    CLI::App *subcommand =
        app.add_subcommand(std::string(command.name), std::string(command.meaning));
    RunCommand runCommand = command.add(*subcommand, common);
    addCommonOptions(*subcommand, common);
    runs.emplace_back(subcommand, std::move(runCommand));
  }
  const bool json = std::any_of(
      argv, argv + argc, [](const char *word) { return std::string_view(word) == "--json"; });
  try { // CLI11 reports through exceptions; none goes further than this
    app.parse(argc, argv);
  } catch (const CLI::Success &success) {
    return app.exit(success); // --help
  } catch (const CLI::ParseError &error) {
    Error usage = usageError(error);
    if (app.get_subcommands().empty()) {
      usage.message = fmt::format("expected one of the commands: {}", commandNames());
    }
    printError(usage, json);
    return exitBadInput;
  }
  const CLI::App *chosen = app.get_subcommands().front();
  const auto command = std::find_if(
      runs.begin(), runs.end(), [&](const auto &candidate) { return candidate.first == chosen; });
  const Expected<ExitStatus> status = command->second();
  if (!status) {
    printError(status.error(), json);
    return exitStatus(status.error());
  }
  return *status;
}

} // namespace
} // namespace kw

int main(int argc, char **argv) {
  // A full file or a closed pipe is an error to report, not the end of the process.
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return kw::run(argc, argv);
}
