// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What a GEMM kernel expects of its caller: arguments a, b, c, the epilogue's tensors (bias, aux,
// aux2), workspaces (GemmSplit.h), then i32 m, lda, ldb, ldc and i64 sa, sb, sc, of a stream-K grid
// i32 batch, then f32 alpha where it is not 1 and beta where it is not 0; the grid; the sizes and
// strides for which it is right. Along y the grid walks the batch (a stream-K grid does along x):
// one kernel serves every number of products.
#pragma once

#include "ir/plans/Plans.h"

namespace kw {

/// Bytes that an offset within one tile's rows (b=kn: within all of b's columns) may reach: signed
/// 32-bit arithmetic in the kernel.
inline constexpr std::int64_t largestOffset = (std::int64_t(1) << 31) - 1;
/// Workgroups along y that every HIP runtime takes.
inline constexpr std::int64_t largestBatch = 65535;

KernelInterface gemmInterface(const Problem &problem, const Schedule &schedule,
                              const Target &target);
std::vector<std::pair<std::string, std::int64_t>> gemmSizes(const Problem &problem);
std::string gemmStem(const Problem &problem, const Schedule &schedule);

} // namespace kw
