// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/inductor/LookupKey.h"

#include "ir/generators/TritonKernel.h"
#include "ir/support/KeyValues.h"
#include "ir/support/TextList.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <fmt/ranges.h>

namespace kw {
namespace {

struct TypeRow {
  ElementType type;
  std::string_view name;
};
constexpr std::array<TypeRow, 3> types{{
    {ElementType::f16, "torch.float16"},
    {ElementType::bf16, "torch.bfloat16"},
    {ElementType::f32, "torch.float32"},
}};

struct OpRow {
  std::string_view name;
  std::size_t inputs, dimensions;
  bool scaled; ///< has alpha and beta
};
constexpr std::array<OpRow, 4> ops{{
    {"mm", 2, 2, false},
    {"addmm", 3, 2, true},
    {"bmm", 2, 3, false},
    {"baddbmm", 3, 3, true},
}};

// ---- From a problem ----

/// A matrix in its storage order; a batch of them where `batch` > 1.
KeyTensor matrix(ElementType type, std::int64_t batch, std::int64_t rows, std::int64_t columns,
                 std::int64_t rowStride, std::int64_t columnStride, std::int64_t batchStride) {
  if (batch == 1) {
    return {type, {rows, columns}, {rowStride, columnStride}};
  }
  return {type, {batch, rows, columns}, {batchStride, rowStride, columnStride}};
}

KeyTensor operandA(const Gemm &g) {
  const bool k = g.aKContiguous();
  return matrix(g.aType, g.batch, g.m, g.k, k ? g.lda : 1, k ? 1 : g.lda, g.sa);
}

KeyTensor operandB(const Gemm &g) {
  const bool k = g.bKContiguous();
  return matrix(g.bType, g.batch, g.k, g.n, k ? 1 : g.ldb, k ? g.ldb : 1, g.sb);
}

KeyTensor addedMatrix(const Gemm &g, TritonAdded added) {
  const bool bias = added == TritonAdded::bias; // expanded: every row the same
  return matrix(g.outType, g.batch, g.m, g.n, bias ? 0 : g.ldc, 1, bias ? 0 : g.sc);
}

// ---- Parsing ----

/// Takes the text of a key apart from its end of inputs on.
class KeyScanner {
public:
  explicit KeyScanner(std::string_view text) : rest(text) {}

