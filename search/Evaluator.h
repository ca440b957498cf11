// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What turns an asked schedule into a trial: experiments implements it with compile, validate,
// simulate and measure in disposable processes; tests with a formula.
#pragma once

#include "search/Trial.h"

#include <span>
#include <vector>

namespace kw {

class Evaluator {
public:
  virtual ~Evaluator() = default;
  /// Answers in the order of `schedules`, one each.
  virtual std::vector<Trial> evaluate(std::span<const Schedule> schedules) = 0;
};

} // namespace kw
