// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/LoopSummary.h"

#include "ir/LoopBuilder.h"
#include "tests/costmodel/Samples.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(LoopSummary, SumsTheOperations) {
  LoopBuilder builder(samples::gfx950(), {4, 1, 4});
  TileOp load{TileOpKind::directLoad};
  load.ahead = 2;
  const int loaded = builder.add(load, {.lds = 8, .vectorMemory = 16, .issue = 8});
  const int barrier = builder.add({TileOpKind::barrier}, {.issue = 4});
  const int first = builder.add({TileOpKind::matrix}, {.matrix = 16, .issue = 4});
  const int second = builder.add({TileOpKind::matrix}, {.matrix = 16, .issue = 4});
  builder.depend(loaded, barrier, 300, 2);
  builder.depend(first, second, 100);
  builder.depend(second, first, 20, 1);
  const LoopTotals loop = builder.totals(LoopOrder::serial);
  const LoopSummary summary = summarise(loop);
  EXPECT_EQ(summary.use.matrix, 32);
  EXPECT_EQ(summary.use.lds, 8);
  EXPECT_EQ(summary.use.vectorMemory, 16);
  EXPECT_EQ(summary.use.issue, 20);
  EXPECT_EQ(summary.barriers, 1);
  EXPECT_EQ(summary.loads, 1);
  EXPECT_EQ(summary.maxAhead, 2);
  EXPECT_GE(summary.recurrence, 120); // first -> second -> first
  EXPECT_EQ(summary.recurrence, loop.recurrenceInterval);
  EXPECT_EQ(summary.length, loop.length);
}
