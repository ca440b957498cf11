// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/ops/GemmTypes.h"

#include "ir/support/TextList.h"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

using enum ElementType;

// ---- Names of the values ----

struct OperandType {
  std::string_view name;
  ElementType type;
  ScaleMode scale;  ///< default
  bool microscaled; ///< the scale belongs to the name
};
constexpr std::array<OperandType, 9> operandTypes{{
    {"f32", f32, ScaleMode::none, false},
    {"f16", f16, ScaleMode::none, false},
    {"bf16", bf16, ScaleMode::none, false},
    {"i8", i8, ScaleMode::none, false},
    {"fp8", fp8, ScaleMode::tensor, false},
    {"bf8", bf8, ScaleMode::tensor, false},
    {"mxfp8", fp8, ScaleMode::mx, true},
    {"mxfp6", fp6, ScaleMode::mx, true},
    {"mxfp4", fp4, ScaleMode::mx, true},
}};
constexpr std::size_t bf16Row = 2;

/// In the order of EpilogueKind; `quant` takes a type.
constexpr std::array<std::string_view, 9> stepNames{"bias", "silu",  "gelu",   "relu",  "mul",
                                                    "add",  "quant", "swiglu", "weight"};
constexpr std::array<std::string_view, 3> quantTypes{"fp8", "bf8", "i8"};

// ---- Types ----

const OperandType *readOperandType(KeyValues &values, std::string_view key) {
  const auto text = values.text(key);
  if (!text) {
    return nullptr;
  }
  const auto at = std::ranges::find(operandTypes, *text, &OperandType::name);
  if (at == operandTypes.end()) {
    values.reject(key);
    return nullptr;
  }
  return &*at;
}

struct OperandTypes {
  const OperandType *a, *b;
};

OperandTypes readOperandTypes(KeyValues &values) {
  const OperandType *both = readOperandType(values, "dtype");
  const OperandType *a = readOperandType(values, "adtype");
  const OperandType *b = readOperandType(values, "bdtype");
  if (!both && !!a != !!b) {
    values.complain(fmt::format("key \"{}\" is missing beside \"{}\"; accepted: dtype alone, or "
                                "adtype and bdtype",
                                a ? "bdtype" : "adtype", a ? "adtype" : "bdtype"));
  }
  if (both && ((a && a != both) || (b && b != both))) {
    values.complain(fmt::format("dtype={} contradicts {}={}; accepted: dtype alone, or adtype and "
                                "bdtype",
                                both->name, a && a != both ? "adtype" : "bdtype",
                                (a && a != both ? a : b)->name));
  }
  const OperandType *fallback = both ? both : &operandTypes[bf16Row];
  return {a ? a : fallback, b ? b : fallback};
}

/// Why an operand of this type cannot have this scale; empty if it can.
std::string_view scaleProblem(const OperandType &operand, ScaleMode scale) {
  if (operand.microscaled && scale != ScaleMode::mx) {
    return "accepted with an mx type: scale=mx";
  }
  if (bitWidth(operand.type) > 8 && scale != ScaleMode::none) {
    return "accepted with f32, f16 and bf16: scale=none";
  }
  if (operand.type == i8 && scale == ScaleMode::mx) {
    return "accepted with i8: scale=none, tensor, row or block128";
  }
  return {};
}

/// With one key for two operands, an operand above 8 bits beside a scaled one stays unscaled.
ScaleMode operandScale(KeyValues &values, const OperandType &operand, bool otherIsNarrow) {
  if (!values.has("scale")) {
    return operand.scale;
  }
  const auto scale = static_cast<ScaleMode>(values.choice("scale", scaleNames, 0));
  if (bitWidth(operand.type) > 8 && otherIsNarrow) {
    return ScaleMode::none;
  }
  const std::string_view why = scaleProblem(operand, scale);
  if (!why.empty()) {
    values.complain(
        fmt::format("scale={} contradicts type {}; {}", *values.text("scale"), operand.name, why));
  }
  return scale;
}

ElementType defaultOut(const Gemm &op) {
  if (!op.epilogue.empty() && op.epilogue.back().kind == EpilogueKind::quant) {
    return op.epilogue.back().type;
  }
  if (bitWidth(op.aType) > 8) {
    return op.aType;
  }
  return bitWidth(op.bType) > 8 ? op.bType : bf16;
}

ElementType defaultAcc(const Gemm &op) { return op.aType == i8 && op.bType == i8 ? i32 : f32; }

/// The shortest name: an mx name where the type has one and the scale is mx.
const OperandType &operandName(ElementType type, ScaleMode scale) {
  const OperandType *plain = nullptr;
  for (const OperandType &row : operandTypes) {
    if (row.type != type) {
      continue;
    }
    if (row.scale == scale) {
      return row;
    }
    plain = row.microscaled && plain ? plain : &row;
  }
  return *plain;
}

// ---- Epilogue ----

