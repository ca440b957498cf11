// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/inductor/LookupRow.h"

#include "ir/Decision.h"
#include "ir/Rule.h"
#include "ir/support/TextList.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>

namespace kw {
namespace {

using json = nlohmann::json;

std::string_view templateOf(std::string_view op) {
  return op == "bmm" || op == "baddbmm" ? "triton::bmm" : "triton::mm";
}

/// Decisions whose name is a field of the row; all of them are.
std::span<const Decision> fields() { return decisions({Family::gemm, Generator::triton}); }

std::int64_t innerSize(const InductorCall &call) { return call.inputs.back().sizes.end()[-2]; }

bool evenK(const InductorCall &call, std::int64_t blockK) { return innerSize(call) % blockK == 0; }

// ---- Fields ----

struct FixedField {
  std::string_view name, value; ///< the only value, as JSON
};
constexpr std::array<FixedField, 2> fixedFields{{
    {"ACC_TYPE", "\"tl.float32\""},
    {"USE_FAST_ACCUM", "false"},
}};

bool isKnownField(std::string_view name) {
  return name == "template_id" || name == "template_hash" || name == "EVEN_K" ||
         name == "hint_override" ||
         std::ranges::find(fixedFields, name, &FixedField::name) != fixedFields.end() ||
         std::ranges::find(fields(), name, &Decision::key) != fields().end();
}

std::string unknownFieldLie(const json &row) {
  for (const auto &[name, value] : row.items()) {
    if (name == "ALLOW_TF32") {
      return "ALLOW_TF32 is given to the template twice then: Inductor fails";
    }
    if (!isKnownField(name)) {
      return fmt::format("unknown field {}: Inductor would paste it into the kernel",
                         kw::quoted(name));
    }
  }
  return {};
}

std::string hashLie(const json &row, std::string_view op, std::string_view boundTorch) {
  const bool present = row.contains("template_hash");
  if (!present && boundTorch.empty()) {
    return {};
  }
  if (!present) {
    return fmt::format("template_hash is missing in a bundle bound to torch {}", boundTorch);
  }
  if (boundTorch.empty()) {
    return "template_hash in a bundle that is bound to no torch version: others drop the row";
  }
  const std::string_view truth = templateHash(boundTorch, op);
  return row["template_hash"] == truth
             ? ""
             : fmt::format("template_hash is not that of {} in torch {}: Inductor drops the row",
                           templateOf(op), boundTorch);
}

std::string templateLie(const json &row, std::string_view op) {
  if (!row.contains("template_id") || !row["template_id"].is_string()) {
    return "template_id is missing or no string: Inductor fails";
  }
  const auto id = row["template_id"].get<std::string>();
  return id == templateOf(op) ? ""
                              : fmt::format("template_id is {}; {} takes {} or aten::{}",
                                            kw::quoted(id), op, templateOf(op), op);
}

std::string fixedFieldLie(const json &row) {
  for (const FixedField &field : fixedFields) {
    if (!row.contains(field.name)) {
      return fmt::format("{} is missing", field.name);
    }
    if (row[field.name].dump() != field.value) {
      return fmt::format("{} is {}, not {}", field.name, row[field.name].dump(), field.value);
    }
  }
  if (row.contains("hint_override") && !row["hint_override"].is_null()) {
    return fmt::format("hint_override is {}, not null", row["hint_override"].dump());
  }
  return {};
}

/// The integer fields as a schedule; `lie` is set where that is impossible.
TritonGemmSchedule readFields(const json &row, std::string &lie) {
  Schedule schedule = TritonGemmSchedule();
  for (const Decision &field : fields()) {
    const std::string name(field.key);
    if (!row.contains(name)) {
      lie = fmt::format("{} is missing", name);
    } else if (!row[name].is_number_integer()) {
      lie = fmt::format("{} is {}, not an integer", name, row[name].dump());
    } else if (const auto value = field.parse(row[name].dump()); !value) {
      lie = fmt::format("{} is {}, not from {} to {}", name, row[name].dump(), field.lowest,
                        field.highest);
    } else {
      field.set(schedule, *value);
      continue;
    }
    break;
  }
  return std::get<TritonGemmSchedule>(schedule);
}

std::string evenKLie(const InductorCall &call, const json &row, int blockK) {
  if (!row.contains("EVEN_K") || !row["EVEN_K"].is_boolean()) {
    return "EVEN_K is missing or no boolean";
  }
  const bool claimed = row["EVEN_K"].get<bool>(), truth = evenK(call, blockK);
  if (claimed == truth) {
    return {};
  }
  return fmt::format("EVEN_K is {}, but K={} is {}a multiple of BLOCK_K={}: {}", claimed,
                     innerSize(call), truth ? "" : "not ", blockK,
                     claimed ? "wrong numbers without a message" : "masks that nothing needs");
}

std::string legalityLie(const InductorCall &call, const TritonGemmSchedule &schedule,
                        const Target &target) {
  const Expected<Problem> problem = problemOf(call);
  if (!problem) {
    return problem.error().message;
  }
  const std::vector<Violation> violations = checkLegal(*problem, schedule, target);
  return violations.empty()
             ? ""
             : fmt::format("{}: {}", violations.front().rule, violations.front().message);
}

// ---- Hashes ----

struct HashRow {
  std::string_view torch, templateId, hash;
};
constexpr std::array<HashRow, 3> hashes{{
    {"2.11.0", "triton::mm", "d4b90a54b960e7b3fb3abb24be0d43fc9b3c4d64c53ecd44187508e096498238"},
    {"2.13.0", "triton::mm", "d99842e466803e2d1dcd19b8faa992acd26dc9cb671b8eba7468c187f3b9007f"},
    {"2.13.0", "triton::bmm", "4acd70184f4e6d7dd871c00a5b945a6a4d3acd641ad6f7f1a3eb6902ab4cf85c"},
}};

// ---- The problem of a call ----

struct Order {
  bool swapped = false; ///< the first of the two dimensions is contiguous
  std::int64_t leading = 0, batch = 0;
};

/// Order and strides of a matrix, or nothing if neither dimension is contiguous.
std::optional<Order> orderOf(const KeyTensor &tensor) {
  const auto sizes = tensor.sizes.end(), strides = tensor.strides.end();
  const std::int64_t batch = tensor.strides.size() == 3 ? tensor.strides.front() : 0;
  if (strides[-1] == 1 && (strides[-2] >= sizes[-1] || sizes[-2] == 1)) {
    return Order{false, std::max(strides[-2], sizes[-1]), batch};
  }
  if (strides[-2] == 1 && strides[-1] >= sizes[-2]) {
    return Order{true, strides[-1], batch};
  }
  return std::nullopt;
}

/// Keys of the problem for the matrix that is added.
Expected<std::string> addedText(const InductorCall &call, std::int64_t n) {
  if (call.inputs.size() == 2) {
    return std::string();
  }
  const auto strides = call.inputs.front().strides.end();
  const std::string &alpha = call.scalars[0].second, &beta = call.scalars[1].second;
  if (strides[-2] == 0 && strides[-1] == 1 && beta == "1") {
    return fmt::format(" alpha={} epilogue=bias", alpha);
  }
  if (strides[-2] == n && strides[-1] == 1) {
    return fmt::format(" alpha={} beta={}", alpha, beta);
  }
  return badInput("an added matrix that is neither contiguous nor a bias with beta=1");
}

} // namespace

Expected<Problem> problemOf(const InductorCall &call) {
  const KeyTensor &a = call.inputs.end()[-2], &b = call.inputs.end()[-1];
  if (a.type != b.type || call.inputs.front().type != a.type) {
    return badInput("inputs of different dtypes");
  }
  const std::int64_t m = a.sizes.end()[-2], k = a.sizes.end()[-1], n = b.sizes.end()[-1];
  const std::int64_t batch = a.sizes.size() == 3 ? a.sizes.front() : 1;
  const std::vector<std::int64_t> c = a.sizes.size() == 3 ? std::vector<std::int64_t>{batch, m, n}
                                                          : std::vector<std::int64_t>{m, n};
  if (b.sizes.end()[-2] != k || (b.sizes.size() == 3 && b.sizes.front() != batch) ||
      (call.inputs.size() == 3 && call.inputs.front().sizes != c)) {
    return badInput("sizes that don't fit together");
  }
  const std::optional<Order> orderA = orderOf(a), orderB = orderOf(b);
  if (!orderA || !orderB) {
    return badInput("strides with no contiguous dimension");
  }
  std::string text = fmt::format("gemm m={} n={} k={} dtype={} a={} lda={} b={} ldb={}", m, n, k,
                                 name(a.type), orderA->swapped ? "km" : "mk", orderA->leading,
                                 orderB->swapped ? "nk" : "kn", orderB->leading);
  if (batch > 1) {
    text += fmt::format(" batch={} sa={} sb={}", batch, orderA->batch, orderB->batch);
  }
  const Expected<std::string> added = addedText(call, n);
  return added ? parseProblem(text + *added) : Expected<Problem>(tl::unexpected(added.error()));
}

json lookupRow(const InductorCall &call, const TritonGemmSchedule &schedule,
               std::string_view boundTorch) {
  json row{{"template_id", templateOf(call.op)}, {"EVEN_K", evenK(call, schedule.blockK)}};
  for (const FixedField &field : fixedFields) {
    row[std::string(field.name)] = json::parse(field.value);
  }
  for (const Decision &field : fields()) {
    row[std::string(field.key)] = field.get(schedule);
  }
  if (!boundTorch.empty()) {
    row["template_hash"] = templateHash(boundTorch, call.op);
  }
  return row;
}

std::string_view templateHash(std::string_view torch, std::string_view op) {
  for (const HashRow &row : hashes) {
    if (row.torch == torch && row.templateId == templateOf(op)) {
      return row.hash;
    }
  }
  return {};
}

std::string knownTorchVersions() {
  std::vector<std::string_view> versions;
  for (const HashRow &row : hashes) {
    if (std::ranges::find(versions, row.torch) == versions.end()) {
      versions.push_back(row.torch);
    }
  }
  return joined(versions, " ");
}

json atenRow(const InductorCall &call) { return {{"template_id", "aten::" + call.op}}; }

std::string rowLie(const InductorCall &call, const json &row, const Target &target,
                   std::string_view boundTorch) {
  if (!row.is_object()) {
    return "is no object: Inductor fails";
  }
  if (row == atenRow(call)) {
    return {};
  }
  std::string lie = templateLie(row, call.op);
  lie = lie.empty() ? unknownFieldLie(row) : lie;
  lie = lie.empty() ? hashLie(row, call.op, boundTorch) : lie;
  lie = lie.empty() ? fixedFieldLie(row) : lie;
  if (!lie.empty()) {
    return lie;
  }
  const TritonGemmSchedule schedule = readFields(row, lie);
  lie = lie.empty() ? evenKLie(call, row, schedule.blockK) : lie;
  return lie.empty() ? legalityLie(call, schedule, target) : lie;
}

} // namespace kw
