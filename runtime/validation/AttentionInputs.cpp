// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/validation/AttentionInputs.h"

#include "runtime/Numbers.h"
#include "runtime/RandomValues.h"

#include <algorithm>
#include <cmath>

namespace kw {
namespace {

constexpr double exactSum = 0x1p24;
/// RandomSource::Kind::normal stays within these.
constexpr double largestNormal = 3.47;
/// Standard deviations of the random set's scores are 2^-1 .. 2^2.
constexpr std::int64_t deviations = 4;
constexpr double largestDeviation = 4;

} // namespace

bool AttentionInputs::exactSums() const {
  return static_cast<double>(op.skv) * largestExactValue < exactSum;
}

double AttentionInputs::largestRandomProducts() const {
  return largestDeviation * largestNormal * largestNormal * std::sqrt(static_cast<double>(op.d)) *
         (1 + 4 * unitRoundoff(op.type));
}

/// Sign vectors of length d agree in d elements with themselves, with another in less than 4.5
/// standard deviations of sqrt(2 d) where two of them are added: the power of two that makes the
/// difference 45, a factor of 2^-65 between weights. In f16 at most 2^13.
double AttentionInputs::selectingFactor() const {
  const auto d = static_cast<double>(op.d);
  const double difference = std::max(1.0, d - 4.5 * std::sqrt(2 * d));
  const double exponent = std::ceil(std::log2(45 / (op.scale * difference)));
  return std::exp2(std::min(exponent, op.type == ElementType::f16 ? 13.0 : 100.0));
}

std::vector<double> AttentionInputs::column(const InputSet &set, Operand operand,
                                            std::int64_t keyHead, std::int64_t column) const {
  const bool keys = operand == Operand::k;
  const std::int64_t length = keys ? op.d : op.dv;
  RandomSource source;
  source.seed = 3 * set.seed + (keys ? 1 : 2);
  source.kind = set.name == "random" ? RandomSource::Kind::normal : RandomSource::Kind::integers;
  source.range = static_cast<std::int64_t>(largestExactValue);
  const auto first = static_cast<std::uint64_t>((keyHead * op.skv + column) * length);
  std::vector<double> values(static_cast<std::size_t>(length));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const bool signs = keys && set.name != "random";
    values[i] = signs ? 1.0 - 2.0 * static_cast<double>(randomBits(source.seed, first + i) & 1)
                      : source.value(first + i);
  }
  return values;
}

std::vector<double> AttentionInputs::selectedQuery(const InputSet &set, std::int64_t batch,
                                                   std::int64_t head, std::int64_t row) const {
  const std::int64_t keyHead = batch * op.hkv + head / op.group();
  const std::int64_t visible = visibleColumns(op, row);
  const auto index = static_cast<std::uint64_t>((batch * op.hq + head) * op.sq + row);
  const std::uint64_t draw = randomBits(3 * set.seed, index);
  std::vector<double> values(static_cast<std::size_t>(op.d), 0);
  const auto add = [&](std::int64_t chosen) {
    const std::vector<double> key = column(set, Operand::k, keyHead, chosen);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += selectingFactor() * key[i];
    }
  };
  if (visible > 0) {
    const auto any = static_cast<std::int64_t>((draw >> 2) % static_cast<std::uint64_t>(visible));
    const std::uint64_t kind = draw & 3;
    add(kind == 0 ? visible - 1 : kind == 1 ? 0 : any);
  }
  if (visible < op.skv) {
    add(visible);
  }
  return values;
}

std::vector<double> AttentionInputs::query(const InputSet &set, std::int64_t batch,
                                           std::int64_t head, std::int64_t row) const {
  if (set.name == "selected") {
    return selectedQuery(set, batch, head, row);
  }
  std::vector<double> values(static_cast<std::size_t>(op.d), 0);
  if (set.name == "uniform") {
    return values;
  }
  RandomSource source;
  source.seed = 3 * set.seed;
  const std::int64_t index = (batch * op.hq + head) * op.sq + row;
  source.scale = largestDeviation / std::ldexp(1.0, static_cast<int>(index % deviations)) /
                 (op.scale * std::sqrt(static_cast<double>(op.d)));
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = source.value(static_cast<std::uint64_t>(index * op.d) + i);
  }
  return values;
}

void AttentionInputs::fillQueries(const InputSet &set, const AttentionBlock &block,
                                  std::uint8_t *q) const {
  const AttentionStrides strides = attentionStrides(op.layout, op.hq, op.sq, op.d);
  for (std::int64_t head = block.head; head < block.head + block.heads; ++head) {
    for (std::int64_t row = block.row; row < block.row + block.rows; ++row) {
      const std::vector<double> values = query(set, block.batch, head, row);
      encodeNumbers(op.type, values.data(), q,
                    block.batch * strides.batch + head * strides.head + row * strides.sequence,
                    op.d);
    }
  }
}

void AttentionInputs::fillHead(const InputSet &set, std::int64_t batch, std::int64_t head,
                               std::uint8_t *k, std::uint8_t *v) const {
  const AttentionStrides keys = attentionStrides(op.layout, op.hkv, op.skv, op.d);
  const AttentionStrides values = attentionStrides(op.layout, op.hkv, op.skv, op.dv);
  const auto first = [&](const AttentionStrides &strides, std::int64_t at) {
    return batch * strides.batch + head * strides.head + at * strides.sequence;
  };
  const std::int64_t keyHead = batch * op.hkv + head;
  for (std::int64_t at = 0; at < op.skv; ++at) {
    encodeNumbers(op.kvType, column(set, Operand::k, keyHead, at).data(), k, first(keys, at), op.d);
    encodeNumbers(op.kvType, column(set, Operand::v, keyHead, at).data(), v, first(values, at),
                  op.dv);
  }
}

} // namespace kw
