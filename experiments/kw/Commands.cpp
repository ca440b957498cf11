// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/kw/Command.h"

namespace kw {

ExitStatus exitStatus(const Error &error) {
  switch (error.kind) {
  case Error::Kind::badInput:
    return exitBadInput;
  case Error::Kind::nothingLegal:
    return exitNothingLegal;
  case Error::Kind::failed:
    break;
  }
  return exitFailed;
}

RunCommand addNotYet(CLI::App &app, const CommonOptions &) {
  app.allow_extras();
  return [name = app.get_name()]() -> Expected<ExitStatus> {
    return failed("`kw " + name + "` is not available yet");
  };
}

std::span<const Command> commands() {
  static constexpr Command table[] = {
      {"tune", "search a problem's schedules, prove the best, store and export them", addTune},
      {"space", "count, list or explain the legal schedules of a problem", addSpace},
      {"estimate", "predict the time of a schedule with the model", addEstimate},
      {"compile", "make HSACO and a launch manifest", addCompile},
      {"validate", "prove a code object against the reference of its problem", addValidate},
      {"launch", "run any code object as its manifest says", addLaunch},
      {"mutate", "put flaws into a kernel and count those that strict mode finds", addMutate},
      {"trial", "answer trials, one JSON line each, from stdin to stdout", addTrial},
      {"export", "write a bundle that PyTorch loads", addExport},
      {"check-bundle", "prove a bundle again", addCheckBundle},
      {"runs", "list the runs of a store", addRuns},
      {"show", "everything that a run found", addShow},
      {"resume", "go on with an interrupted run", addResume},
      {"targets", "list the GPUs that are known", addTargets},
      {"simulate", "time a code object without a GPU", addNotYet},
      {"measure", "time a code object on a GPU", addMeasure},
      {"replay", "run a strategy on a recorded space", addNotYet},
      {"import", "store timings of others", addImport},
      {"calibrate", "fit the model to measured timings", addCalibrate},
      {"score", "compare the model with measured timings", addScore},
      {"study", "run a numbered study", addNotYet},
      {"report", "write a report as one HTML file", addNotYet},
      {"compare", "compare two runs", addNotYet},
      {"store", "merge stores", addNotYet},
  };
  return table;
}

} // namespace kw
