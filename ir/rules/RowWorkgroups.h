// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the rules of families ask that give whole rows to waves (RMSNorm, top-k). A schedule has
// `wavesPerRow`, `rowsPerWorkgroup`, `vectorBytes` and `waves()`.
#pragma once

#include "ir/Target.h"

#include <bit>
#include <cstdint>

namespace kw {

template <typename RowSchedule>
std::int64_t rowWorkItems(std::int64_t rows, const RowSchedule &schedule, const Target &target) {
  const std::int64_t perWorkgroup = schedule.rowsPerWorkgroup;
  return (rows + perWorkgroup - 1) / perWorkgroup * schedule.waves() * target.waveSize;
}

template <typename RowSchedule>
bool rowWavesHold(const RowSchedule &schedule, const Target &target) {
  return std::has_single_bit(static_cast<unsigned>(schedule.wavesPerRow)) &&
         schedule.waves() <= target.maxWavesPerWorkgroup;
}

template <typename RowSchedule> bool rowWidthHolds(const RowSchedule &schedule, int elementBytes) {
  return std::has_single_bit(static_cast<unsigned>(schedule.vectorBytes)) &&
         schedule.vectorBytes >= elementBytes;
}

/// Columns that the other waves of a row take in one load each.
template <typename RowSchedule>
std::int64_t columnsBefore(const RowSchedule &schedule, int elementBytes, const Target &target) {
  return std::int64_t(schedule.wavesPerRow - 1) * target.waveSize *
         (schedule.vectorBytes / elementBytes);
}

} // namespace kw
