// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How many bytes leave a cache that workgroups share, from which tiles they work on at the same
// time. The resident workgroups walk K in step, so that what one of them has fetched its neighbours
// find: each distinct row of tiles and each distinct column is fetched once. The tiles are
// enumerated through the WorkgroupMapping, not estimated by a closed form.
#pragma once

#include "costmodel/Memo.h"
#include "ir/WorkgroupMapping.h"

#include <cstdint>

namespace kw {

/// Bytes that one workgroup reads, by which coordinate of its tile selects them.
struct SharedBytes {
  double byM = 0;    ///< shared by workgroups with the same row of tiles
  double byN = 0;    ///< ... the same column
  double byBoth = 0; ///< its own
  double byNone = 0; ///< the same for all
};

/// Workgroups `first`, `first + stride`, ... (`window` of them, all within one batch) share a
/// cache. Returns the bytes that a workgroup fetches on average beyond that cache: the least over
/// all prefixes of the window, because a cache that sees more workgroups is not worse off; this
/// makes the model monotonic in the number of CUs. Of a stream-K grid `cacheBytes` decide how far
/// apart in k workgroups may be and still share; others walk K in step.
double bytesBeyondCache(const WorkgroupMapping &mapping, std::int64_t stride, std::int64_t window,
                        const SharedBytes &bytes, double cacheBytes = 0);

/// Memo of the above.
class TileReuse {
public:
  double operator()(const WorkgroupMapping &mapping, std::int64_t stride, std::int64_t window,
                    const SharedBytes &bytes, double cacheBytes = 0);

private:
  Memo<double> memo;
};

} // namespace kw
