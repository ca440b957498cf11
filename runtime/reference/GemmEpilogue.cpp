// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/reference/GemmEpilogue.h"

#include "ir/ops/Activation.h"

#include <cassert>
#include <cmath>

namespace kw {
namespace {

constexpr double roundoff = 0x1p-24;     // of f32
constexpr double exactIntegers = 0x1p24; // all below are f32 numbers

/// One element on its way: a kernel's f32 value is within `error` of `value`.
struct Element {
  double value, error;
  bool exact; ///< all before were integers

  /// The operation just done was rounded to f32.
  void round() {
    exact =
        exact && error == 0 && value == std::nearbyint(value) && std::fabs(value) <= exactIntegers;
    error += exact ? 0 : roundoff * (std::fabs(value) + error);
  }
  void add(double other) {
    value += other;
    round();
  }
  void multiply(double other) {
    value *= other;
    error *= std::fabs(other);
    round();
  }
  void activate(double (*function)(double), double slope, double ownError) {
    const double own = ownError * (std::fabs(value) + error);
    value = function(value);
    error = slope * error + own;
    exact = false;
  }
};

void apply(EpilogueKind kind, double other, Element &element) {
  switch (kind) {
  case EpilogueKind::bias:
  case EpilogueKind::add:
    return element.add(other);
  case EpilogueKind::mul:
    return element.multiply(other);
  case EpilogueKind::relu:
    element.value = element.value < 0 ? 0 : element.value;
    return;
  case EpilogueKind::silu:
    return element.activate(silu, siluSlope, siluError);
  case EpilogueKind::gelu:
    return element.activate(gelu, geluSlope, geluError);
  case EpilogueKind::quant:
  case EpilogueKind::swiglu:
  case EpilogueKind::weight:
    break;
  }
  assert(false && "checkReferenceCovers refuses quantised results");
}

} // namespace

void applyEpilogue(const Gemm &gemm, const EpilogueInputs &inputs, std::int64_t columns, bool exact,
                   std::span<double> value, std::span<double> error) {
  for (std::size_t i = 0; i < value.size(); ++i) {
    Element element{value[i], error[i], exact};
    if (gemm.beta != 0) { // one fused multiply-add; beta itself is rounded to f32
      const double term = gemm.beta * inputs.c[i];
      element.error += exact ? 0 : roundoff * std::fabs(term);
      element.add(term);
    }
    for (std::size_t step = 0; step < gemm.epilogue.size(); ++step) {
      const std::vector<double> &aux = inputs.aux[step];
      const std::size_t column = i % static_cast<std::size_t>(columns);
      const bool oneRow = gemm.epilogue[step].kind == EpilogueKind::bias;
      apply(gemm.epilogue[step].kind, aux.empty() ? 0 : aux[oneRow ? column : i], element);
    }
    value[i] = element.value;
    error[i] = element.error;
  }
}

} // namespace kw
