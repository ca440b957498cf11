// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The axes of each kind of schedule, one file a kind: which values the search tries. What is legal
// is not decided here but by the rules.
#pragma once

#include "search/Space.h"

namespace kw {

std::vector<Axis> gemmAxes(const Problem &problem, const Target &target);
std::vector<Axis> rmsNormAxes(const Problem &problem, const Target &target);
std::vector<Axis> tritonGemmAxes(const Problem &problem, const Target &target);
std::vector<Axis> attentionAxes(const Problem &problem, const Target &target);
std::vector<Axis> groupedGemmAxes(const Problem &problem, const Target &target);
std::vector<Axis> topKAxes(const Problem &problem, const Target &target);

/// Collects axes by the name of their decision; asserts that the decision exists.
class AxisList {
public:
  explicit AxisList(ScheduleKind kind) : kind(kind) {}
  void add(std::string_view decision, std::vector<std::int64_t> values);
  /// Every name of a decision with names.
  void addNames(std::string_view decision);
  std::vector<Axis> take() { return std::move(axes); }

private:
  int find(std::string_view decision) const;
  ScheduleKind kind;
  std::vector<Axis> axes;
};

/// Vector widths in bytes for rows aligned to `alignment` bytes of elements of `elementBytes`: the
/// widest, half of it where that is below 16, and `direct`, the width of direct loads.
std::vector<std::int64_t> vectorWidths(std::int64_t alignment, int elementBytes, int direct);

} // namespace kw