std::optional<EpilogueStep> parseStep(std::string_view text) {
  constexpr std::string_view prefix = "quant:";
  const auto at = std::ranges::find(stepNames, text);
  if (at != stepNames.end() && text != prefix.substr(0, prefix.size() - 1)) {
    return EpilogueStep{static_cast<EpilogueKind>(at - stepNames.begin())};
  }
  if (!text.starts_with(prefix)) {
    return std::nullopt;
  }
  text.remove_prefix(prefix.size());
  if (std::ranges::find(quantTypes, text) == quantTypes.end()) {
    return std::nullopt;
  }
  return EpilogueStep{EpilogueKind::quant, *parseElementType(text)};
}

} // namespace

std::string operandTypeNames() {
  std::vector<std::string_view> names;
  for (const OperandType &row : operandTypes) {
    names.push_back(row.name);
  }
  return joined(names, " ");
}

void readTypes(KeyValues &values, Gemm &op) {
  const OperandTypes types = readOperandTypes(values);
  op.aType = types.a->type;
  op.bType = types.b->type;
  if ((op.aType == i8) != (op.bType == i8)) {
    values.complain("i8 beside another operand type; accepted: i8 for both");
  }
  op.aScale = operandScale(values, *types.a, bitWidth(op.bType) <= 8);
  op.bScale = operandScale(values, *types.b, bitWidth(op.aType) <= 8);
}

void readResultTypes(KeyValues &values, Gemm &op) {
  op.accType = defaultAcc(op);
  if (values.has("acc")) {
    const ElementType acc = *parseElementType(accNames[values.choice("acc", accNames, 0)]);
    if (acc != op.accType) {
      values.complain(fmt::format("acc={} contradicts the operand types; accepted: acc={}",
                                  name(acc), name(op.accType)));
    }
  }
  op.outType = defaultOut(op);
  if (!values.has("out")) {
    return;
  }
  const ElementType out = *parseElementType(outNames[values.choice("out", outNames, 0)]);
  if (!op.epilogue.empty() && op.epilogue.back().kind == EpilogueKind::quant && out != op.outType) {
    values.complain(fmt::format("out={} contradicts quant:{} in epilogue; accepted: out={}",
                                name(out), name(op.outType), name(op.outType)));
  }
  op.outType = out;
}

void readEpilogue(KeyValues &values, Gemm &op, bool grouped) {
  const auto text = values.text("epilogue");
  if (!text || text->empty()) {
    return;
  }
  for (std::string_view part : split(*text, ',')) {
    const auto step = parseStep(part);
    const bool repeated = step && std::ranges::find(op.epilogue, step->kind, &EpilogueStep::kind) !=
                                      op.epilogue.end();
    const bool afterQuant = !op.epilogue.empty() && op.epilogue.back().kind == EpilogueKind::quant;
    const bool foreign = step && !grouped &&
                         (step->kind == EpilogueKind::swiglu || step->kind == EpilogueKind::weight);
    if (!step || repeated || afterQuant || foreign) {
      return values.reject("epilogue");
    }
    op.epilogue.push_back(*step);
  }
}

void printTypes(const Gemm &op, KeyPrinter &printer) {
  const OperandType &a = operandName(op.aType, op.aScale);
  const OperandType &b = operandName(op.bType, op.bScale);
  if (&a == &b) {
    printer.add("dtype", a.name);
  } else {
    printer.add("adtype", a.name);
    printer.add("bdtype", b.name);
  }
  if (op.outType != defaultOut(op)) {
    printer.add("out", name(op.outType));
  }
  if (op.aScale != a.scale) {
    printer.add("scale", scaleNames[static_cast<std::size_t>(op.aScale)]);
  } else if (op.bScale != b.scale) {
    printer.add("scale", scaleNames[static_cast<std::size_t>(op.bScale)]);
  }
}

std::optional<Tensor> scaleTensor(std::string name, ScaleMode mode, std::int64_t rows,
                                  std::int64_t k, std::int64_t blockRows) {
  const auto ceilDiv = [](std::int64_t a, std::int64_t b) { return (a + b - 1) / b; };
  const auto dense = [&](ElementType type, std::int64_t outer, std::int64_t inner) {
    return Tensor{std::move(name), BufferRole::input, type, {outer, inner}, {inner, 1}};
  };
  switch (mode) {
  case ScaleMode::none:
    return std::nullopt;
  case ScaleMode::tensor:
    return Tensor{std::move(name), BufferRole::input, f32, {1}, {1}};
  case ScaleMode::row:
    return Tensor{std::move(name), BufferRole::input, f32, {rows}, {1}};
  case ScaleMode::block128:
    return dense(f32, ceilDiv(rows, blockRows), ceilDiv(k, scaleBlock));
  case ScaleMode::mx:
    return dense(e8m0, rows, ceilDiv(k, mxBlock));
  }
  return std::nullopt;
}

int Gemm::columnsPerResult() const {
  return std::ranges::find(epilogue, EpilogueKind::swiglu, &EpilogueStep::kind) == epilogue.end()
             ? 1
             : 2;
}

std::string Gemm::epilogueText() const {
  std::string text;
  for (const EpilogueStep &step : epilogue) {
    text += text.empty() ? "" : ",";
    text += step.kind == EpilogueKind::quant
                ? "quant:" + std::string(name(step.type))
                : std::string(stepNames[static_cast<std::size_t>(step.kind)]);
  }
  return text;
}

} // namespace kw
