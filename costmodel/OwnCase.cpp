// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/OwnCase.h"

#include <algorithm>
#include <cmath>
#include <fmt/format.h>

namespace kw {
namespace {

/// What folds and own runs share by (ModelCase::group), and the size that varies within.
struct Size {
  std::string group;
  double rows = 1;
};

Size sizeOf(const Gemm &p) { return {fmt::format("{}x{}", p.n, p.k), double(p.m)}; }

Size sizeOf(const GroupedGemm &p) {
  // The layer, whichever of its two products this is: model dimension, inner dimension.
  const bool gated = p.product.columnsPerResult() == 2;
  const double rows = double(p.rows()) / double(p.groups);
  return {gated ? fmt::format("{}x{}", p.product.k, p.resultColumns())
                : fmt::format("{}x{}", p.product.n, p.product.k),
          std::max(1.0, rows)};
}

Size sizeOf(const Attention &p) {
  return {fmt::format("{}x{}x{}", p.sq, p.skv, p.d), double(p.sq)};
}

Size sizeOf(const RmsNorm &p) { return {fmt::format("{}", p.cols), double(p.rows)}; }

Size sizeOf(const TopKSelection &p) { return {fmt::format("{}x{}", p.cols, p.k), double(p.rows)}; }

/// Templates of Inductor are other kernels than the published ones in Triton.
std::string generatorName(Generator generator) {
  return generator == Generator::triton ? "inductor_triton" : std::string(name(generator));
}

} // namespace

ModelCase ownCase(const Problem &problem, Generator generator) {
  const Size size = std::visit([](const auto &p) { return sizeOf(p); }, problem.op);
  ModelCase own;
  own.family = std::string(name(problem.family()));
  own.generator = generatorName(generator);
  own.group = size.group;
  own.analytic.timeUs = 1;
  own.features.assign(featureNames().size(), unknownFeature);
  own.features[featureIndex("log_rows")] = float(std::log2(size.rows));
  if (problem.family() == Family::gemm) {
    const Gemm &gemm = problem.gemm();
    own.dtype = typeName(gemm.aType, gemm.bType, gemm.aScale);
  }
  return own;
}

} // namespace kw
