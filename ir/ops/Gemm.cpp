// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Problem text of GEMM; what is not a size is optional:
//   m n k batch=1           sizes
//   dtype=bf16              both operands: f32 f16 bf16 i8 fp8 bf8 mxfp8 mxfp6 mxfp4 (always
//   printed);
//                           adtype= bdtype= where they differ, both then
//   out=                    default: quant's type; i8 and smaller operands give bf16, else dtype
//   acc=                    default: f32; i32 for i8
//   scale=                  default by type: mx for mx..., tensor for fp8 and bf8, else none
//   a=mk|km b=kn|nk         storage order, outermost first
//   lda ldb ldc sa sb sc    strides in elements; default contiguous; sa, sb 0: the same for all
//   alpha=1 beta=0
//   epilogue=STEP,...       bias silu gelu relu mul add quant:TYPE, in this order of application, in
//                           f32, rounded once; bias is [n], the first of mul and add takes aux, the
//                           second aux2, dense like c; silu and gelu: ir/ops/Activation.h
//   preshuffle=0            b packed once for the kernel (ir/PreshuffledLayout.h)
#include "ir/ops/Gemm.h"

#include "ir/PreshuffledLayout.h"
#include "ir/ops/Operator.h"
#include "ir/support/TextList.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

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

/// In the order of ScaleMode.
constexpr std::array<std::string_view, 5> scaleNames{"none", "tensor", "row", "block128", "mx"};
constexpr std::array<std::string_view, 7> outNames{"f32", "f16", "bf16", "fp8", "bf8", "i8", "i32"};
constexpr std::array<std::string_view, 2> accNames{"f32", "i32"};
constexpr std::array<std::string_view, 2> aOrders{"mk", "km"};
constexpr std::array<std::string_view, 2> bOrders{"kn", "nk"};
/// In the order of EpilogueKind; `quant` takes a type.
constexpr std::array<std::string_view, 6> stepNames{"bias", "silu", "gelu", "relu", "mul", "add"};
constexpr std::array<std::string_view, 3> quantTypes{"fp8", "bf8", "i8"};

std::string operandTypeNames() {
  std::vector<std::string_view> names;
  for (const OperandType &row : operandTypes) {
    names.push_back(row.name);
  }
  return joined(names, " ");
}

std::span<const Key> keys() {
  static const std::string types = operandTypeNames();
  static const std::string size(sizeRange);
  static const std::string leading = "an integer from the row length to 2147483647";
  static const std::string stride = "an integer from 0 to 2^50, with batch above 1";
  static const std::array<Key, 22> all{{
      {"m", size, true},
      {"n", size, true},
      {"k", size, true},
      {"batch", size},
      {"dtype", types},
      {"adtype", types},
      {"bdtype", types},
      {"out", joined(outNames, " ")},
      {"acc", joined(accNames, " ")},
      {"scale", joined(scaleNames, " ")},
      {"a", joined(aOrders, " ")},
      {"b", joined(bOrders, " ")},
      {"lda", leading},
      {"ldb", leading},
      {"ldc", leading},
      {"sa", stride},
      {"sb", stride},
      {"sc", stride},
      {"alpha", "a number"},
      {"beta", "a number"},
      {"epilogue", "a list, joined with commas, of bias silu gelu relu mul add, each at most once, "
                   "and last quant:fp8, quant:bf8 or quant:i8"},
      {"preshuffle", "0 1"},
  }};
  return all;
}

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

// ---- Epilogue ----

std::optional<EpilogueStep> parseStep(std::string_view text) {
  const auto at = std::ranges::find(stepNames, text);
  if (at != stepNames.end()) {
    return EpilogueStep{static_cast<EpilogueKind>(at - stepNames.begin())};
  }
  constexpr std::string_view prefix = "quant:";
  if (!text.starts_with(prefix)) {
    return std::nullopt;
  }
  text.remove_prefix(prefix.size());
  if (std::ranges::find(quantTypes, text) == quantTypes.end()) {
    return std::nullopt;
  }
  return EpilogueStep{EpilogueKind::quant, *parseElementType(text)};
}

void readEpilogue(KeyValues &values, Gemm &op) {
  const auto text = values.text("epilogue");
  if (!text || text->empty()) {
    return;
  }
  for (std::string_view part : split(*text, ',')) {
    const auto step = parseStep(part);
    const bool repeated = step && std::ranges::find(op.epilogue, step->kind, &EpilogueStep::kind) !=
                                      op.epilogue.end();
    const bool afterQuant = !op.epilogue.empty() && op.epilogue.back().kind == EpilogueKind::quant;
    if (!step || repeated || afterQuant) {
      return values.reject("epilogue");
    }
    op.epilogue.push_back(*step);
  }
}

