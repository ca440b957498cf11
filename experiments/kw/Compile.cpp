// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "codegen/Compile.h"
#include "experiments/kw/Arguments.h"
#include "experiments/kw/CalibrationInForce.h"
#include "experiments/kw/Command.h"
#include "experiments/kw/Output.h"
#include "experiments/rungs/CompiledRung.h"
#include "experiments/rungs/ModelRung.h"
#include "experiments/rungs/TargetSupport.h"
#include "experiments/support/Files.h"
#include "experiments/support/FirstError.h"
#include "ir/KernelPlan.h"

#include <fmt/format.h>
#include <memory>
#include <optional>

namespace kw {

namespace {

struct Options {
  std::vector<std::string> words, emit;
  std::optional<std::string> schedule;
  std::string folder;
};

Expected<CompileOptions> emitOptions(const std::vector<std::string> &kinds) {
  CompileOptions options;
  const std::pair<std::string_view, bool *> known[] = {{"kw", &options.keepKw},
                                                       {"mlir", &options.keepMlir},
                                                       {"llvm", &options.keepLlvm},
                                                       {"isa", &options.keepIsa}};
  for (const std::string &kind : kinds) {
    bool found = false;
    for (const auto &[name, keep] : known) {
      if (kind == name) {
        *keep = found = true;
      }
    }
    if (!found) {
      return badInput(fmt::format("--emit '{}': expected kw, mlir, llvm or isa", kind));
    }
  }
  return options;
}

std::string compiledText(const Json &json) {
  const auto number = [&](const char *key) { return json[key].get<std::int64_t>(); };
  return fmt::format("{}\n{}\n{} VGPRs, {} AGPRs, {} SGPRs, {} bytes of LDS, {} spills, occupancy "
                     "{}, compiled in {:.0f} ms\n",
                     json["hsaco"].get<std::string>(), json["schedule"].get<std::string>(),
                     number("vgpr"), number("agpr"), number("sgpr"), number("lds_bytes"),
                     number("spills"), number("occupancy"), json["compile_ms"].get<double>());
}

/// The one that was given, or the best by the model.
Expected<Schedule> scheduleOf(const Problem &problem, const Target &target, const Options &options,
                              const CommonOptions &common) {
  if (options.schedule) {
    return parseLegalSchedule(problem, *options.schedule, target);
  }
  const auto inForce = CalibrationInForce::load({"shipped", "none"}, common, target);
  return inForce ? bestByModel(problem, target, inForce->fitted(), common.jobs, common.seed)
                 : tl::unexpected(inForce.error());
}

Expected<ExitStatus> run(const Options &options, const CommonOptions &common) {
  const Expected<Problem> problem = problemOf(options.words);
  if (!problem) {
    return tl::unexpected(problem.error());
  }
  const Expected<const Target *> target = common.target();
  const Expected<CompileOptions> compileOptions = emitOptions(options.emit);
  if (const Error *error = firstError(target, compileOptions)) {
    return tl::unexpected(*error);
  }
  if (Expected<void> compiles = checkCompiles(*problem, **target); !compiles) {
    return tl::unexpected(compiles.error());
  }
  const Expected<Schedule> schedule = scheduleOf(*problem, **target, options, common);
  if (!schedule) {
    return tl::unexpected(schedule.error());
  }
  if (Expected<void> writable = makeWritableFolder(options.folder); !writable) {
    return tl::unexpected(writable.error());
  }
  const Expected<Compiled> compiled = compile(*problem, *schedule, **target, *compileOptions);
  if (!compiled) {
    return tl::unexpected(compiled.error());
  }
  const Expected<CompiledFiles> files =
      writeCompiled(*compiled, options.folder, kernelName(*problem, *schedule));
  if (!files) {
    return tl::unexpected(files.error());
  }
  const Json document = compiledJson(*problem, *schedule, *compiled, *files);
  if (Expected<void> printed = print(common, document, compiledText(document)); !printed) {
    return tl::unexpected(printed.error());
  }
  return exitDone;
}

} // namespace

RunCommand addCompile(CLI::App &app, const CommonOptions &common) {
  const auto options = std::make_shared<Options>();
  app.add_option("PROBLEM", options->words, "FAMILY key=value ...");
  app.add_option("--schedule", options->schedule,
                 "the schedule (default: the best that the model finds)");
  app.add_option("-o,--out", options->folder, "folder to write to")->required()->check(notEmpty);
  app.add_option("--emit", options->emit, "also keep these stages: kw,mlir,llvm,isa")
      ->delimiter(',')
      ->allow_extra_args(false);
  return [options, &common] { return run(*options, common); };
}

} // namespace kw
