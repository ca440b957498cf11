// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/LoopSummary.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(LoopSummary, SumsTheOperations) {
  LoopGraph loop;
  const auto add = [&](TileOp op, ResourceUse use) {
    loop.order.push_back(boost::add_vertex(LoopVertex{op, use, 0}, loop.graph));
  };
  TileOp load{TileOpKind::directLoad};
  load.ahead = 2;
  add(load, {.lds = 8, .vectorMemory = 16, .issue = 8});
  add({TileOpKind::barrier}, {.issue = 4});
  add({TileOpKind::matrix}, {.matrix = 16, .issue = 4});
  add({TileOpKind::matrix}, {.matrix = 16, .issue = 4});
  loop.recurrenceInterval = 100;
  loop.length = 321;
  loop.maxAhead = 2;
  const LoopSummary summary = summarise(loop);
  EXPECT_EQ(summary.use.matrix, 32);
  EXPECT_EQ(summary.use.lds, 8);
  EXPECT_EQ(summary.use.issue, 20);
  EXPECT_EQ(summary.barriers, 1);
  EXPECT_EQ(summary.loads, 1);
  EXPECT_EQ(summary.maxAhead, 2);
  EXPECT_EQ(summary.recurrence, 100);
  EXPECT_EQ(summary.length, 321);
}