  bool take(std::string_view expected) {
    if (!rest.starts_with(expected)) {
      return false;
    }
    rest.remove_prefix(expected.size());
    return true;
  }
  /// Up to one of `ends`, which stays.
  std::string_view until(std::string_view ends) {
    const std::string_view word = rest.substr(0, rest.find_first_of(ends));
    rest.remove_prefix(word.size());
    return word;
  }
  std::string_view left() const { return rest; }

private:
  std::string_view rest;
};

tl::unexpected<Error> notAKey(const KeyScanner &scanner, std::string_view expected) {
  const std::string_view rest = scanner.left();
  return badInput(fmt::format("is not a key at {}: expected {}",
                              rest.empty() ? "its end" : kw::quoted(rest.substr(0, 24)), expected));
}

Expected<std::vector<std::int64_t>> takeList(KeyScanner &scanner) {
  std::vector<std::int64_t> values;
  if (!scanner.take("[")) {
    return notAKey(scanner, "[size, ...]");
  }
  while (!scanner.take("]")) {
    if (!values.empty() && !scanner.take(", ")) {
      return notAKey(scanner, "\", \" or \"]\"");
    }
    const auto value = parseInteger(scanner.until(",]"));
    if (!value || *value < 0) {
      return notAKey(scanner, "a list of sizes that are not negative");
    }
    values.push_back(*value);
  }
  return values;
}

Expected<KeyTensor> takeTensor(KeyScanner &scanner) {
  if (!scanner.take("(")) {
    return notAKey(scanner, "(dtype, [sizes], [strides])");
  }
  const std::string_view word = scanner.until(",");
  const auto type = std::ranges::find(types, word, &TypeRow::name);
  if (type == types.end()) {
    return badInput(fmt::format("has the dtype {}, which is none of torch.float16 torch.bfloat16 "
                                "torch.float32",
                                kw::quoted(word)));
  }
  KeyTensor tensor{type->type, {}, {}};
  for (std::vector<std::int64_t> *list : {&tensor.sizes, &tensor.strides}) {
    if (!scanner.take(", ")) {
      return notAKey(scanner, "\", \"");
    }
    Expected<std::vector<std::int64_t>> values = takeList(scanner);
    if (!values) {
      return tl::unexpected(values.error());
    }
    *list = std::move(*values);
  }
  if (!scanner.take(")")) {
    return notAKey(scanner, "\")\"");
  }
  return tensor;
}

Expected<std::vector<KeyTensor>> takeInputs(KeyScanner &scanner) {
  std::vector<KeyTensor> inputs;
  if (!scanner.take("(")) {
    return notAKey(scanner, "((dtype, [sizes], [strides]), ...)");
  }
  while (!scanner.take(")")) {
    if (!inputs.empty() && !scanner.take(", ")) {
      return notAKey(scanner, "\", \" or \")\"");
    }
    Expected<KeyTensor> tensor = takeTensor(scanner);
    if (!tensor) {
      return tl::unexpected(tensor.error());
    }
    inputs.push_back(std::move(*tensor));
  }
  return inputs;
}

Expected<void> takeScalars(KeyScanner &scanner, InductorCall &call) {
  const std::string_view text = scanner.until("+");
  for (std::string_view item : split(text, '&')) {
    const std::size_t equals = item.find('=');
    if (equals == std::string_view::npos) {
      return badInput(
          fmt::format("has scalars {}, which are not name=value&...", kw::quoted(text)));
    }
    call.scalars.emplace_back(item.substr(0, equals), item.substr(equals + 1));
  }
  if (!std::ranges::is_sorted(call.scalars)) {
    return badInput(fmt::format("has scalars {}, which are not sorted by name", kw::quoted(text)));
  }
  return {};
}

/// Numbers of inputs and dimensions, and the scalars that the op has.
Expected<void> checkCall(const InductorCall &call) {
  const auto op = std::ranges::find(ops, std::string_view(call.op), &OpRow::name);
  if (op == ops.end()) {
    return badInput(
        fmt::format("ends with the op {}; accepted: mm addmm bmm baddbmm", kw::quoted(call.op)));
  }
  if (call.inputs.size() != op->inputs) {
    return badInput(
        fmt::format("has {} inputs, {} takes {}", call.inputs.size(), op->name, op->inputs));
  }
  for (const KeyTensor &tensor : call.inputs) {
    if (tensor.sizes.size() != op->dimensions || tensor.strides.size() != op->dimensions) {
      return badInput(fmt::format("has an input that is not of the {} dimensions of {}",
                                  op->dimensions, op->name));
    }
  }
  std::vector<std::string_view> names;
  for (const auto &[name, value] : call.scalars) {
    names.push_back(name);
  }
  const std::vector<std::string_view> wanted =
      op->scaled ? std::vector<std::string_view>{"alpha", "beta"} : std::vector<std::string_view>{};
  if (names != wanted) {
    return badInput(fmt::format("has scalars [{}], {} has [{}]", joined(names, " "), op->name,
                                joined(wanted, " ")));
  }
  return {};
}

std::string print(const KeyTensor &tensor) {
  return fmt::format("({}, [{}], [{}])", torchName(tensor.type), fmt::join(tensor.sizes, ", "),
                     fmt::join(tensor.strides, ", "));
}

} // namespace

Expected<InductorCall> inductorCall(const Problem &problem) {
  const auto refuse = [&](std::string_view what) {
    return badInput(fmt::format("{} is no call of Inductor's mm, addmm, bmm or baddbmm: it has {}",
                                print(problem), what));
  };
  if (problem.family() != Family::gemm) {
    return refuse("another family");
  }
  const Gemm &g = problem.gemm();
  const TritonCall known = tritonCall(g);
  if (known.op == TritonOp::none) {
    return refuse(known.refusal);
  }
  InductorCall call;
  call.op = name(known.op);
  if (known.added != TritonAdded::none) {
    call.inputs.push_back(addedMatrix(g, known.added));
    call.scalars = {{"alpha", pythonNumber(g.alpha)},
                    {"beta", pythonNumber(g.beta == 0 ? 1 : g.beta)}};
  }
  call.inputs.push_back(operandA(g));
  call.inputs.push_back(operandB(g));
  return call;
}

std::string lookupKey(const InductorCall &call, std::string_view device) {
  std::string key(device);
  key += device.empty() ? "" : "+";
  key += "(";
  for (std::size_t i = 0; i < call.inputs.size(); ++i) {
    key += (i == 0 ? "" : ", ") + print(call.inputs[i]);
  }
  key += ")+";
  for (std::size_t i = 0; i < call.scalars.size(); ++i) {
    key += (i == 0 ? "" : "&") + call.scalars[i].first + "=" + call.scalars[i].second;
  }
  return key + (call.scalars.empty() ? "" : "+") + call.op;
}

Expected<ParsedKey> parseLookupKey(std::string_view key) {
  // The device may hold a `+` (gfx950:sramecc+:xnack-), so a key is never split at it.
  const std::size_t begin = key.find("((");
  if (begin == std::string_view::npos || (begin > 0 && (begin == 1 || key[begin - 1] != '+'))) {
    return badInput("is not a key: expected [DEVICE+]((dtype, [sizes], [strides]), ...)+...");
  }
  ParsedKey parsed;
  parsed.device = begin == 0 ? "" : key.substr(0, begin - 1);
  KeyScanner scanner(key.substr(begin));
  Expected<std::vector<KeyTensor>> inputs = takeInputs(scanner);
  if (!inputs) {
    return tl::unexpected(inputs.error());
  }
  parsed.call.inputs = std::move(*inputs);
  if (!scanner.take("+")) {
    return notAKey(scanner, "\"+\"");
  }
  if (scanner.left().find('+') != std::string_view::npos) {
    if (Expected<void> scalars = takeScalars(scanner, parsed.call); !scalars) {
      return tl::unexpected(scalars.error());
    }
    scanner.take("+");
  }
  parsed.call.op = scanner.left();
  if (Expected<void> checked = checkCall(parsed.call); !checked) {
    return tl::unexpected(checked.error());
  }
  return parsed;
}

std::string deviceKey(const Target &target) {
  return std::string(target.name) + ":sramecc+:xnack-"; // not seen on a device [inductor.md 12]
}

std::string_view torchName(ElementType type) {
  const auto at = std::ranges::find(types, type, &TypeRow::type);
  return at == types.end() ? std::string_view() : at->name;
}

std::string pythonNumber(double value) {
  constexpr double mostExact = 1e15;
  if (std::nearbyint(value) == value && std::abs(value) < mostExact) {
    return fmt::format("{}", static_cast<std::int64_t>(value));
  }
  // repr() of a float changes to exponents below 1e-4 and from 1e16 on.
  const bool fixed = std::abs(value) >= 1e-4 && std::abs(value) < 1e16;
  std::array<char, 64> text{};
  const auto end = std::to_chars(text.data(), text.data() + text.size(), value,
                                 fixed ? std::chars_format::fixed : std::chars_format::scientific);
  return {text.data(), end.ptr};
}

} // namespace kw