// ---- Strides ----

/// The matrices as they lie in memory: `rows` rows of `length` contiguous elements.
struct Storage {
  std::int64_t rows, length;
};
Storage storageA(const Gemm &op) {
  return op.aTransposed ? Storage{op.k, op.m} : Storage{op.m, op.k};
}
Storage storageB(const Gemm &op) {
  return op.bTransposed ? Storage{op.n, op.k} : Storage{op.k, op.n};
}
Storage storageC(const Gemm &op) { return {op.m, op.n}; }

std::int64_t contiguousSb(const Gemm &op) {
  return op.preshuffle ? preshuffledLayout(op).elements() : storageB(op).rows * op.ldb;
}

std::int64_t readLeading(KeyValues &values, std::string_view key, Storage storage) {
  const std::int64_t given = values.integer(key, 1, largestSize, storage.length);
  if (given < storage.length) {
    values.complain(fmt::format("{}={} is below the row length {}; accepted: {} to {}", key, given,
                                storage.length, storage.length, largestSize));
  }
  return given;
}

std::int64_t readBatchStride(KeyValues &values, std::string_view key, const Gemm &op,
                             std::int64_t contiguous) {
  if (values.has(key) && op.batch == 1) {
    values.complain(fmt::format("{} is given without a batch; accepted with batch above 1", key));
  }
  return values.integer(key, 0, largestTensorBytes, contiguous);
}

/// Results of two batch entries must not share memory: either whole matrices follow each other, or
/// the batch lies within a row of ldc elements.
void checkResultStride(KeyValues &values, const Gemm &op) {
  const bool apart = op.sc >= (op.m - 1) * op.ldc + op.n;
  const bool within = op.sc >= op.n && op.sc <= op.ldc / op.batch;
  if (op.batch > 1 && !apart && !within) {
    values.complain(fmt::format("sc={} lets results of the batch overlap; accepted: {} or more, or "
                                "n to ldc / batch",
                                op.sc, (op.m - 1) * op.ldc + op.n));
  }
}

void readStrides(KeyValues &values, Gemm &op) {
  if (op.preshuffle && values.has("ldb")) {
    values.complain("ldb is given for packed weights; accepted with preshuffle=0");
  }
  op.lda = readLeading(values, "lda", storageA(op));
  op.ldb = readLeading(values, "ldb", storageB(op));
  op.ldc = readLeading(values, "ldc", storageC(op));
  op.sa = readBatchStride(values, "sa", op, storageA(op).rows * op.lda);
  op.sb = readBatchStride(values, "sb", op, contiguousSb(op));
  op.sc = readBatchStride(values, "sc", op, storageC(op).rows * op.ldc);
  checkResultStride(values, op);
}

// ---- The operator ----

Problem read(KeyValues &values) {
  Gemm op;
  op.m = values.integer("m", 1, largestSize, 1);
  op.n = values.integer("n", 1, largestSize, 1);
  op.k = values.integer("k", 1, largestSize, 1);
  op.batch = values.integer("batch", 1, largestSize, 1);
  op.aTransposed = values.choice("a", aOrders, 0) == 1;
  op.bTransposed = values.choice("b", bOrders, 0) == 1;
  // -0 is 0: one value, one text.
  op.alpha = values.real("alpha", 1) + 0.0;
  op.beta = values.real("beta", 0) + 0.0;
  op.preshuffle = values.flag("preshuffle", false);
  readTypes(values, op);
  readEpilogue(values, op);
  readResultTypes(values, op);
  readStrides(values, op);
  return Problem{op};
}

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

void printStrides(const Gemm &op, KeyPrinter &printer) {
  printer.addUnless("lda", op.lda, storageA(op).length);
  printer.addUnless("ldb", op.ldb, storageB(op).length);
  printer.addUnless("ldc", op.ldc, storageC(op).length);
  printer.addUnless("sa", op.sa, storageA(op).rows * op.lda);
  printer.addUnless("sb", op.sb, contiguousSb(op));
  printer.addUnless("sc", op.sc, storageC(op).rows * op.ldc);
}

void printKeys(const Problem &problem, KeyPrinter &printer, bool compiledOnly) {
  const Gemm &op = problem.gemm();
  if (!compiledOnly) {
    printer.add("m", op.m);
  }
  printer.add("n", op.n);
  printer.add("k", op.k);
  if (!compiledOnly) {
    printer.addUnless("batch", op.batch, 1);
  }
  printTypes(op, printer);
  if (op.aTransposed) {
    printer.add("a", "km");
  }
  if (op.bTransposed) {
    printer.add("b", "nk");
  }
  if (!compiledOnly) {
    printStrides(op, printer);
  }
  printer.addUnless("alpha", op.alpha, 1);
  printer.addUnless("beta", op.beta, 0);
  if (!op.epilogue.empty()) {
    printer.add("epilogue", op.epilogueText());
  }
  printer.addUnless("preshuffle", std::int64_t(op.preshuffle), 0);
}

