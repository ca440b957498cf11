// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Proves a bundle again: bundle.json against the files, each row of kernels.json against what its
// problem, schedule and code object make of it, each kernel against its reference. The first lie
// ends the check.
#include "codegen/Compile.h"
#include "costmodel/CostModel.h"
#include "experiments/inductor/Bundle.h"
#include "experiments/inductor/BundleFormat.h"
#include "experiments/inductor/KernelRow.h"
#include "experiments/inductor/LoaderSources.h"
#include "experiments/inductor/Prediction.h"
#include "experiments/support/DocumentCalibration.h"
#include "experiments/support/Files.h"
#include "experiments/support/Json.h"
#include "experiments/support/Sha256.h"
#include "ir/KernelPlan.h"
#include "ir/Rule.h"
#include "runtime/Validator.h"

#include <cmath>
#include <fmt/format.h>
#include <set>

namespace kw {
namespace {

namespace fs = std::filesystem;

/// The first lie, as text; empty: none so far.
using Lie = std::string;

Lie lie(std::string_view file, std::string_view what) { return fmt::format("{}: {}", file, what); }

Expected<Json> readJson(const fs::path &path) {
  Expected<std::string> text = readText(path);
  if (!text) {
    return tl::unexpected(text.error());
  }
  Json json = Json::parse(*text, nullptr, /*allow_exceptions=*/false);
  if (json.is_discarded() || !json.is_object()) {
    return badInput(path.string() + ": is not a JSON object");
  }
  if (const std::string key = repeatedKey(*text); !key.empty()) {
    return failed(fmt::format("{}: '{}' is there twice", path.string(), key));
  }
  if (json.value("version", Json()) != bundleVersion) {
    return badInput(fmt::format("{}: version {}; this program reads {}", path.string(),
                                json.value("version", Json()).dump(), bundleVersion));
  }
  return json;
}

Lie unknownField(std::string_view file, const Json &object, const std::set<std::string> &known) {
  for (const auto &[key, value] : object.items()) {
    if (!known.contains(key)) {
      return lie(file, fmt::format("unknown field '{}'", key));
    }
  }
  for (const std::string &key : known) {
    if (!object.contains(key)) {
      return lie(file, fmt::format("field '{}' is missing", key));
    }
  }
  return {};
}

Lie checkHash(const fs::path &directory, const std::string &path, const Json &claimed) {
  const fs::path relative(path);
  if (relative.is_absolute() || path.find("..") != std::string::npos) {
    return lie("bundle.json", fmt::format("files names '{}', outside the bundle", path));
  }
  Expected<std::string> text = readText(directory / relative);
  if (!text) {
    return lie("bundle.json", fmt::format("lists {}, which cannot be read", path));
  }
  return claimed == sha256(*text) ? Lie() : lie(path, "is not the file that bundle.json hashed");
}

Lie checkFiles(const fs::path &directory, const Json &files) {
  if (!files.is_object() || !files.contains("kernels/kernels.json")) {
    return lie("bundle.json", "files must list kernels/kernels.json with its hash");
  }
  for (const auto &[path, hash] : files.items()) {
    if (Lie found = checkHash(directory, path, hash); !found.empty()) {
      return found;
    }
  }
  std::error_code status;
  for (const auto &item : fs::directory_iterator(directory / "kernels", status)) {
    const std::string path = "kernels/" + item.path().filename().string();
    if (!files.contains(path)) {
      return lie(path, "is in the folder but not in bundle.json");
    }
  }
  return {};
}

/// A row with what it claims put into values; `lie` is set where that is impossible.
struct ClaimedRow {
  BundleEntry entry;
  const Target *target = nullptr;
  Lie lie;
};

ClaimedRow claimed(const std::string &where, std::string message) {
  ClaimedRow row;
  row.lie = lie(where, message);
  return row;
}

ClaimedRow readRow(const fs::path &directory, const std::string &where, const Json &json) {
  const Expected<Problem> problem = parseProblem(textOf(json, "problem"));
  if (!problem) {
    return claimed(where, "problem: " + problem.error().message);
  }
  const Expected<Schedule> schedule = parseSchedule(textOf(json, "schedule"));
  if (!schedule) {
    return claimed(where, "schedule: " + schedule.error().message);
  }
  const Expected<const Target *> target = findTarget(textOf(json, "target"));
  if (!target) {
    return claimed(where, "target: " + target.error().message);
  }
  if (const auto violations = checkLegal(*problem, *schedule, **target); !violations.empty()) {
    return claimed(where, "schedule is illegal: " + violations.front().message);
  }
  ClaimedRow row{{*problem, *schedule, {}}, *target, {}};
  Expected<std::vector<std::uint8_t>> hsaco =
      readBytes(directory / "kernels" / codeObjectFile(row.entry));
  if (!hsaco) {
    return claimed(where, "code_object: " + hsaco.error().message);
  }
  Expected<std::vector<KernelResources>> resources = readResources(*hsaco);
  if (!resources) {
    return claimed(where, "code_object: " + resources.error().message);
  }
  row.entry.object = {std::move(*hsaco),
                      makeManifest(*problem, *schedule, **target, codeObjectFile(row.entry)),
                      std::move(*resources)};
  return row;
}

/// Numbers that another machine's arithmetic may give in another last place.
bool isClose(const Json &claimed, double truth) {
  return claimed.is_number() && std::abs(claimed.get<double>() - truth) <= 1e-6 * std::abs(truth);
}

/// Where the claim is close, it is taken for the truth.
void round(Json &truth, const Json &claimed) {
  if (truth.is_number_float() && isClose(claimed, truth.get<double>())) {
    truth = claimed;
  }
}

/// Takes from the claims what is no result: the source of the time and the calibration that it
/// rests on, the seed of the validation.
Lie readClaims(ClaimedRow &row, const Json &problem, const Json &kernel) {
  row.entry.source = textOf(kernel, "source");
  row.entry.validated = true; // or the check ends before the row is compared
  const Json seed = problem.is_object() ? problem.value("seed", Json()) : Json();
  if (!seed.is_number_unsigned()) {
    return lie("bundle.json", "seed of the validation is no number");
  }
  row.entry.seed = seed.get<std::uint64_t>();
  if (const std::string text = print(row.entry.problem); textOf(problem, "problem") != text) {
    return lie("bundle.json", fmt::format("problem is {}, not \"{}\"",
                                          problem.value("problem", Json()).dump(), text));
  }
  auto calibration = calibrationOf(problem);
  if (!calibration) {
    return lie("bundle.json", calibration.error().message);
  }
  row.entry.calibration = std::move(*calibration);
  return {};
}

/// Runs the kernel again, and compiles it again: the same compiler gives the same bytes.
Lie checkResults(const std::string &where, ClaimedRow &row, const CheckOptions &options) {
  ValidateOptions validation;
  validation.jobs = options.jobs;
  validation.seed = row.entry.seed;
  const auto device = makeEmulatedDevice();
  const Expected<Validation> result = validate(row.entry.object, *row.target, *device, validation);
  if (!result) {
    return lie(where, result.error().message);
  }
  if (!result->ok) {
    return lie(where, "the kernel does not pass validation: " +
                          (result->findings.empty() ? std::string("wrong numbers")
                                                    : result->findings.front().detail));
  }
  row.entry.maxRel = result->maxRel;
  const Expected<Compiled> compiled = compile(row.entry.problem, row.entry.schedule, *row.target);
  if (!compiled) {
    return lie(where, compiled.error().message);
  }
  return compiled->object.hsaco == row.entry.object.hsaco
             ? Lie()
             : lie(where, fmt::format("{} is not what the compiler makes of the schedule",
                                      codeObjectFile(row.entry)));
}

/// The row of bundle.json; `maxRel` of the entry is known if the kernel was run.
Lie checkProblem(const std::string &where, const Json &claimed, const BundleEntry &entry,
                 bool wasRun) {
  Json truth = problemRow(entry);
  const bool hasInterval = claimed.value("interval_us", Json()).size() == 2;
  for (std::size_t i = 0; hasInterval && i < 2; ++i) {
    round(truth["interval_us"][i], claimed["interval_us"][i]);
  }
  for (const char *key : {"time_us", "max_rel"}) {
    round(truth[key], claimed.value(key, Json()));
  }
  const Json maxRel = claimed.value("max_rel", Json());
  if (!wasRun && maxRel.is_number() && maxRel.get<double>() >= 0 && maxRel.get<double>() < 1) {
    truth["max_rel"] = maxRel;
  }
  const std::string difference = firstDifference(claimed, truth);
  return difference.empty() ? Lie() : lie(where, difference);
}

Lie checkRow(const fs::path &directory, std::size_t index, const Json &kernel, const Json &problem,
             const CheckOptions &options) {
  const std::string where = fmt::format("kernels.json kernels[{}]", index);
  ClaimedRow row = readRow(directory, where, kernel);
  if (!row.lie.empty()) {
    return row.lie;
  }
  if (Lie found = readClaims(row, problem, kernel); !found.empty()) {
    return found;
  }
  if (Expected<void> predicted = predict(row.entry, *row.target); !predicted) {
    return lie(where, predicted.error().message);
  }
  Json truth = kernelRow(row.entry, *row.target);
  round(truth["time_us"], kernel.value("time_us", Json()));
  if (std::string difference = firstDifference(kernel, truth); !difference.empty()) {
    return lie(where, difference);
  }
  if (options.validate) {
    if (Lie found = checkResults(where, row, options); !found.empty()) {
      return found;
    }
  }
  return checkProblem(fmt::format("bundle.json problems[{}]", index), problem, row.entry,
                      options.validate);
}

/// What can be made again only by the program that made it.
Lie checkMakers(const Json &provenance) {
  const std::pair<const char *, std::string> makers[] = {
      {"producer", bundleProducer},
      {"compiler", compilerFingerprint()},
      {"model", std::string(modelVersion())},
      {"validator", std::string(validatorVersion())}};
  for (const auto &[key, ours] : makers) {
    if (provenance[key] != ours) {
      return lie("bundle.json",
                 fmt::format("{} is {}; what it made cannot be proven by this program, whose is "
                             "\"{}\": tune and export again",
                             key, provenance[key].dump(), ours));
    }
  }
  return {};
}

/// The loader is part of the program: its files are those that are written with every bundle.
Lie checkLoader(const fs::path &directory, const Json &files) {
  std::set<std::string> ours;
  for (const LoaderSource &source : loaderSources()) {
    const std::string path(source.path);
    ours.insert(path);
    if (!files.contains(path)) {
      return lie("bundle.json", fmt::format("files does not list {}", path));
    }
    if (files[path] != sha256(source.text)) {
      return lie(path, "is not the loader of this program; export again");
    }
  }
  std::error_code status;
  for (const auto &item : fs::recursive_directory_iterator(directory / "kernelwright", status)) {
    const std::string path = fs::relative(item.path(), directory, status).generic_string();
    // Python keeps what it compiled in __pycache__; all else beside the loader would be imported.
    const bool isCache = item.path().parent_path().filename() == "__pycache__";
    if (!item.is_directory(status) && !isCache && !ours.contains(path)) {
      return lie(path, "is in the folder but not in bundle.json");
    }
  }
  return {};
}

/// Of the bundle's own folder: the store, notes and other bundles may lie there, and nothing of the
/// loader reads them. In `kernels` and `kernelwright` a file more is a lie.
std::vector<std::string> unnamedIn(const fs::path &directory, const Json &files) {
  std::set<std::string> known{"bundle.json"};
  for (const auto &[path, hash] : files.items()) {
    const std::size_t slash = path.find('/');
    known.insert(slash == std::string::npos ? path : path.substr(0, slash + 1));
  }
  std::set<std::string> unnamed;
  std::error_code status;
  for (const auto &item : fs::directory_iterator(directory, status)) {
    const std::string path =
        item.path().filename().string() + (item.is_directory(status) ? "/" : "");
    if (!known.contains(path)) {
      unnamed.insert(path);
    }
  }
  return {unnamed.begin(), unnamed.end()};
}

Lie checkHead(const Json &provenance, const Json &kernels) {
  if (Lie found =
          unknownField("bundle.json", provenance,
                       {"version", "producer", "compiler", "model", "validator", "target",
                        "product", "cus", "torch", "triton", "files", "problems", "lookup"});
      !found.empty()) {
    return found;
  }
  if (Lie found = unknownField("kernels.json", kernels, {"version", "target", "kernels"});
      !found.empty()) {
    return found;
  }
  if (!provenance["problems"].is_array() || !kernels["kernels"].is_array()) {
    return lie("bundle.json", "problems and kernels must be arrays");
  }
  const Expected<const Target *> target = findTarget(textOf(provenance, "target"));
  if (!target) {
    return lie("bundle.json", "target: " + target.error().message);
  }
  if (provenance["cus"] != (*target)->cus || textOf(provenance, "product") != (*target)->product ||
      kernels["target"] != provenance["target"]) {
    return lie("bundle.json",
               fmt::format("target, product or cus are not those of {}", (*target)->name));
  }
  if (provenance["problems"].size() != kernels["kernels"].size()) {
    return lie("bundle.json", "problems and kernels.json have different numbers of rows");
  }
  return checkMakers(provenance);
}

/// The rows of kernels.json, each with its row in bundle.json.
void checkRows(const fs::path &directory, const Json &problems, const Json &kernels,
               const CheckOptions &options, BundleCheck &check) {
  std::set<std::string> names;
  for (std::size_t i = 0; check.lie.empty() && i < kernels.size(); ++i) {
    check.lie = checkRow(directory, i, kernels[i], problems[i], options);
    if (check.lie.empty() && !names.insert(textOf(kernels[i], "problem")).second) {
      check.lie = lie(fmt::format("kernels.json kernels[{}]", i),
                      fmt::format("'{}' is there twice", textOf(kernels[i], "problem")));
    }
    check.kernels += check.lie.empty() ? 1 : 0;
  }
}

/// The rows of the lookup table, and what bundle.json says of them.
Lie checkLookup(const fs::path &directory, const Json &provenance) {
  const bool listed = provenance["files"].contains(lookupFile);
  std::error_code status;
  if (!listed && fs::exists(directory / lookupFile, status)) {
    return lie(lookupFile, "is in the folder but not in bundle.json");
  }
  if (provenance["triton"] != tritonRange) {
    return lie("bundle.json", fmt::format("triton is '{}'; the rows are proven for {}",
                                          textOf(provenance, "triton"), tritonRange));
  }
  const std::string torch = textOf(provenance, "torch");
  const std::string bound = torch.starts_with("==") ? torch.substr(2) : "";
  if (torch != torchRange(bound)) {
    return lie("bundle.json", fmt::format("torch is '{}'", torch));
  }
  if (!listed) {
    return provenance["lookup"] == Json::array()
               ? Lie()
               : lie("bundle.json",
                     fmt::format("lookup describes rows, but there is no {}", lookupFile));
  }
  const Expected<std::string> text = readText(directory / lookupFile);
  if (!text) {
    return lie(lookupFile, text.error().message);
  }
  const Target &target = **findTarget(textOf(provenance, "target")); // checked with the head
  return lookupLie(*text, provenance["lookup"], target, bound,
                   provenance.value("model", "") == modelVersion());
}

} // namespace

Expected<BundleCheck> checkBundle(const fs::path &directory, const CheckOptions &options) {
  const Expected<Json> provenance = readJson(directory / "bundle.json");
  if (!provenance) {
    return tl::unexpected(provenance.error());
  }
  BundleCheck check;
  if (provenance->contains("files")) {
    check.lie = checkFiles(directory, (*provenance)["files"]);
  } else {
    check.lie = lie("bundle.json", "field 'files' is missing");
  }
  if (!check.lie.empty()) {
    return check;
  }
  check.unnamed = unnamedIn(directory, (*provenance)["files"]);
  const Expected<Json> kernels = readJson(directory / "kernels" / "kernels.json");
  if (!kernels) {
    return tl::unexpected(kernels.error());
  }
  check.lie = checkHead(*provenance, *kernels);
  if (check.lie.empty()) {
    check.lie = checkLookup(directory, *provenance);
    check.rows = check.lie.empty() ? static_cast<int>((*provenance)["lookup"].size()) : 0;
  }
  if (check.lie.empty()) {
    check.lie = checkLoader(directory, (*provenance)["files"]);
  }
  checkRows(directory, (*provenance)["problems"], (*kernels)["kernels"], options, check);
  return check;
}

} // namespace kw
