// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The activations of epilogues: what they are exactly, how kernels compute them in f32, and how far
// that may be off. Kernels, reference and bounds read the same numbers.
//   silu(x) = x / (1 + e^-x)
//   gelu(x) = x Phi(x) = x/2 (1 + erf(x / sqrt 2)): the exact form, not the one with tanh
#pragma once

#include <array>
#include <cmath>

namespace kw {

inline double silu(double x) { return x / (1 + std::exp(-x)); }
inline double gelu(double x) { return x / 2 * std::erfc(-x * 0.70710678118654752440); }

/// Kernels: x * rcp(1 + exp2(-x log2 e)). |error| <= siluError |x|.
/// [computed: 700,000 points of [-12, 12], reciprocal and exp2 off by up to 2^-23: 2^-21.8]
inline constexpr double siluError = 0x1p-21;

/// Kernels: Phi(-|x|) = t P(t) exp2(-x^2/2 log2 e) with t = rcp(1 + geluShift |x|); Phi(|x|) is 1
/// minus that, so that the negative tail keeps its relative accuracy. |error| <= geluError |x|.
/// P is the minimax polynomial of relative error 2.9e-7 on [0, 9.5]; the same points: 2^-20.8.
inline constexpr double geluError = 0x1p-20;
inline constexpr double geluShift = 0.26;
/// Coefficients of P, constant term first.
inline constexpr std::array<double, 7> geluPolynomial{
    0.10341220304405538,  0.10837495031870267, 0.06786435324456157, 0.17911632130461377,
    -0.12242318277854992, 0.23931870063944768, -0.0756634873157197};

/// Largest derivatives: by how much an error of the argument grows.
inline constexpr double siluSlope = 1.0999, geluSlope = 1.1290;

} // namespace kw