Tensor matrix(std::string name, BufferRole role, ElementType type, const Gemm &op, Storage storage,
              std::int64_t leading, std::int64_t batchStride) {
  if (op.batch == 1) {
    return {std::move(name), role, type, {storage.rows, storage.length}, {leading, 1}};
  }
  return {std::move(name),
          role,
          type,
          {op.batch, storage.rows, storage.length},
          {batchStride, leading, 1}};
}

Tensor packedWeights(const Gemm &op) {
  const PreshuffledLayout layout = preshuffledLayout(op);
  Tensor tensor{"b", BufferRole::input, op.bType, {}, {}};
  tensor.shape = {layout.blocksN(), layout.blocksK(), PreshuffledLayout::groups,
                  PreshuffledLayout::columns, layout.packElements()};
  tensor.strides.assign(tensor.shape.size(), 1);
  for (std::size_t i = tensor.shape.size() - 1; i > 0; --i) {
    tensor.strides[i - 1] = tensor.strides[i] * tensor.shape[i];
  }
  if (op.batch > 1) {
    tensor.shape.insert(tensor.shape.begin(), op.batch);
    tensor.strides.insert(tensor.strides.begin(), op.sb);
  }
  return tensor;
}

std::int64_t ceilDiv(std::int64_t a, std::int64_t b) { return (a + b - 1) / b; }

/// Scales of an operand of `rows` rows (of a) or columns (of b), the same for all of a batch.
std::optional<Tensor> scales(std::string name, ScaleMode mode, std::int64_t rows, std::int64_t k,
                             std::int64_t blockRows) {
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
    return dense(f32, ceilDiv(rows, blockRows), ceilDiv(k, 128));
  case ScaleMode::mx:
    return dense(e8m0, rows, ceilDiv(k, 32));
  }
  return std::nullopt;
}

void addEpilogueTensors(const Gemm &op, std::vector<Tensor> &all) {
  std::string_view auxiliary = "aux";
  for (const EpilogueStep &step : op.epilogue) {
    if (step.kind == EpilogueKind::bias) {
      const ElementType type = bitWidth(op.outType) > 8 ? op.outType : bf16;
      all.push_back({"bias", BufferRole::input, type, {op.n}, {1}});
    } else if (step.kind == EpilogueKind::mul || step.kind == EpilogueKind::add) {
      const ElementType type = bitWidth(op.outType) > 8 ? op.outType : bf16;
      all.push_back(matrix(std::string(auxiliary), BufferRole::input, type, op, storageC(op), op.n,
                           op.m * op.n));
      auxiliary = "aux2";
    } else if (step.kind == EpilogueKind::quant) {
      all.push_back({"scale_c", BufferRole::input, f32, {1}, {1}});
    }
  }
}

std::vector<Tensor> listTensors(const Problem &problem) {
  const Gemm &op = problem.gemm();
  std::vector<Tensor> all;
  all.push_back(matrix("a", BufferRole::input, op.aType, op, storageA(op), op.lda, op.sa));
  all.push_back(op.preshuffle
                    ? packedWeights(op)
                    : matrix("b", BufferRole::input, op.bType, op, storageB(op), op.ldb, op.sb));
  // One scale per 1x128 of a and per 128x128 of b.
  if (auto scale = scales("scale_a", op.aScale, op.m, op.k, 1)) {
    all.push_back(*std::move(scale));
  }
  if (auto scale = scales("scale_b", op.bScale, op.n, op.k, 128)) {
    all.push_back(*std::move(scale));
  }
  addEpilogueTensors(op, all);
  all.push_back(matrix("c", BufferRole::output, op.outType, op, storageC(op), op.ldc, op.sc));
  all.back().accumulates = op.beta != 0;
  return all;
}

double countFlops(const Problem &problem) {
  const Gemm &op = problem.gemm();
  return 2.0 * static_cast<double>(op.m) * static_cast<double>(op.n) * static_cast<double>(op.k) *
         static_cast<double>(op.batch);
}

} // namespace

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

const Operator &gemmOperator() {
  static const Operator row{Family::gemm, "gemm", keys(), read, printKeys, listTensors, countFlops};
  return row;
}

} // namespace kw
