// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/LoopBuilder.h"

#include <gmock/gmock.h>
#include <random>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

ResourceUse issue(float clocks) {
  ResourceUse use;
  use.issue = clocks;
  return use;
}

TileOp load(TileOperand operand, int ahead) {
  TileOp op{TileOpKind::globalLoad, operand};
  op.ahead = static_cast<std::int16_t>(ahead);
  return op;
}

TileOp waitFor(TileOperand operand, int ahead = 0) {
  TileOp op{TileOpKind::wait, operand};
  op.ahead = static_cast<std::int16_t>(ahead);
  op.pendingVector = 0;
  return op;
}

TEST(LoopBuilder, InOrderIssueBoundsTheInterval) {
  LoopBuilder builder(gfx950(), {});
  builder.add({}, issue(4));
  builder.add({}, issue(8));
  const LoopGraph loop = builder.finish(LoopOrder::serial);
  EXPECT_EQ(loop.recurrenceInterval, 12);
  EXPECT_EQ(loop.length, 12);
  EXPECT_EQ(loop.initiationInterval, 12);
}

TEST(LoopBuilder, RecurrenceIsLatencyOverDistance) {
  // load -> (two iterations later) use -> load: 300 + 4 clocks every 2 iterations.
  LoopBuilder builder(gfx950(), {});
  const int use = builder.add({}, issue(4));
  const int loads = builder.add(load(TileOperand::x, 2), issue(4));
  builder.depend(use, loads, 4);
  builder.depend(loads, use, 300, 2);
  const LoopGraph loop = builder.finish(LoopOrder::serial);
  EXPECT_EQ(loop.recurrenceInterval, 152);
  EXPECT_EQ(maximumCycleRatio(loop.graph), 152);
  EXPECT_EQ(loop.maxAhead, 2);
}

TEST(LoopBuilder, WavesOfAWorkgroupTakeTurns) {
  ResourceUse use;
  use.matrix = 16;
  use.lds = 4;
  use.issue = 4;
  EXPECT_EQ(inStep(use, {8, 1, 4}).matrix, 32);
  EXPECT_EQ(inStep(use, {8, 1, 4}).lds, 32);
  EXPECT_EQ(inStep(use, {2, 1, 4}).matrix, 16);
  EXPECT_EQ(inStep(use, {2, 1, 4}).issue, 4);
  LoopBuilder builder(gfx950(), {8, 1, 4});
  builder.add({TileOpKind::matrix}, use);
  builder.add({TileOpKind::matrix}, use);
  EXPECT_EQ(builder.finish(LoopOrder::serial).recurrenceInterval, 64);
}

TEST(LoopBuilder, DirectLoadsReachLdsLater) {
  ResourceUse use;
  use.lds = 100;
  use.issue = 4;
  LoopBuilder builder(gfx950(), {});
  builder.add({TileOpKind::directLoad, TileOperand::a}, use);
  builder.add({TileOpKind::directLoad, TileOperand::b}, use);
  const LoopGraph loop = builder.finish(LoopOrder::serial);
  EXPECT_EQ(loop.recurrenceInterval, 8);
  EXPECT_EQ(loop.resourceInterval, 200);
}

TEST(LoopBuilder, CountsWhatIsIssuedBehindTheLastNeeded) {
  LoopBuilder builder(gfx950(), {});
  builder.add(waitFor(TileOperand::a), issue(4));
  builder.add(load(TileOperand::a, 1), issue(4));
  builder.add(load(TileOperand::b, 2), issue(4));
  builder.add(waitFor(TileOperand::b), issue(4));
  const LoopGraph loop = builder.finish(LoopOrder::serial);
  EXPECT_EQ(loop.op(0).pendingVector, 1); // b of the last iteration
  EXPECT_EQ(loop.op(3).pendingVector, 4); // two iterations old: a, b of the last, a, b of this
  // Iterations -2 and -1 are the prologue: in iteration -2 only b's load exists.
  EXPECT_EQ(pendingVectorAt(loop, 3, 0, 100, true), 4);
  EXPECT_EQ(pendingVectorAt(loop, 3, -2, 100, true), -1);
  // At the end of three steps, without loads behind the last step.
  EXPECT_EQ(pendingVectorAt(loop, 3, 2, 3, false), 1); // a of step 2, one iteration old
  EXPECT_EQ(pendingVectorAt(loop, 3, 2, 3, true), 4);
}

TEST(LoopBuilder, MaximumCycleRatioOfRandomLoops) {
  std::mt19937 random(7);
  const auto number = [&](int low, int high) {
    return std::uniform_int_distribution(low, high)(random);
  };
  for (int trial = 0; trial < 200; ++trial) {
    LoopBuilder builder(gfx950(), {});
    const int count = number(2, 30);
    for (int vertex = 0; vertex < count; ++vertex) {
      builder.add({}, issue(4.F * number(1, 4)));
    }
    for (int arc = number(0, 20); arc > 0; --arc) {
      const int from = number(0, count - 1), to = number(0, count - 1);
      builder.depend(from, to, number(0, 400), from < to ? number(0, 2) : number(1, 3));
    }
    const LoopGraph loop = builder.finish(LoopOrder::serial);
    EXPECT_DOUBLE_EQ(loop.recurrenceInterval, maximumCycleRatio(loop.graph));
  }
}

TEST(LoopBuilder, PrintsOneLineAnOperation) {
  LoopBuilder builder(gfx950(), {});
  builder.add(waitFor(TileOperand::none), issue(4));
  TileOp op{TileOpKind::matrix};
  op.row = 1;
  op.column = 2;
  op.slice = 3;
  TileOp direct{TileOpKind::directLoad, TileOperand::a};
  direct.ahead = 1;
  builder.add(direct, issue(8));
  builder.add(op, issue(4));
  const std::string text = print(builder.finish(LoopOrder::serial));
  EXPECT_THAT(text, testing::HasSubstr("0 wait vmcnt=0\n"));
  EXPECT_THAT(text, testing::HasSubstr("4 directLoad a piece=0 ahead=1\n"));
  EXPECT_THAT(text, testing::HasSubstr("12 matrix row=1 column=2 slice=3\n"));
  EXPECT_THAT(text, testing::HasSubstr("recurrence 16"));
}

} // namespace
} // namespace kw
