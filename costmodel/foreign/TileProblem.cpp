// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/TileProblem.h"

#include "costmodel/Constants.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

struct TypeRow {
  std::string_view text;
  ElementType type;
};
/// i4 and nvfp4 weights stand for any 4 bits: they are widened before they are multiplied.
constexpr std::array<TypeRow, 18> typeRows{{{"bf16", ElementType::bf16},
                                            {"bfloat16", ElementType::bf16},
                                            {"float8_e4m3fn", ElementType::fp8},
                                            {"f16", ElementType::f16},
                                            {"fp16", ElementType::f16},
                                            {"f32", ElementType::f32},
                                            {"fp32", ElementType::f32},
                                            {"fp8", ElementType::fp8},
                                            {"bf8", ElementType::bf8},
                                            {"mxfp8", ElementType::fp8},
                                            {"i8", ElementType::i8},
                                            {"int8", ElementType::i8},
                                            {"fp6", ElementType::fp6},
                                            {"fp4", ElementType::fp4},
                                            {"mxfp4", ElementType::fp4},
                                            {"i4", ElementType::fp4},
                                            {"int4", ElementType::fp4},
                                            {"nvfp4", ElementType::fp4}}};

struct ScaleRow {
  std::string_view text;
  ScaleMode scale;
};
constexpr std::array<ScaleRow, 12> scaleRows{{{"", ScaleMode::none},
                                              {"No", ScaleMode::none},
                                              {"none", ScaleMode::none},
                                              {"rowwise", ScaleMode::row},
                                              {"per_Token", ScaleMode::row},
                                              {"tensor", ScaleMode::tensor},
                                              {"per_Tensor", ScaleMode::tensor},
                                              {"1x128_128x128", ScaleMode::block128},
                                              {"per_1x128", ScaleMode::block128},
                                              {"mx_1x128", ScaleMode::block128},
                                              {"mx1x32", ScaleMode::mx},
                                              {"per_1x32", ScaleMode::mx}}};

Expected<ScaleMode> scaleOf(const std::string &text) {
  const auto *row = std::ranges::find(scaleRows, std::string_view(text), &ScaleRow::text);
  return row != scaleRows.end() ? Expected<ScaleMode>(row->scale)
                                : badInput(fmt::format("scale={}: no such scale", text));
}

Expected<void> readTypes(const MeasuredRow &row, TileProblem &problem) {
  const auto a = elementTypeOf("dtype_a", row.typeA), b = elementTypeOf("dtype_b", row.typeB);
  const auto out = elementTypeOf("dtype_out", row.typeOut.empty() ? "bf16" : row.typeOut);
  const auto scale = scaleOf(row.scale);
  for (const auto *type : {&a, &b, &out}) {
    if (!*type) {
      return tl::unexpected(type->error());
    }
  }
  if (!scale) {
    return tl::unexpected(scale.error());
  }
  problem.a = *a;
  problem.b = *b;
  problem.out = *out;
  problem.scale = *scale;
  return {};
}

/// Bytes of scales per element of an operand.
double scaleBytesPerElement(ScaleMode scale) {
  constexpr double floatBytes = 4, mxElements = 32, blockElements = 128;
  return scale == ScaleMode::mx         ? 1 / mxElements
         : scale == ScaleMode::block128 ? floatBytes / blockElements
                                        : 0;
}

/// P(X = x) of a binomial, from x = 0 up, until 1e-12 of it is left or `most` is reached.
template <typename Visit>
void forEachBinomial(double trials, double probability, double most, Visit &&visit) {
  const double logOdds = std::log(probability) - std::log1p(-probability);
  const double mean = trials * probability, deviation = std::sqrt(mean * (1 - probability)) + 1;
  const auto first = std::max(0.0, std::floor(mean - 8 * deviation));
  const auto last = std::min({trials, most, std::ceil(mean + 8 * deviation)});
  for (double x = first; x <= last; ++x) {
    const double log = std::lgamma(trials + 1) - std::lgamma(x + 1) - std::lgamma(trials - x + 1) +
                       x * logOdds + trials * std::log1p(-probability);
    visit(x, std::exp(log));
  }
}

} // namespace

