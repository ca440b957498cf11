// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One function a strategy; the rows of strategies() (search/Strategy.cpp) call them. To add one
// write strategies/NAME.cpp, declare it here and add its row.
#pragma once

#include "search/Strategy.h"

namespace kw {

std::unique_ptr<Strategy> makeClimb(const StrategyContext &context);
std::unique_ptr<Strategy> makeExhaustive(const StrategyContext &context);
std::unique_ptr<Strategy> makeRandom(const StrategyContext &context);
std::unique_ptr<Strategy> makeEvolutionary(const StrategyContext &context);

} // namespace kw
