// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Problem text of attention (forward):
//   b hq hkv sq skv d       required; hkv divides hq
//   dv=d                    head dimension of v and o
//   dtype=bf16              q: f32 f16 bf16 fp8 bf8 (always printed)
//   kvdtype=                k and v; default dtype
//   mask=none               causal | window:W | prefix:P | document:PATH
//   score=none              alibi | softcap:X
//   scale=                  default d^-0.5
//   lse=0 layout=bhsd varlen=PATH page=N sinks=0
#include "ir/ops/Attention.h"

#include "ir/ops/Operator.h"
#include "ir/support/TextList.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>
#include <map>
#include <optional>
#include <set>
#include <span>
#include <tuple>

namespace kw {
namespace {

using enum ElementType;

constexpr std::array<std::string_view, 5> typeNames{"f32", "f16", "bf16", "fp8", "bf8"};
constexpr std::size_t bf16Row = 2;
/// In the order of MaskKind; the last three take a value behind a colon.
constexpr std::array<std::string_view, 5> maskNames{"none", "causal", "window", "prefix",
                                                    "document"};
constexpr std::array<std::string_view, 3> scoreNames{"none", "alibi", "softcap"};
constexpr std::array<std::string_view, 2> layoutNames{"bhsd", "bshd"};

std::span<const Key> keys() {
  static const std::string size(sizeRange);
  static const std::array<Key, 17> all{{
      {"b", size, true},
      {"hq", size, true},
      {"hkv", size, true},
      {"sq", size, true},
      {"skv", size, true},
      {"d", size, true},
      {"dv", size},
      {"dtype", joined(typeNames, " ")},
      {"kvdtype", joined(typeNames, " ")},
      {"mask", "none, causal, window:W or prefix:P with a number of columns from 1, document:PATH"},
      {"score", "none, alibi, softcap:X with a number above 0"},
      {"scale", "a number"},
      {"lse", "0 1"},
      {"layout", joined(layoutNames, " ")},
      {"varlen", "the path of a file of lengths"},
      {"page", "a number of columns from 1"},
      {"sinks", "0 1"},
  }};
  return all;
}

ElementType typeOf(std::string_view text) { return *parseElementType(text); }

/// "window:128" is "window" and "128"; no colon: an empty value.
struct NamedValue {
  std::string_view name, value;
  bool hasValue = false;
};
NamedValue splitAtColon(std::string_view text) {
  const std::size_t colon = text.find(':');
  if (colon == std::string_view::npos) {
    return {text, {}, false};
  }
  return {text.substr(0, colon), text.substr(colon + 1), true};
}

bool readMaskValue(const NamedValue &parts, Attention &op) {
  switch (op.mask) {
  case MaskKind::none:
  case MaskKind::causal:
    return !parts.hasValue;
  case MaskKind::window:
  case MaskKind::prefix: {
    const auto size = parseInteger(parts.value);
    op.maskSize = size.value_or(0);
    return size && *size >= 1 && *size <= largestSize;
  }
  case MaskKind::document:
    op.maskFile = parts.value;
    return !parts.value.empty();
  }
  return false;
}

void readMask(KeyValues &values, Attention &op) {
  const auto text = values.text("mask");
  if (!text) {
    return;
  }
  const NamedValue parts = splitAtColon(*text);
  const auto at = std::ranges::find(maskNames, parts.name);
  if (at == maskNames.end()) {
    return values.reject("mask");
  }
  op.mask = static_cast<MaskKind>(at - maskNames.begin());
  if (!readMaskValue(parts, op)) {
    values.reject("mask");
  }
}

void readScore(KeyValues &values, Attention &op) {
  const auto text = values.text("score");
  if (!text) {
    return;
  }
  const NamedValue parts = splitAtColon(*text);
  const auto at = std::ranges::find(scoreNames, parts.name);
  if (at == scoreNames.end()) {
    return values.reject("score");
  }
  op.score = static_cast<ScoreKind>(at - scoreNames.begin());
  if (op.score != ScoreKind::softcap) {
    return parts.hasValue ? values.reject("score") : void();
  }
  const auto cap = parseReal(parts.value);
  op.softcap = cap.value_or(0);
  if (op.softcap <= 0) {
    values.reject("score");
  }
}

double defaultScale(const Attention &op) { return 1 / std::sqrt(static_cast<double>(op.d)); }

ElementType resultType(ElementType type) { return bitWidth(type) > 8 ? type : bf16; }

void readSizes(KeyValues &values, Attention &op) {
  op.b = values.integer("b", 1, largestSize, 1);
  op.hq = values.integer("hq", 1, largestSize, 1);
  op.hkv = values.integer("hkv", 1, largestSize, 1);
  op.sq = values.integer("sq", 1, largestSize, 1);
  op.skv = values.integer("skv", 1, largestSize, 1);
  op.d = values.integer("d", 1, largestSize, 1);
  op.dv = values.integer("dv", 1, largestSize, op.d);
  if (op.hq % op.hkv != 0) {
    values.complain(
        fmt::format("hq={} is not a multiple of hkv={}; accepted: hkv divides hq", op.hq, op.hkv));
  }
}

/// Before strides are multiplied out: they would overflow.
void checkSizes(KeyValues &values, const Attention &op) {
  const auto rows = [&](std::int64_t heads, std::int64_t sequence) {
    return static_cast<double>(op.b) * static_cast<double>(heads) * static_cast<double>(sequence);
  };
  const double elements = std::max(rows(op.hq, op.sq), rows(op.hkv, op.skv)) *
                          static_cast<double>(std::max(op.d, op.dv));
  if (elements * 4 >= static_cast<double>(largestTensorBytes)) {
    values.complain("the sizes give a tensor of more than 2^50 bytes; accepted: smaller sizes");
  }
}

Problem read(KeyValues &values) {
  Attention op;
  readSizes(values, op);
  checkSizes(values, op);
  op.type = typeOf(typeNames[values.choice("dtype", typeNames, bf16Row)]);
  op.kvType = op.type;
  if (values.has("kvdtype")) {
    op.kvType = typeOf(typeNames[values.choice("kvdtype", typeNames, bf16Row)]);
  }
  op.outType = resultType(op.type);
  readMask(values, op);
  readScore(values, op);
  op.scale = values.real("scale", defaultScale(op)) + 0.0; // -0 is 0: one value, one text
  op.lse = values.flag("lse", false);
  op.layout = static_cast<AttentionLayout>(values.choice("layout", layoutNames, 0));
  op.varlenFile = values.text("varlen").value_or("");
  if (op.varlenFile.empty()) {
    op.lengths = {{op.sq, op.skv, op.b}};
  }
  op.page = values.integer("page", 1, largestSize, 0);
  op.sinks = values.flag("sinks", false);
  return Problem{op};
}

std::string maskText(const Attention &op) {
  const std::string name(maskNames[static_cast<std::size_t>(op.mask)]);
  switch (op.mask) {
  case MaskKind::none:
  case MaskKind::causal:
    return name;
  case MaskKind::document:
    return name + ":" + op.maskFile;
  default:
    return name + ":" + std::to_string(op.maskSize);
  }
}

std::string scoreText(const Attention &op) {
  const std::string name(scoreNames[static_cast<std::size_t>(op.score)]);
  return op.score == ScoreKind::softcap ? name + ":" + formatReal(op.softcap) : name;
}

void printModifiers(const Attention &op, KeyPrinter &printer) {
  if (op.mask != MaskKind::none) {
    printer.add("mask", maskText(op));
  }
  if (op.score != ScoreKind::none) {
    printer.add("score", scoreText(op));
  }
  printer.addUnless("scale", op.scale, defaultScale(op));
  printer.addUnless("lse", std::int64_t(op.lse), 0);
}

/// The layout is a matter of strides, which are arguments.
void printKeys(const Problem &problem, KeyPrinter &printer, bool compiledOnly) {
  const Attention &op = problem.attention();
  if (!compiledOnly) {
    printer.add("b", op.b);
  }
  printer.add("hq", op.hq);
  printer.add("hkv", op.hkv);
  if (!compiledOnly) {
    printer.add("sq", op.sq);
    printer.add("skv", op.skv);
  }
  printer.add("d", op.d);
  printer.addUnless("dv", op.dv, op.d);
  printer.add("dtype", name(op.type));
  if (op.kvType != op.type) {
    printer.add("kvdtype", name(op.kvType));
  }
  printModifiers(op, printer);
  if (op.layout != AttentionLayout::bhsd && !compiledOnly) {
    printer.add("layout", layoutNames[static_cast<std::size_t>(op.layout)]);
  }
  if (!op.varlenFile.empty()) {
    printer.add("varlen", op.varlenFile);
  }
  printer.addUnless("page", op.page, 0);
  printer.addUnless("sinks", std::int64_t(op.sinks), 0);
}

Tensor tensorOf(std::string name, BufferRole role, ElementType type, const Attention &op,
                std::int64_t heads, std::int64_t sequence, std::int64_t dimension) {
  const AttentionStrides strides = attentionStrides(op.layout, heads, sequence, dimension);
  if (op.layout == AttentionLayout::bhsd) {
    return {std::move(name),
            role,
            type,
            {op.b, heads, sequence, dimension},
            {strides.batch, strides.head, strides.sequence, 1}};
  }
  return {std::move(name),
          role,
          type,
          {op.b, sequence, heads, dimension},
          {strides.batch, strides.sequence, strides.head, 1}};
}

std::vector<Tensor> listTensors(const Problem &problem) {
  const Attention &op = problem.attention();
  std::vector<Tensor> all;
  all.push_back(tensorOf("q", BufferRole::input, op.type, op, op.hq, op.sq, op.d));
  all.push_back(tensorOf("k", BufferRole::input, op.kvType, op, op.hkv, op.skv, op.d));
  if (!op.latent()) {
    all.push_back(tensorOf("v", BufferRole::input, op.kvType, op, op.hkv, op.skv, op.dv));
  }
  if (op.page > 0) { // which page of k and v holds a sequence's columns
    const std::int64_t pages = (op.skv + op.page - 1) / op.page;
    all.push_back({"pages", BufferRole::input, i32, {op.b, pages}, {pages, 1}});
  }
  if (op.sinks) {
    all.push_back({"sinks", BufferRole::input, f32, {op.hq}, {1}});
  }
  all.push_back(tensorOf("o", BufferRole::output, op.outType, op, op.hq, op.sq, op.dv));
  if (op.lse) {
    all.push_back(
        {"lse", BufferRole::output, f32, {op.b, op.hq, op.sq}, {op.hq * op.sq, op.sq, 1}});
  }
  return all;
}

/// Sum of n for n = first .. last.
double sumOf(double first, double last) {
  return last < first ? 0 : (last - first + 1) * (first + last) / 2;
}

/// Queries and columns of each document.
double documentPairs(const Attention &op, std::int64_t sq, std::int64_t skv) {
  double pairs = 0;
  std::int64_t begin = 0;
  for (const std::int64_t fileEnd : op.documentEnds) {
    const std::int64_t end = std::min(fileEnd, skv);
    const std::int64_t queries = end - std::max(begin, skv - sq);
    pairs += static_cast<double>(std::max<std::int64_t>(0, queries)) *
             static_cast<double>(std::max<std::int64_t>(0, end - begin));
    begin = end;
  }
  return pairs;
}

/// Pairs of query and column that the mask lets through, of one head and sequence. A document mask
/// that was not read counts as none.
double visiblePairs(const Attention &op, const SequenceLength &length) {
  const auto sq = static_cast<double>(length.queries), skv = static_cast<double>(length.columns);
  const auto size = static_cast<double>(op.maskSize);
  // Query s sees skv - sq + 1 + s columns under a causal mask, none if that is below 1.
  const double first = std::max(1.0, skv - sq + 1);
  switch (op.mask) {
  case MaskKind::causal:
    return sumOf(first, skv);
  case MaskKind::window:
    return sumOf(first, std::min(size, skv)) +
           size * std::max(0.0, skv - std::max(first - 1, std::min(size, skv)));
  case MaskKind::prefix: {
    const double prefix = std::min(size, skv);
    const double beyond = std::max(first, prefix + 1); // from here on a row sees more
    const double longer = std::max(0.0, skv - beyond + 1);
    return sumOf(beyond, skv) + prefix * (sq - longer);
  }
  case MaskKind::document:
    return op.documentEnds.empty() ? sq * skv : documentPairs(op, length.queries, length.columns);
  case MaskKind::none:
    break;
  }
  return sq * skv;
}

/// The two products; the softmax between them isn't counted.
double countFlops(const Problem &problem) {
  const Attention &op = problem.attention();
  double pairs = 0;
  for (const SequenceLength &length : op.lengths) {
    pairs += static_cast<double>(length.count) * visiblePairs(op, length);
  }
  return 2.0 * static_cast<double>(op.hq) * pairs * static_cast<double>(op.d + op.dv);
}

/// Columns that some query of a sequence sees.
std::int64_t seenColumns(const Attention &op, const SequenceLength &length) {
  switch (op.mask) {
  case MaskKind::window:
    return std::min(length.columns, length.queries + op.maskSize - 1);
  case MaskKind::document: {
    const std::int64_t first = std::max<std::int64_t>(0, length.columns - length.queries);
    const auto end = std::ranges::upper_bound(op.documentEnds, first);
    return end == op.documentEnds.begin() ? length.columns
                                          : std::max<std::int64_t>(1, length.columns - *(end - 1));
  }
  default:
    return length.columns;
  }
}

/// Shorter sequences of a batch, and columns that no query sees, are not moved.
double usedShare(const Problem &problem, const Tensor &tensor) {
  const Attention &op = problem.attention();
  const bool ofQueries = tensor.name == "q" || tensor.name == "o" || tensor.name == "lse";
  if (!ofQueries && tensor.name != "k" && tensor.name != "v") {
    return 1;
  }
  double used = 0;
  for (const SequenceLength &length : op.lengths) {
    used += static_cast<double>(length.count) *
            static_cast<double>(ofQueries ? length.queries : seenColumns(op, length));
  }
  return used / (static_cast<double>(op.b) * static_cast<double>(ofQueries ? op.sq : op.skv));
}

} // namespace

bool Attention::operator==(const Attention &other) const {
  const auto identity = [](const Attention &op) {
    return std::tie(op.b, op.hq, op.hkv, op.sq, op.skv, op.d, op.dv, op.type, op.kvType, op.outType,
                    op.mask, op.maskSize, op.maskFile, op.score, op.softcap, op.scale, op.lse,
                    op.layout, op.varlenFile, op.page, op.sinks);
  };
  return identity(*this) == identity(other);
}

Expected<void> readSequenceLengths(Attention &op, std::string_view text) {
  std::map<std::pair<std::int64_t, std::int64_t>, std::int64_t, std::greater<>> counts;
  std::int64_t line = 0, entries = 0;
  for (const std::string_view content : split(text, '\n')) {
    ++line;
    const std::vector<std::string_view> numbers = words(content);
    if (numbers.empty()) {
      continue;
    }
    const auto queries = parseInteger(numbers.front()), columns = parseInteger(numbers.back());
    if (numbers.size() > 2 || !queries || !columns || *queries < 1 || *queries > op.sq ||
        *columns < 1 || *columns > op.skv) {
      return badInput(fmt::format("line {}: accepted: queries from 1 to sq={} and columns from 1 "
                                  "to skv={}, or one number for both",
                                  line, op.sq, op.skv));
    }
    ++counts[{*columns, *queries}];
    ++entries;
  }
  if (entries != op.b) {
    return badInput(fmt::format("{} sequences for b={}; accepted: a line for each", entries, op.b));
  }
  op.lengths.clear();
  for (const auto &[lengths, count] : counts) {
    op.lengths.push_back({lengths.second, lengths.first, count});
  }
  return {};
}

Expected<void> readDocuments(Attention &op, std::string_view text) {
  std::set<std::int64_t> seen;
  std::vector<std::int64_t> ends;
  std::int64_t column = 0, current = 0;
  for (const std::string_view word : words(text)) {
    const auto number = parseInteger(word);
    if (!number) {
      return badInput(quoted(word) + " is no number of a document; accepted: integers");
    }
    if (column == 0 || *number != current) {
      if (!seen.insert(*number).second) {
        return badInput(fmt::format("column {} belongs to document {} again; accepted: columns of "
                                    "a document one behind the other",
                                    column, *number));
      }
      if (column > 0) {
        ends.push_back(column);
      }
      current = *number;
    }
    ++column;
  }
  if (column != op.skv) {
    return badInput(
        fmt::format("{} columns for skv={}; accepted: one number for each", column, op.skv));
  }
  ends.push_back(column);
  op.documentEnds = std::move(ends);
  return {};
}

AttentionStrides attentionStrides(AttentionLayout layout, std::int64_t heads, std::int64_t sequence,
                                  std::int64_t dimension) {
  const std::int64_t batch = heads * sequence * dimension;
  return layout == AttentionLayout::bhsd ? AttentionStrides{batch, sequence * dimension, dimension}
                                         : AttentionStrides{batch, dimension, heads * dimension};
}

const Operator &attentionOperator() {
  static const Operator row{Family::attention, "attention", keys(),     read,
                            printKeys,         listTensors, countFlops, usedShare};
  return row;
}

} // namespace kw
