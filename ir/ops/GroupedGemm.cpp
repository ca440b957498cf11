// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Problem text of the grouped product (mixture of experts):
//   groups tokens topk n k  sizes; topk of the groups for each token
//   dtype=bf16 adtype= bdtype= out= acc= scale=     as of gemm
//   b=kn|nk                 weights [groups, k, n] or [groups, n, k]
//   routing=uniform         | zipf:EXPONENT | file:PATH
//   epilogue=STEP,...       of gemm, and swiglu, and weight (the router's, of a row)
//   preshuffle=0            weights packed once (ir/PreshuffledLayout.h)
#include "ir/ops/GroupedGemm.h"

#include "ir/PreshuffledLayout.h"
#include "ir/ops/GemmTypes.h"
#include "ir/support/TextList.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>
#include <numeric>

namespace kw {
namespace {

constexpr std::int64_t mostGroups = 65535; ///< one of a grid's axes could count them
constexpr std::array<std::string_view, 3> routingNames{"uniform", "zipf", "file"};

std::span<const Key> keys() {
  static const std::string types = operandTypeNames();
  static const std::string size(sizeRange);
  static const std::array<Key, 15> all{{
      {"groups", "an integer from 1 to 65535", true},
      {"tokens", size, true},
      {"topk", "an integer from 1 to groups", true},
      {"n", size, true},
      {"k", size, true},
      {"dtype", types},
      {"adtype", types},
      {"bdtype", types},
      {"out", joined(outNames, " ")},
      {"acc", joined(accNames, " ")},
      {"scale", joined(scaleNames, " ")},
      {"b", joined(bOrders, " ")},
      {"routing", "uniform, zipf:X with an exponent from 0, file:PATH"},
      {"epilogue", "a list, joined with commas, of bias silu gelu relu mul add swiglu weight, each "
                   "at most once, and last quant:fp8, quant:bf8 or quant:i8"},
      {"preshuffle", "0 1"},
  }};
  return all;
}

void readRouting(KeyValues &values, GroupedGemm &op) {
  const auto text = values.text("routing");
  if (!text) {
    return;
  }
  const std::size_t colon = text->find(':');
  const auto at = std::ranges::find(routingNames, text->substr(0, colon));
  const std::string_view value =
      colon == std::string_view::npos ? std::string_view() : text->substr(colon + 1);
  if (at == routingNames.end() ||
      (colon != std::string_view::npos) != (at != routingNames.begin())) {
    return values.reject("routing");
  }
  op.routing = static_cast<RoutingKind>(at - routingNames.begin());
  if (op.routing == RoutingKind::zipf) {
    const auto exponent = parseReal(value);
    op.exponent = exponent.value_or(-1) + 0.0;
    if (!(op.exponent >= 0 && op.exponent <= 100)) {
      op.exponent = 0;
      values.reject("routing");
    }
  }
  op.routingFile = op.routing == RoutingKind::file ? std::string(value) : "";
  if (op.routing == RoutingKind::file && value.empty()) {
    values.reject("routing");
  }
}

/// Strides of contiguous operands.
void setStrides(Gemm &product) {
  product.lda = product.k;
  product.ldb = product.bTransposed ? product.k : product.n;
  product.ldc = product.n;
  product.sa = 0; // rows are gathered from the tokens
  product.sb = product.preshuffle ? preshuffledLayout(product).elements() : product.n * product.k;
  product.sc = product.m * product.n;
}

void setHeights(GroupedGemm &op, std::vector<std::int64_t> rows) {
  std::ranges::sort(rows, std::greater<>());
  op.heights.clear();
  op.product.batch = 0;
  for (const std::int64_t height : rows) {
    if (height == 0) {
      break;
    }
    if (op.heights.empty() || op.heights.back().rows != height) {
      op.heights.push_back({height, 0});
    }
    ++op.heights.back().groups;
    ++op.product.batch;
  }
  op.product.m = op.heights.front().rows;
  setStrides(op.product);
}

void checkSizes(KeyValues &values, const GroupedGemm &op) {
  if (op.topk > op.groups) {
    values.complain(
        fmt::format("topk={} is above groups={}; accepted: 1 to groups", op.topk, op.groups));
  }
  if (op.tokens > largestSize / op.topk) {
    values.complain(fmt::format("tokens={} times topk={} is above {}; accepted: fewer rows",
                                op.tokens, op.topk, largestSize));
  }
  const double weights = static_cast<double>(op.groups) * static_cast<double>(op.product.n) *
                         static_cast<double>(op.product.k);
  if (weights * 4 >= static_cast<double>(largestTensorBytes)) {
    values.complain("the sizes give weights of more than 2^50 bytes; accepted: smaller sizes");
  }
  if (op.product.n % op.product.columnsPerResult() != 0) {
    values.complain(fmt::format("swiglu halves n={}; accepted: an even n", op.product.n));
  }
}

Problem read(KeyValues &values) {
  GroupedGemm op;
  op.groups = values.integer("groups", 1, mostGroups, 1);
  op.tokens = values.integer("tokens", 1, largestSize, 1);
  op.topk = values.integer("topk", 1, mostGroups, 1);
  Gemm &product = op.product;
  product.m = 1;
  product.n = values.integer("n", 1, largestSize, 1);
  product.k = values.integer("k", 1, largestSize, 1);
  product.bTransposed = values.choice("b", bOrders, 0) == 1;
  product.preshuffle = values.flag("preshuffle", false);
  readTypes(values, product);
  readEpilogue(values, product, true);
  readResultTypes(values, product);
  readRouting(values, op);
  checkSizes(values, op);
  if (values.complaint()) {
    return Problem{op}; // sizes that may overflow
  }
  setStrides(product);
  if (op.routing != RoutingKind::file) {
    setHeights(op, expectedGroupRows(op));
  }
  return Problem{op};
}

std::string routingText(const GroupedGemm &op) {
  const std::string name(routingNames[static_cast<std::size_t>(op.routing)]);
  return op.routing == RoutingKind::zipf ? name + ":" + formatReal(op.exponent)
                                         : name + ":" + op.routingFile;
}

/// Which rows a group has is data.
void printKeys(const Problem &problem, KeyPrinter &printer, bool compiledOnly) {
  const GroupedGemm &op = problem.groupedGemm();
  printer.add("groups", op.groups);
  if (!compiledOnly) {
    printer.add("tokens", op.tokens);
  }
  printer.add("topk", op.topk);
  printer.add("n", op.product.n);
  printer.add("k", op.product.k);
  printTypes(op.product, printer);
  if (op.product.bTransposed) {
    printer.add("b", "nk");
  }
  if (op.routing != RoutingKind::uniform && !compiledOnly) {
    printer.add("routing", routingText(op));
  }
  if (!op.product.epilogue.empty()) {
    printer.add("epilogue", op.product.epilogueText());
  }
  printer.addUnless("preshuffle", std::int64_t(op.product.preshuffle), 0);
}

Tensor dense(std::string name, BufferRole role, ElementType type, std::vector<std::int64_t> shape) {
  Tensor tensor{std::move(name), role, type, std::move(shape), {}};
  tensor.strides.assign(tensor.shape.size(), 1);
  for (std::size_t i = tensor.shape.size() - 1; i > 0; --i) {
    tensor.strides[i - 1] = tensor.strides[i] * tensor.shape[i];
  }
  return tensor;
}

Tensor weights(const GroupedGemm &op) {
  const Gemm &product = op.product;
  if (product.preshuffle) {
    const PreshuffledLayout layout = preshuffledLayout(product);
    return dense("b", BufferRole::input, product.bType,
                 {op.groups, layout.blocksN(), layout.blocksK(), PreshuffledLayout::groups,
                  PreshuffledLayout::columns, layout.packElements()});
  }
  const auto [outer, inner] =
      product.bTransposed ? std::pair{product.n, product.k} : std::pair{product.k, product.n};
  return dense("b", BufferRole::input, product.bType, {op.groups, outer, inner});
}

/// scale_a belongs to the tokens, scale_b to each group's weights.
void addScales(const GroupedGemm &op, std::vector<Tensor> &all) {
  const Gemm &product = op.product;
  if (auto scale = scaleTensor("scale_a", product.aScale, op.tokens, product.k, 1)) {
    all.push_back(*std::move(scale));
  }
  if (auto scale = scaleTensor("scale_b", product.bScale, product.n, product.k, scaleBlock)) {
    std::vector<std::int64_t> shape = scale->shape;
    shape.insert(shape.begin(), op.groups);
    all.push_back(dense("scale_b", BufferRole::input, scale->type, std::move(shape)));
  }
}

void addEpilogueTensors(const GroupedGemm &op, std::vector<Tensor> &all) {
  const ElementType type =
      bitWidth(op.product.outType) > 8 ? op.product.outType : ElementType::bf16;
  std::string_view auxiliary = "aux";
  for (const EpilogueStep &step : op.product.epilogue) {
    switch (step.kind) {
    case EpilogueKind::bias:
      all.push_back(dense("bias", BufferRole::input, type, {op.groups, op.product.n}));
      break;
    case EpilogueKind::mul:
    case EpilogueKind::add:
      all.push_back(
          dense(std::string(auxiliary), BufferRole::input, type, {op.rows(), op.resultColumns()}));
      auxiliary = "aux2";
      break;
    case EpilogueKind::weight:
      all.push_back(dense("weight", BufferRole::input, ElementType::f32, {op.rows()}));
      break;
    case EpilogueKind::quant:
      all.push_back(dense("scale_c", BufferRole::input, ElementType::f32, {1}));
      break;
    default:
      break;
    }
  }
}

std::vector<Tensor> listTensors(const Problem &problem) {
  const GroupedGemm &op = problem.groupedGemm();
  std::vector<Tensor> all;
  all.push_back(dense("a", BufferRole::input, op.product.aType, {op.tokens, op.product.k}));
  all.push_back(weights(op));
  addScales(op, all);
  all.push_back(dense("ids", BufferRole::input, ElementType::i32, {op.rows()}));
  all.push_back(dense("offsets", BufferRole::input, ElementType::i32, {op.groups + 1}));
  addEpilogueTensors(op, all);
  all.push_back(
      dense("c", BufferRole::output, op.product.outType, {op.rows(), op.resultColumns()}));
  return all;
}

double countFlops(const Problem &problem) {
  const GroupedGemm &op = problem.groupedGemm();
  return 2.0 * static_cast<double>(op.rows()) * static_cast<double>(op.product.n) *
         static_cast<double>(op.product.k);
}

/// Weights, their scales and biases of groups without rows are not read.
double usedShare(const Problem &problem, const Tensor &tensor) {
  const GroupedGemm &op = problem.groupedGemm();
  const bool ofGroups = tensor.name == "b" || tensor.name == "bias" || tensor.name == "scale_b";
  return ofGroups && !op.heights.empty()
             ? static_cast<double>(op.activeGroups()) / static_cast<double>(op.groups)
             : 1;
}

// ---- Expected rows ----

/// Chance of each group, in order, to be among the `topk` of a token: in proportion to its share, 1
/// at most.
std::vector<double> chancesOf(const GroupedGemm &op) {
  std::vector<double> chance(static_cast<std::size_t>(op.groups));
  double left = 0;
  for (std::size_t g = 0; g < chance.size(); ++g) {
    chance[g] = std::pow(static_cast<double>(g + 1), -op.exponent);
    left += chance[g];
  }
  auto topk = static_cast<double>(op.topk);
  std::size_t sure = 0;
  while (sure < chance.size() && topk > 0 && chance[sure] * topk >= left) {
    left -= chance[sure];
    chance[sure++] = 1;
    topk -= 1;
  }
  for (std::size_t g = sure; g < chance.size(); ++g) {
    chance[g] = left > 0 ? chance[g] * topk / left : 0;
  }
  return chance;
}

std::int64_t expectedActive(const GroupedGemm &op, const std::vector<double> &chances) {
  double active = 0;
  for (const double chance : chances) {
    active += 1 - std::pow(1 - chance, static_cast<double>(op.tokens));
  }
  return std::clamp<std::int64_t>(std::llround(active), op.topk, std::min(op.groups, op.rows()));
}

/// Adds (or takes away) until the sum is right, as evenly as the limits let.
void balance(std::vector<std::int64_t> &rows, std::size_t active, std::int64_t wanted,
             std::int64_t most) {
  std::int64_t missing = wanted - std::accumulate(rows.begin(), rows.end(), std::int64_t{0});
  while (missing != 0) {
    const std::int64_t each =
        std::max<std::int64_t>(1, std::abs(missing) / static_cast<std::int64_t>(active));
    for (std::size_t g = 0; g < active && missing != 0; ++g) {
      const std::int64_t step = std::min(each, std::abs(missing));
      const std::int64_t next =
          std::clamp<std::int64_t>(rows[g] + (missing > 0 ? step : -step), 1, most);
      missing -= next - rows[g];
      rows[g] = next;
    }
  }
}

} // namespace

bool GroupedGemm::operator==(const GroupedGemm &other) const {
  const auto identity = [](Gemm product) {
    product.m = product.batch = product.sc = 1;
    return product;
  };
  return groups == other.groups && tokens == other.tokens && topk == other.topk &&
         routing == other.routing && exponent == other.exponent &&
         routingFile == other.routingFile && identity(product) == identity(other.product);
}

std::vector<std::int64_t> expectedGroupRows(const GroupedGemm &op) {
  const std::vector<double> chances = chancesOf(op);
  const std::int64_t active = expectedActive(op, chances);
  const double total = std::accumulate(chances.begin(), chances.begin() + active, 0.0);
  std::vector<std::int64_t> rows(chances.size());
  constexpr double rounding = 1e-6; // of the chances: whole numbers stay whole
  for (std::size_t g = 0; g < static_cast<std::size_t>(active); ++g) {
    const double expected = static_cast<double>(op.rows()) * chances[g] / total;
    rows[g] = std::clamp<std::int64_t>(static_cast<std::int64_t>(expected + rounding), 1, op.tokens);
  }
  balance(rows, static_cast<std::size_t>(active), op.rows(), op.tokens);
  return rows;
}

Expected<void> setGroupRows(GroupedGemm &op, std::span<const std::int64_t> rows) {
  if (rows.size() != static_cast<std::size_t>(op.groups)) {
    return badInput(fmt::format("{} numbers of rows for groups={}; accepted: one a group",
                                rows.size(), op.groups));
  }
  std::int64_t sum = 0;
  for (const std::int64_t height : rows) {
    if (height < 0 || height > op.tokens) {
      return badInput(
          fmt::format("a group of {} rows; accepted: 0 to tokens={}", height, op.tokens));
    }
    sum += height;
  }
  if (sum != op.rows()) {
    return badInput(
        fmt::format("{} rows in all groups; accepted: tokens * topk = {}", sum, op.rows()));
  }
  setHeights(op, {rows.begin(), rows.end()});
  return {};
}

Expected<void> readGroupRows(GroupedGemm &op, std::string_view text) {
  std::vector<std::int64_t> rows;
  for (const std::string_view word : words(text)) {
    const auto height = parseInteger(word);
    if (!height) {
      return badInput("\"" + std::string(word) + "\" is no number of rows; accepted: integers");
    }
    rows.push_back(*height);
  }
  return setGroupRows(op, rows);
}

const Operator &groupedGemmOperator() {
  static const Operator row{Family::groupedGemm, "grouped_gemm", keys(),     read,
                            printKeys,           listTensors,    countFlops, usedShare};
  return row;
}

} // namespace kw
