// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What an attention kernel expects of its caller. Sizes: b sq skv, and per tensor X of q k v o the
// strides X_b X_h X_s in elements (batch, head, sequence); the head dimension is contiguous. lse is
// contiguous, [b, hq, sq].
//
// Workgroup of `main`: WorkgroupMapping's tile m is the row tile, its tile n is (batch * hkv +
// head)
// * splits + split; row tiles come fastest. Of `combine`: `combineRows` rows a workgroup, row =
// (batch * hkv + head) * packedRows + packed row. Workspaces: partial f32 [splits, rows, dv], not
// yet divided by the sum; statistics f32 [splits, rows, 2]: maximum of score * scale * log2(e), and
// sum of 2^(that - maximum).
#pragma once

#include "ir/plans/Plans.h"

namespace kw {

KernelInterface attentionInterface(const Problem &problem, const Schedule &schedule,
                                   const Target &target);
std::vector<std::pair<std::string, std::int64_t>> attentionSizes(const Problem &problem);
std::string attentionStem(const Problem &problem, const Schedule &schedule);

/// Rows that a workgroup of `combine` handles, a wave each.
inline constexpr int combineRows = 4;
/// Queries that the kernels are made for; longer ones are prefill.
inline constexpr std::int64_t mostQueries = 16;
/// A few queries of sequences of equal lengths and heads of which each wave has k and v of its own.
/// Elsewhere (prefill, varlen, wide heads) waves may share them.
inline bool isDecode(const Attention &attention) {
  constexpr std::int64_t widestHead = 128;
  return attention.sq <= mostQueries && attention.d <= widestHead && attention.dv <= widestHead &&
         attention.varlenFile.empty();
}
/// Columns of k and v: positions of a step behind the last one stay below 2^31.
inline constexpr std::int64_t largestColumns = std::int64_t(1) << 30;

} // namespace kw
