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

std::string textOf(const Json &row, const char *key) {
  return row.is_object() && row.contains(key) && row[key].is_string() ? row[key].get<std::string>()
                                                                      : std::string();
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
  ClaimedRow row{{*problem, *schedule, {}, {}, {}, {}, {}, {}, {}, {}, {}}, *target, {}};
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

/// The prediction: a positive time with a source that exists; the model's own is made again.
Lie checkTime(const std::string &where, const Json &json, const ClaimedRow &row,
              const Json &provenance) {
  static const std::set<std::string> sources{"model", "compiled", "simulated", "measured"};
  const std::string source = textOf(json, "source");
  if (!sources.contains(source)) {
    return lie(where,
               fmt::format("source '{}' is none of model, compiled, simulated, measured", source));
  }
  if (!json["time_us"].is_number() || !(json["time_us"].get<double>() > 0)) {
    return lie(where, "time_us must be a positive number");
  }
  if (source != "model" || provenance.value("model", "") != modelVersion()) {
    return {};
  }
  const double truth = CostModel(row.entry.problem, *row.target).timeUs(row.entry.schedule);
  const double time = json["time_us"].get<double>();
  return std::abs(time - truth) <= 1e-6 * truth
             ? Lie()
             : lie(where, fmt::format("time_us is {} by the model, not {}", truth, time));
}

Lie checkProvenance(const std::string &where, const Json &json, const Json &problems) {
  for (const Json &problem : problems) {
    if (textOf(problem, "problem") == textOf(json, "problem")) {
      for (const char *key : {"schedule", "time_us", "source"}) {
        if (!problem.contains(key) || problem[key] != json[key]) {
          return lie("bundle.json", fmt::format("{} of '{}' differs from kernels.json", key,
                                                textOf(json, "problem")));
        }
      }
      const Json measured = problem.value("measured_us", Json());
      if (textOf(json, "source") == "measured" && measured != json["time_us"]) {
        return lie("bundle.json",
                   fmt::format("time_us of '{}' is labelled measured, measured_us is {}",
                               textOf(json, "problem"), measured.dump()));
      }
      return problem.value("validated", false)
                 ? Lie()
                 : lie("bundle.json",
                       fmt::format("'{}' was not validated", textOf(json, "problem")));
    }
  }
  return lie(where, fmt::format("'{}' is not in bundle.json", textOf(json, "problem")));
}

Lie checkResults(const std::string &where, const ClaimedRow &row, const CheckOptions &options) {
  if (!options.validate) {
    return {};
  }
  ValidateOptions validation;
  validation.jobs = options.jobs;
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
  return {};
}

Lie checkRow(const fs::path &directory, const std::string &where, const Json &json,
             const Json &provenance, const CheckOptions &options) {
  ClaimedRow row = readRow(directory, where, json);
  if (!row.lie.empty()) {
    return row.lie;
  }
  Json truth = kernelRow(row.entry, *row.target);
  for (const char *key : {"time_us", "source"}) {
    if (!json.contains(key)) {
      return lie(where, fmt::format("{} is missing", key));
    }
    truth[key] = json[key];
  }
  if (std::string difference = firstDifference(json, truth); !difference.empty()) {
    return lie(where, difference);
  }
  if (Lie found = checkTime(where, json, row, provenance); !found.empty()) {
    return found;
  }
  if (Lie found = checkProvenance(where, json, provenance["problems"]); !found.empty()) {
    return found;
  }
  return checkResults(where, row, options);
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
  return provenance["problems"].size() == kernels["kernels"].size()
             ? Lie()
             : lie("bundle.json", "problems and kernels.json have different numbers of rows");
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
  const Expected<Json> kernels = readJson(directory / "kernels" / "kernels.json");
  if (!kernels) {
    return tl::unexpected(kernels.error());
  }
  check.lie = checkHead(*provenance, *kernels);
  if (check.lie.empty()) {
    check.lie = checkLookup(directory, *provenance);
    check.rows = check.lie.empty() ? static_cast<int>((*provenance)["lookup"].size()) : 0;
  }
  for (std::size_t i = 0; check.lie.empty() && i < (*kernels)["kernels"].size(); ++i) {
    const std::string where = fmt::format("kernels.json kernels[{}]", i);
    check.lie = checkRow(directory, where, (*kernels)["kernels"][i], *provenance, options);
    check.kernels += check.lie.empty() ? 1 : 0;
  }
  return check;
}

} // namespace kw