Expected<ElementType> elementTypeOf(std::string_view column, const std::string &text) {
  const auto *row = std::ranges::find(typeRows, std::string_view(text), &TypeRow::text);
  return row != typeRows.end() ? Expected<ElementType>(row->type)
                               : badInput(fmt::format("{}={}: no such type", column, text));
}

RowTiles rowTiles(const TileProblem &problem, int height) {
  if (!problem.grouped) {
    const double tiles = problem.products * std::ceil(problem.rows / height);
    return {tiles, problem.products * problem.rows / tiles};
  }
  // Beyond some tiles an expert, half a tile is wasted on average: no need to sum.
  constexpr double manyTiles = 16;
  const double mean = problem.routed / problem.experts;
  double tiles = problem.routed / height + problem.experts / 2;
  if (problem.experts > 1 && mean < manyTiles * height) {
    tiles = 0;
    forEachBinomial(problem.routed, 1 / problem.experts, 4e6, [&](double rows, double probability) {
      tiles += problem.experts * probability * std::ceil(rows / height);
    });
  } else if (problem.experts <= 1) {
    tiles = std::ceil(problem.routed / height);
  }
  tiles = std::max(1.0, tiles);
  return {tiles, problem.routed / tiles};
}

ProblemFacts problemFacts(const TileProblem &problem) {
  const double scales = scaleBytesPerElement(problem.scale);
  const double bytesA = bitWidth(problem.a) / 8.0 + (bitWidth(problem.a) < 16 ? scales : 0);
  const double bytesB = bitWidth(problem.b) / 8.0 + (problem.scale == ScaleMode::mx ? scales : 0);
  const double rows = problem.products * problem.rows;
  const double n = double(problem.n), k = double(problem.k);
  ProblemFacts facts;
  facts.flops = problem.flops();
  facts.inputBytes =
      (problem.readsA > 0 ? problem.readsA : rows * k * bytesA) + problem.products * n * k * bytesB;
  facts.compulsoryBytes =
      facts.inputBytes + rows * n / (problem.gated ? 2 : 1) * bitWidth(problem.out) / 8;
  const bool widened = bitWidth(problem.a) == 16;
  facts.matrixType = widened ? problem.a : problem.b;
  return facts;
}

Expected<TileProblem> gemmProblem(const MeasuredRow &row) {
  TileProblem problem;
  if (const auto read = readTypes(row, problem); !read) {
    return tl::unexpected(read.error());
  }
  problem.n = row.gemm.n;
  problem.k = row.gemm.k;
  problem.rows = static_cast<double>(row.gemm.m);
  problem.products = static_cast<double>(row.gemm.batch);
  problem.preshuffled = row.gemm.preshuffle;
  return problem;
}

Expected<TileProblem> moeProblem(const MeasuredRow &row, int stage) {
  TileProblem problem;
  if (const auto read = readTypes(row, problem); !read) {
    return tl::unexpected(read.error());
  }
  const MoeRow &moe = row.moe;
  const auto tokens = static_cast<double>(moe.tokens), experts = static_cast<double>(moe.experts);
  const double topk = std::min(static_cast<double>(moe.topk), experts);
  problem.grouped = true;
  problem.preshuffled = true;
  problem.experts = experts;
  problem.routed = tokens * topk;
  // A token picks topk different experts, each as likely as the others.
  problem.products = std::max(1.0, -experts * std::expm1(tokens * std::log1p(-topk / experts)));
  if (topk >= experts) {
    problem.products = experts;
  }
  problem.rows = problem.routed / problem.products;
  const double bytesA = bitWidth(problem.a) / 8.0;
  if (stage == 1) {
    problem.gated = moe.gated;
    problem.n = moe.interDim * (moe.gated ? 2 : 1);
    problem.k = moe.modelDim;
    problem.readsA = tokens * static_cast<double>(moe.modelDim) * bytesA;
  } else {
    problem.n = moe.modelDim;
    problem.k = moe.interDim;
    problem.rowsPerResult = topk;
  }
  return problem;
}

} // namespace kw
