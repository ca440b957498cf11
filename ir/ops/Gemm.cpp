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
//   epilogue=STEP,...       bias silu gelu relu mul add quant:TYPE, in this order of application,
//   in
//                           f32, rounded once; bias is [n], the first of mul and add takes aux, the
//                           second aux2, dense like c; silu and gelu: ir/ops/Activation.h
//   preshuffle=0            b packed once for the kernel (ir/PreshuffledLayout.h)
#include "ir/ops/Gemm.h"

#include "ir/PreshuffledLayout.h"
#include "ir/ops/GemmTypes.h"
#include "ir/support/TextList.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <optional>

namespace kw {
namespace {

using enum ElementType;
constexpr std::array<std::string_view, 2> aOrders{"mk", "km"};

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
  readEpilogue(values, op, false);
  readResultTypes(values, op);
  readStrides(values, op);
  return Problem{op};
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
  if (auto scale = scaleTensor("scale_a", op.aScale, op.m, op.k, 1)) {
    all.push_back(*std::move(scale));
  }
  if (auto scale = scaleTensor("scale_b", op.bScale, op.n, op.k, scaleBlock)) {
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

const Operator &gemmOperator() {
  static const Operator row{Family::gemm, "gemm", keys(), read, printKeys, listTensors, countFlops};
  return row;
}

} // namespace kw
