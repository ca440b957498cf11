// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The graphs of a top-k's regions. A wave streams its part of a row. What is better than the k-th
// best so far is a candidate; when a wave has 64 of them, they are sorted and merged into its list
// of the best, which lies across the lanes' registers. At the end the waves of a row merge theirs.
//
//   mainLoop   load of a later trip, wait, a comparison an element, ballot and append
//   softmax    a merge of 64 candidates: as many as a row in random order lets expect
//   reduction  lists of the other waves through LDS, merged one after the other
#pragma once

#include "ir/LoopBuilder.h"
#include "ir/plans/Plans.h"

namespace kw {

/// Entries of the list of the best: a power of two from 64 (one a lane) that holds k.
std::int64_t listEntries(const TopKSelection &op);
/// Loads of one lane for its part of a row.
std::int64_t rowTrips(const TopKSelection &op, const TopKSchedule &schedule);
/// Merges of 64 candidates of one wave, expected for columns in random order: of n columns
/// k (1 + ln(n / k)) are better than the k-th best before them.
std::int64_t expectedMerges(const TopKSelection &op, const TopKSchedule &schedule);

UnfinishedLoop topKLoop(const TopKSelection &op, const TopKSchedule &schedule, const Target &target,
                        RegionKind region);

} // namespace kw
