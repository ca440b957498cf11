// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/plans/GemmLoop.h"

#include "tests/ir/plans/RandomGemm.h"

#include <algorithm>
#include <boost/range/iterator_range.hpp>
#include <deque>
#include <gmock/gmock.h>
#include <map>
#include <set>
#include <tuple>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

Problem squareProblem(bool bKContiguous = true) {
  Gemm gemm;
  gemm.m = gemm.n = gemm.k = 4096;
  gemm.lda = gemm.ldb = gemm.ldc = 4096;
  gemm.bTransposed = bKContiguous;
  return {gemm};
}

LoopGraph graphOf(const Problem &problem, const GemmSchedule &schedule, RegionKind region) {
  UnfinishedLoop loop = gemmLoop(problem.gemm(), schedule, gfx950(), {region});
  return loop.builder.finish(loop.order);
}

LoopGraph mainLoop(const Problem &problem, const GemmSchedule &schedule) {
  return graphOf(problem, schedule, RegionKind::mainLoop);
}

std::string kinds(const LoopGraph &loop) {
  // One letter an operation, repeats counted.
  constexpr std::string_view letters = "gdwrmvRsWBP";
  std::string text;
  for (std::size_t i = 0, run = 0; i < loop.size(); ++i) {
    ++run;
    if (i + 1 == loop.size() || loop.op(i + 1).kind != loop.op(i).kind) {
      text += letters[static_cast<std::size_t>(loop.op(i).kind)];
      text += run > 1 ? std::to_string(run) : "";
      text += ' ';
      run = 0;
    }
  }
  return text.empty() ? text : text.substr(0, text.size() - 1);
}

// ---- Order --------------------------------------------------------------------------------------

GemmSchedule small(OperandPath a, OperandPath b, int stages, int prefetch) {
  GemmSchedule schedule;
  schedule.tiling = {64, 64, 32, 2, 2, 16, 16, 32}; // a piece each, 2 x 2 fragments, one slice
  schedule.a.path = a;
  schedule.b.path = b;
  schedule.pipeline = {stages, prefetch, LoopOrder::serial};
  return schedule;
}

constexpr OperandPath lds = OperandPath::lds, direct = OperandPath::direct,
                      packed = OperandPath::registers;

TEST(GemmLoop, SerialBodies) {
  const auto body = [](OperandPath a, OperandPath b, int stages, int prefetch) {
    return kinds(mainLoop(squareProblem(), small(a, b, stages, prefetch)));
  };
  EXPECT_EQ(body(direct, direct, 2, 1), "W B d2 r4 m4");
  EXPECT_EQ(body(direct, direct, 1, 0), "B d2 W B r4 m4");
  EXPECT_EQ(body(lds, lds, 2, 1), "W B g2 r4 m4 W w W w");
  EXPECT_EQ(body(lds, lds, 2, 2), "W B W w W w g2 r4 m4");
  EXPECT_EQ(body(lds, lds, 1, 0), "B g2 W w W w W B r4 m4");
  EXPECT_EQ(body(lds, lds, 1, 1), "B W w W w g2 W B r4 m4");
  EXPECT_EQ(body(lds, direct, 3, 2), "W B g d r4 m4 W w");
  // Packed weights: two fragments a wave, loaded ahead, awaited before the products.
  EXPECT_EQ(body(direct, packed, 2, 1), "W B d g2 W r2 m4");
  EXPECT_EQ(body(direct, packed, 1, 0), "B d g2 W2 B r2 m4");
  EXPECT_EQ(body(lds, packed, 2, 2), "W B W w g3 W r2 m4");
}

TEST(GemmLoop, BodiesWithFragmentsReadAhead) {
  const auto body = [](OperandPath a, OperandPath b, int stages, int prefetch, int ahead) {
    GemmSchedule schedule = small(a, b, stages, prefetch);
    schedule.tiling.k = 64; // two slices, two pieces each
    schedule.pipeline.fragmentsAhead = ahead;
    return kinds(mainLoop(squareProblem(), schedule));
  };
  EXPECT_EQ(body(direct, direct, 2, 1, 1), "r4 m4 W B d4 r4 m4");
  EXPECT_EQ(body(direct, direct, 2, 1, 2), "W B d4 r8 m8");
  EXPECT_EQ(body(lds, lds, 2, 2, 1), "W w2 W w2 g4 r4 m4 W B r4 m4");
  EXPECT_EQ(body(lds, lds, 2, 1, 1), "g4 r4 m4 W w2 W w2 W B r4 m4");
}

TEST(GemmLoop, PingPongBody) {
  GemmSchedule schedule;
  schedule.tiling = {64, 128, 64, 2, 4, 16, 16, 32}; // 2 x 2 fragments, two slices
  schedule.pipeline.order = LoopOrder::pingpong;
  schedule.pipeline.priority = true;
  EXPECT_EQ(kinds(mainLoop(squareProblem(), schedule)), "B r4 d3 W B P m4 P B r4 W B P m4 P");
}

/// Both groups as they run: phase t of the workgroup is the group's phase t - role, where a group's
/// phases are what its barriers separate. Everything within a phase happens in any order.
class TwoGroupChecker {
public:
  TwoGroupChecker(const LoopGraph &loop, const Problem &problem, const GemmSchedule &schedule,
                  std::int64_t steps)
      : loop(loop), a(operandTile(problem.gemm(), schedule, TileOperand::a)),
        b(operandTile(problem.gemm(), schedule, TileOperand::b)), stages(schedule.pipeline.stages),
        steps(steps) {}

  void run() {
    for (int group = 0; group < 2; ++group) {
      collect(group);
    }
    for (const auto &[place, use] : uses) {
      const auto &[operand, half, step] = place;
      if (step >= steps) {
        continue; // loaded from an empty buffer, never read
      }
      ASSERT_GE(use.landed, 0);
      ASSERT_LT(use.landed, use.firstRead) << "read before all waves knew it had landed";
      const auto later = uses.find({operand, half, step + stages});
      if (later != uses.end()) {
        ASSERT_LT(use.lastRead, later->second.firstLoad) << "refilled while it is read";
      }
    }
    ASSERT_EQ(barriers[0], barriers[1]) << "some wave waits for ever";
  }

private:
  struct Use {
    std::int64_t firstLoad = 1 << 30, landed = -1, firstRead = 1 << 30, lastRead = -1;
    int group = 0; // of loads that are waited for together
  };

  void collect(int group) {
    std::int64_t phase = 0;
    const auto meet = [&] { ++phase, ++barriers[group]; };
    for (std::int64_t i = -loop.maxAhead; i <= steps; ++i) {
      if (i == 0 && group == 1) {
        meet();
      }
      for (std::size_t p = 0; p < loop.size() && i < steps; ++p) {
        const TileOp &op = loop.op(p);
        const std::int64_t step = i + op.ahead;
        if (step < 0) {
          continue;
        }
        if (op.kind == TileOpKind::barrier) {
          meet();
          continue;
        }
        if (op.kind == TileOpKind::directLoad) {
          Use &use = useOf(op, step);
          use.firstLoad = std::min(use.firstLoad, phase);
          use.group = op.row;
        } else if (op.kind == TileOpKind::ldsRead) {
          Use &use = useOf(op, step);
          use.firstRead = std::min(use.firstRead, phase);
          pending.push_back(&use);
        } else if (op.kind == TileOpKind::wait) {
          arrive(op, step, phase);
        }
      }
    }
    if (group == 0) {
      meet();
    }
  }

  Use &useOf(const TileOp &op, std::int64_t step) {
    const OperandTile &tile = op.operand == TileOperand::a ? a : b;
    const int half =
        op.kind == TileOpKind::ldsRead ? tile.halfOfFragment(op.row) : tile.halfOfPiece(op.piece);
    return uses[{op.operand, half, step}];
  }

  void arrive(const TileOp &wait, std::int64_t step, std::int64_t phase) {
    for (Use *read : pending) {
      read->lastRead = std::max(read->lastRead, phase);
    }
    pending.clear();
    for (auto &[place, use] : uses) {
      if (wait.pendingVector >= 0 && std::get<2>(place) == step && use.group == wait.row) {
        use.landed = std::max(use.landed, phase);
      }
    }
  }

  const LoopGraph &loop;
  OperandTile a, b;
  int stages;
  std::int64_t steps;
  std::int64_t barriers[2] = {0, 0};
  std::map<std::tuple<TileOperand, int, std::int64_t>, Use> uses; // operand, half, step
  std::vector<Use *> pending;
};

TEST(GemmLoop, PingPongGroupsNeverMeetInAStage) {
  RandomGemm random(4);
  int seen = 0;
  for (int trial = 0; trial < 4000 && !HasFatalFailure(); ++trial) {
    const Problem problem = random.problem();
    const GemmSchedule schedule = random.schedule();
    if (schedule.pipeline.order == LoopOrder::pingpong) {
      ++seen;
      SCOPED_TRACE(print(Schedule(schedule)));
      const LoopGraph loop = mainLoop(problem, schedule);
      TwoGroupChecker(loop, problem, schedule, random.number(1, 9)).run();
    }
  }
  EXPECT_GT(seen, 20);
}

TEST(GemmLoop, PingPongTakesTheTimeOfTheSlowerGroupPerPhase) {
  GemmSchedule schedule;
  schedule.tiling = {256, 256, 64, 2, 4, 16, 16, 32};
  schedule.pipeline.order = LoopOrder::pingpong;
  const LoopGraph loop = mainLoop(squareProblem(), schedule);
  // 8 x 4 fragments, 2 slices, 16 clocks, two groups in turns; then four barriers.
  const double matrix = 8 * 4 * 2 * 16 * 2;
  EXPECT_EQ(loop.resourceInterval, matrix);
  EXPECT_GE(loop.recurrenceInterval, matrix);
  EXPECT_LE(loop.recurrenceInterval, matrix + 4 * 100) << print(loop);
}

std::vector<int> waits(const LoopGraph &loop) {
  std::vector<int> all;
  for (std::size_t i = 0; i < loop.size(); ++i) {
    if (loop.op(i).kind == TileOpKind::wait && loop.op(i).pendingVector >= 0) {
      all.push_back(loop.op(i).pendingVector);
    }
  }
  return all;
}

TEST(GemmLoop, VmcntOfHandWorkedBodies) {
  using testing::ElementsAre;
  const auto counts = [](OperandPath a, OperandPath b, int stages, int prefetch) {
    return waits(mainLoop(squareProblem(), small(a, b, stages, prefetch)));
  };
  // Two loads a step in flight for each step of prefetch beyond the first.
  EXPECT_THAT(counts(direct, direct, 2, 1), ElementsAre(0));
  EXPECT_THAT(counts(direct, direct, 3, 2), ElementsAre(2));
  EXPECT_THAT(counts(direct, direct, 1, 0), ElementsAre(0));
  // Wait for a leaves b's load pending.
  EXPECT_THAT(counts(lds, lds, 2, 1), ElementsAre(1, 0));
  EXPECT_THAT(counts(lds, lds, 2, 2), ElementsAre(1, 0));
  // Top: the direct load of step i, one iteration old, nothing behind it. End: the direct load of
  // this iteration stands behind a's.
  EXPECT_THAT(counts(lds, direct, 2, 1), ElementsAre(0, 1));
  // Three stages: the direct load is two iterations old; behind it g and d of the last one.
  EXPECT_THAT(counts(lds, direct, 3, 2), ElementsAre(2, 1));
  // Top: a's load of the last iteration has b's two behind it. Then b's of the last iteration have
  // the three of this one behind them.
  EXPECT_THAT(counts(direct, packed, 2, 1), ElementsAre(2, 3));
}

TEST(GemmLoop, BodiesInQuadrants) {
  GemmSchedule schedule;
  schedule.tiling = {128, 128, 64, 2, 2, 16, 16, 32}; // 4 x 4 fragments, two slices, four pieces
  schedule.pipeline.quadrants = true;
  EXPECT_EQ(kinds(mainLoop(squareProblem(), schedule)), "W B d4 r4 m8 r4 m8 W B d4 r4 m8 r4 m8");
  schedule.tiling.wavesN = 4; // 4 x 2 fragments, two pieces
  schedule.pipeline.order = LoopOrder::pingpong;
  EXPECT_EQ(kinds(mainLoop(squareProblem(), schedule)), "B r8 d W B m8 B r4 d3 W B m8");
  EXPECT_THAT(waits(mainLoop(squareProblem(), schedule)), testing::ElementsAre(4, 4));
}

TEST(GemmLoop, LoadDistanceIsFromTheLoadToItsWait) {
  const auto distance = [](GemmSchedule schedule) {
    UnfinishedLoop loop =
        gemmLoop(squareProblem().gemm(), schedule, gfx950(), {RegionKind::mainLoop, 0, 0});
    return loop.builder.totals(loop.order).loadDistance;
  };
  EXPECT_EQ(distance(small(direct, direct, 2, 1)), 1);
  EXPECT_EQ(distance(small(direct, direct, 3, 2)), 2);
  EXPECT_EQ(distance(small(lds, lds, 2, 1)), 1); // from the top to the end of an iteration
  EXPECT_EQ(distance(small(lds, lds, 2, 2)), 1); // from top to top
  GemmSchedule schedule;
  schedule.tiling = {128, 128, 64, 2, 4, 16, 16, 32};
  schedule.pipeline.fragmentsAhead = 1;
  EXPECT_EQ(distance(schedule), 1);
  schedule.pipeline.fragmentsAhead = 0;
  schedule.pipeline.quadrants = true;
  EXPECT_EQ(distance(schedule), 1.5);
  schedule.pipeline.order = LoopOrder::pingpong;
  EXPECT_EQ(distance(schedule), 1);
  schedule.pipeline.quadrants = false; // of the second cluster's barrier, in the same step
  EXPECT_EQ(distance(schedule), 0.5);
}

TEST(GemmLoop, SerpentineNeighboursShareAnOperand) {
  for (const auto &[rows, columns] : {std::pair(4, 8), std::pair(8, 4), std::pair(1, 3)}) {
    std::set<std::pair<int, int>> seen;
    for (int index = 0; index < rows * columns; ++index) {
      const FragmentPair pair = serpentine(rows, columns, index);
      EXPECT_TRUE(seen.emplace(pair.row, pair.column).second);
      if (index > 0) {
        const FragmentPair before = serpentine(rows, columns, index - 1);
        EXPECT_TRUE((pair.row == before.row) != (pair.column == before.column));
      }
    }
    EXPECT_EQ(seen.size(), std::size_t(rows * columns));
  }
}

TEST(GemmLoop, InterleavedWeavesMemoryBetweenMatrixInstructions) {
  GemmSchedule schedule;
  schedule.tiling = {256, 256, 64, 2, 2, 16, 16, 32};
  schedule.pipeline.order = LoopOrder::interleaved;
  const LoopGraph loop = mainLoop(squareProblem(), schedule);
  std::size_t longestReads = 0, run = 0, loadsBehindMatrix = 0;
  bool matrixSeen = false;
  for (std::size_t i = 0; i < loop.size(); ++i) {
    run = loop.op(i).kind == TileOpKind::ldsRead ? run + 1 : 0;
    longestReads = std::max(longestReads, run);
    matrixSeen |= loop.op(i).kind == TileOpKind::matrix;
    loadsBehindMatrix += matrixSeen && loop.op(i).kind == TileOpKind::directLoad ? 1 : 0;
  }
  EXPECT_LE(longestReads, 6u) << print(loop);
  EXPECT_GE(loadsBehindMatrix, 12u) << "of 16";
  schedule.pipeline.order = LoopOrder::serial;
  EXPECT_LT(loop.initiationInterval, mainLoop(squareProblem(), schedule).initiationInterval);
}

// ---- What must hold of every body ---------------------------------------------------------------

/// Runs the loop as codegen emits it, for one wave; the others are anywhere between the same two
/// barriers. Time is the position in the endless sequence.
class LoopChecker {
public:
  LoopChecker(const LoopGraph &loop, const OperandTile &a, const OperandTile &b, int stages,
              std::int64_t steps)
      : loop(loop), a(a), b(b), stages(stages), steps(steps) {}

  void run() {
    for (std::int64_t i = -loop.maxAhead; i < steps && !failed(); ++i) {
      for (std::size_t p = 0; p < loop.size() && !failed(); ++p, ++now) {
        const std::int64_t step = i + loop.op(p).ahead;
        if (step >= 0) {
          SCOPED_TRACE(testing::Message() << "iteration " << i << " position " << p << "\n"
                                          << print(loop));
          execute(loop.op(p), p, i, step);
        }
      }
      checkStepDone(i);
    }
  }

private:
  using Piece = std::tuple<TileOperand, int>;          // operand, piece
  using Fragment = std::tuple<std::int64_t, int, int>; // step, fragment, slice
  struct Stage {
    std::map<int, std::int64_t> pieces; // step held, per piece
    std::map<int, std::int64_t> landed; // when this wave knew, per piece; -1: not yet
    std::int64_t lastUse = -1;          // when this wave knew that its last read was done
    int reading = 0;                    // reads that it doesn't know to be done
  };
  struct Flight {
    TileOp op;
    std::int64_t step;
  };

  static bool failed() { return testing::Test::HasFatalFailure(); }
  const OperandTile &tile(TileOperand operand) const { return operand == TileOperand::a ? a : b; }
  int halfOf(const TileOp &op) const {
    const OperandTile &moved = tile(op.operand);
    return op.kind == TileOpKind::ldsRead ? moved.halfOfFragment(op.row)
                                          : moved.halfOfPiece(op.piece);
  }
  Stage &stage(const TileOp &op, std::int64_t step) {
    return stagesOf[{op.operand, static_cast<int>(step % stages), halfOf(op)}];
  }

  void overwrite(const TileOp &op, std::int64_t step) {
    Stage &target = stage(op, step);
    ASSERT_TRUE(target.reading == 0 && (target.lastUse < 0 || target.lastUse < lastBarrier))
        << "another wave may still read the stage";
    const auto held = target.pieces.find(op.piece);
    ASSERT_TRUE(held == target.pieces.end() || held->second >= steps || isRead(op, held->second))
        << "overwritten before it was read";
    target.pieces[op.piece] = step;
    target.landed[op.piece] = -1;
  }

  void execute(const TileOp &op, std::size_t position, std::int64_t iteration, std::int64_t step) {
    switch (op.kind) {
    case TileOpKind::directLoad:
      overwrite(op, step);
      inFlight.push_back({op, step});
      break;
    case TileOpKind::globalLoad:
      if (tile(op.operand).layout.path == packed) {
        const auto [at, isNew] = fragments.emplace(Fragment{step, op.row, op.slice}, false);
        ASSERT_TRUE(isNew) << "loaded twice";
        inFlight.push_back({op, step});
        break;
      }
      ASSERT_FALSE(staging.contains({op.operand, op.piece})) << "staging registers still in use";
      staging[{op.operand, op.piece}] = {step, false};
      inFlight.push_back({op, step});
      break;
    case TileOpKind::ldsWrite: {
      const auto at = staging.find({op.operand, op.piece});
      ASSERT_TRUE(at != staging.end() && at->second.first == step && at->second.second)
          << "written before its load has landed";
      staging.erase(at);
      overwrite(op, step);
      writes.push_back({op, step});
      break;
    }
    case TileOpKind::wait:
      wait(op, position, iteration);
      break;
    case TileOpKind::barrier:
      lastBarrier = now;
      break;
    case TileOpKind::ldsRead:
      read(op, step);
      break;
    case TileOpKind::matrix:
      multiply(op, step);
      break;
    case TileOpKind::priority:
      ASSERT_NE(raised, op.row == 1);
      raised = op.row == 1;
      break;
    default:
      FAIL() << "unexpected operation";
    }
  }

  void wait(const TileOp &op, std::size_t position, std::int64_t iteration) {
    if (op.pendingVector >= 0) {
      const int exact = pendingVectorAt(loop, position, iteration, steps, true);
      const int pending = std::min(exact, gfx950().maxVmcnt);
      if (iteration >= loop.maxAhead) { // the steady state
        ASSERT_EQ(pending, op.pendingVector);
      }
      // Exact: one more pending would leave a load outstanding that is needed.
      const std::int64_t step = iteration + op.ahead;
      const auto isNeeded = [&](const Flight &flight) {
        return flight.step == step &&
               (op.operand == TileOperand::none
                    ? flight.op.kind == TileOpKind::directLoad && flight.op.row == op.row
                    : flight.op.operand == op.operand);
      };
      const std::size_t oldest = inFlight.size() - std::min<std::size_t>(pending, inFlight.size());
      if (pending == exact && pending >= 0 && oldest > 0) {
        ASSERT_TRUE(isNeeded(inFlight[oldest - 1])) << "vmcnt(" << pending << ") is too strict";
      }
      while (pending >= 0 && inFlight.size() > std::size_t(pending)) {
        land(inFlight.front());
        inFlight.pop_front();
      }
      ASSERT_TRUE(std::ranges::none_of(inFlight, isNeeded)) << "vmcnt is too lax";
    }
    if (op.pendingLds == 0) {
      for (const Flight &write : writes) {
        land(write);
      }
      writes.clear();
      for (auto &[key, source] : reading) {
        finishRead(*source);
      }
      reading.clear();
    }
  }

  void finishRead(Stage &source) {
    --source.reading;
    source.lastUse = now;
  }

  /// Every fragment of the half that a load fills.
  bool isRead(const TileOp &load, std::int64_t step) {
    const OperandTile &moved = tile(load.operand);
    const int half = halfOf(load);
    const auto count =
        std::ranges::count_if(readOf[{load.operand, step}], [&](const auto &fragmentAndSlice) {
          return moved.halfOfFragment(fragmentAndSlice.first) == half;
        });
    return count == moved.fragments / moved.halves * moved.slices;
  }

  void land(const Flight &flight) {
    if (tile(flight.op.operand).layout.path == packed) {
      fragments.at({flight.step, flight.op.row, flight.op.slice}) = true;
      return;
    }
    if (flight.op.kind == TileOpKind::globalLoad) {
      staging[{flight.op.operand, flight.op.piece}].second = true;
      return;
    }
    Stage &target = stage(flight.op, flight.step);
    if (target.pieces[flight.op.piece] == flight.step) {
      target.landed[flight.op.piece] = now;
    }
  }

  void read(const TileOp &op, std::int64_t step) {
    Stage &source = stage(op, step);
    const OperandTile &moved = tile(op.operand);
    for (int piece = 0; piece < moved.pieces; ++piece) {
      if (moved.halfOfPiece(piece) != halfOf(op)) {
        continue;
      }
      ASSERT_TRUE(source.pieces.contains(piece) && source.pieces[piece] == step);
      ASSERT_TRUE(source.landed[piece] >= 0 && source.landed[piece] < lastBarrier)
          << "read before a wait and a barrier";
    }
    ASSERT_TRUE((readOf[{op.operand, step}].emplace(op.row, op.slice).second)) << "read twice";
    ++source.reading;
    reading[{op.operand, step, op.row, op.slice}] = &source;
  }

  void use(TileOperand operand, int fragment, int slice, std::int64_t step) {
    ASSERT_TRUE((readOf[{operand, step}].contains({fragment, slice})));
    if (const auto at = reading.find({operand, step, fragment, slice}); at != reading.end()) {
      finishRead(*at->second);
      reading.erase(at);
    }
  }

  void multiply(const TileOp &op, std::int64_t step) {
    use(TileOperand::a, op.row, op.slice, step);
    if (b.layout.path == packed) {
      const auto fragment = fragments.find({step, op.column, op.slice});
      ASSERT_TRUE(fragment != fragments.end() && fragment->second) << "used before it has landed";
    } else {
      use(TileOperand::b, op.column, op.slice, step);
    }
    ASSERT_TRUE(products.emplace(op.row, op.column, op.slice).second);
  }

  void checkStepDone(std::int64_t iteration) {
    ASSERT_FALSE(raised) << "priority stays raised";
    if (iteration >= 0) {
      ASSERT_EQ(products.size(), std::size_t(a.fragments) * b.fragments * a.slices);
      products.clear();
    }
  }

  const LoopGraph &loop;
  const OperandTile &a, &b;
  int stages;
  std::int64_t steps;
  std::int64_t now = 0, lastBarrier = -1;
  std::map<std::tuple<TileOperand, int, int>, Stage> stagesOf; // operand, stage, half
  std::map<Piece, std::pair<std::int64_t, bool>> staging;      // step, landed
  std::map<Fragment, bool> fragments;                          // of packed weights: landed
  std::deque<Flight> inFlight;
  std::vector<Flight> writes;
  std::map<std::pair<TileOperand, std::int64_t>, std::set<std::pair<int, int>>> readOf;
  std::map<std::tuple<TileOperand, std::int64_t, int, int>, Stage *> reading;
  bool raised = false;
  std::set<std::tuple<int, int, int>> products;
};

TEST(GemmLoop, RandomBodiesKeepEveryDependence) {
  RandomGemm random(1);
  for (int trial = 0; trial < 400 && !HasFatalFailure(); ++trial) {
    const Problem problem = random.problem();
    const GemmSchedule schedule = random.schedule();
    SCOPED_TRACE(print(problem) + "  " + print(Schedule(schedule)));
    const LoopGraph loop = mainLoop(problem, schedule);
    const OperandTile a = operandTile(problem.gemm(), schedule, TileOperand::a);
    const OperandTile b = operandTile(problem.gemm(), schedule, TileOperand::b);
    LoopChecker(loop, a, b, schedule.pipeline.stages, random.number(1, 9)).run();
  }
}

TEST(GemmLoop, RandomGraphsAreConsistent) {
  RandomGemm random(2);
  for (int trial = 0; trial < 200; ++trial) {
    const Problem problem = random.problem();
    const GemmSchedule schedule = random.schedule();
    SCOPED_TRACE(print(problem) + "  " + print(Schedule(schedule)));
    const LoopGraph loop = mainLoop(problem, schedule);
    std::vector<std::size_t> positionOf(loop.size());
    for (std::size_t i = 0; i < loop.size(); ++i) {
      positionOf[loop.order[i]] = i;
    }
    const auto edges = boost::edges(loop.graph);
    for (const auto &edge : boost::make_iterator_range(edges.first, edges.second)) {
      const auto from = boost::source(edge, loop.graph), to = boost::target(edge, loop.graph);
      const LoopEdge &weight = loop.graph[edge];
      if (weight.distance == 0) {
        ASSERT_LT(positionOf[from], positionOf[to]);
        ASSERT_GE(loop.graph[to].slot, loop.graph[from].slot + weight.latency);
      }
    }
    EXPECT_GE(loop.length, loop.graph[loop.order.back()].slot);
    EXPECT_EQ(loop.initiationInterval, std::max(loop.resourceInterval, loop.recurrenceInterval));
    EXPECT_LE(loop.maxAhead, schedule.pipeline.stages);
    if (schedule.pipeline.order != LoopOrder::pingpong) { // there of two groups, not of this graph
      EXPECT_DOUBLE_EQ(loop.recurrenceInterval, maximumCycleRatio(loop.graph));
    }
  }
}

TEST(GemmLoop, TotalsAreThoseOfTheGraph) {
  RandomGemm random(3);
  for (int trial = 0; trial < 100; ++trial) {
    const Problem problem = random.problem();
    const GemmSchedule schedule = random.schedule();
    for (const RegionKind region :
         {RegionKind::prologue, RegionKind::mainLoop, RegionKind::epilogue}) {
      const LoopGraph loop = graphOf(problem, schedule, region);
      UnfinishedLoop again = gemmLoop(problem.gemm(), schedule, gfx950(), {region});
      const LoopTotals totals = again.builder.totals(again.order);
      EXPECT_EQ(totals.recurrenceInterval, loop.recurrenceInterval);
      EXPECT_EQ(totals.length, loop.length);
      EXPECT_EQ(totals.maxAhead, loop.maxAhead);
      int barriers = 0, loads = 0;
      for (std::size_t i = 0; i < loop.size(); ++i) {
        barriers += loop.op(i).kind == TileOpKind::barrier ? loop.op(i).count : 0;
        loads +=
            loop.op(i).kind == TileOpKind::globalLoad || loop.op(i).kind == TileOpKind::directLoad;
      }
      EXPECT_EQ(totals.barriers, barriers);
      EXPECT_EQ(totals.loads, loads);
    }
  }
}

// ---- Intervals ----------------------------------------------------------------------------------

TEST(GemmLoop, MatrixInstructionsBoundALargeTile) {
  GemmSchedule schedule;
  schedule.tiling = {256, 256, 64, 2, 4, 16, 16, 32};
  schedule.pipeline.order = LoopOrder::interleaved;
  const LoopGraph loop = mainLoop(squareProblem(), schedule);
  // 8 x 4 fragments, 2 slices, 16 clocks, 2 waves a SIMD.
  EXPECT_EQ(loop.resourceInterval, 8 * 4 * 2 * 16 * 2);
  EXPECT_GE(loop.recurrenceInterval, loop.resourceInterval);
}

TEST(GemmLoop, ConflictsOccupyLds) {
  GemmSchedule schedule;
  schedule.tiling = {128, 128, 64, 2, 2, 16, 16, 32};
  const auto ldsClocks = [&](LdsLayout layout) {
    schedule.a.layout = schedule.b.layout = layout;
    const LoopGraph loop = mainLoop(squareProblem(), schedule);
    double sum = 0;
    for (const auto vertex : loop.order) {
      sum += loop.graph[vertex].op.kind == TileOpKind::ldsRead ? loop.graph[vertex].use.lds : 0;
    }
    return sum;
  };
  EXPECT_EQ(ldsClocks(LdsLayout::swizzle), 16 * 4);
  EXPECT_EQ(ldsClocks(LdsLayout::plain), 16 * 16);
}

TEST(GemmLoop, PrefetchHidesMemoryLatency) {
  GemmSchedule schedule = small(direct, direct, 1, 0);
  const auto interval = [&](int stages) {
    schedule.pipeline = {stages, stages - 1, LoopOrder::serial};
    return mainLoop(squareProblem(), schedule).recurrenceInterval;
  };
  EXPECT_GT(interval(1), interval(2));
  EXPECT_GT(interval(2), interval(3));
  EXPECT_GT(interval(1), gfx950().l2LatencyCycles);
}

TEST(GemmLoop, ResidentWorkgroupsShareThePipes) {
  ResourceUse use;
  use.matrix = 100;
  use.lds = 30;
  EXPECT_EQ(resourceInterval(use, {4, 1, 4}), 120); // LDS: 4 waves
  EXPECT_EQ(resourceInterval(use, {4, 3, 4}), 360);
  EXPECT_EQ(resourceInterval(use, {1, 1, 4}), 100); // a matrix pipe of its own
  EXPECT_EQ(resourceInterval(use, {8, 1, 4}), 240);
}

TEST(GemmLoop, PrologueIsTheBodyBeforeStepZero) {
  const auto prologue = [](OperandPath a, OperandPath b, int stages, int prefetch) {
    return kinds(graphOf(squareProblem(), small(a, b, stages, prefetch), RegionKind::prologue));
  };
  EXPECT_EQ(prologue(direct, direct, 1, 0), "v");
  EXPECT_EQ(prologue(direct, direct, 2, 1), "v d2");
  EXPECT_EQ(prologue(direct, direct, 3, 2), "v d4");
  EXPECT_EQ(prologue(lds, lds, 2, 1), "v g2 W w W w");
  EXPECT_EQ(prologue(lds, lds, 2, 2), "v g2 W w W w g2");
}

TEST(GemmLoop, EpilogueStoresEveryFragment) {
  GemmSchedule schedule = small(direct, direct, 2, 1);
  schedule.epilogue = EpiloguePath::swap;
  const LoopGraph loop = graphOf(squareProblem(), schedule, RegionKind::epilogue);
  EXPECT_EQ(kinds(loop), "v s v s v s v s");
  EXPECT_EQ(loop.op(1).count, 1);
}

/// A pass of 16 rows of 64 columns has 16 registers a lane: four writes of four (rounded to 8
/// bytes), two reads and stores of 16 bytes.
TEST(GemmLoop, RowEpilogueOverlapsPasses) {
  GemmSchedule schedule = small(direct, direct, 2, 1);
  schedule.tiling.m = 64;
  schedule.tiling.n = 128;
  schedule.tiling.wavesM = 2;
  schedule.tiling.wavesN = 2;
  schedule.epilogue = EpiloguePath::lds;
  const LoopGraph rounded = graphOf(squareProblem(), schedule, RegionKind::epilogue);
  EXPECT_EQ(kinds(rounded), "B v w r v w r s2");
  EXPECT_EQ(rounded.op(2).count, 4);
  EXPECT_EQ(rounded.op(3).count, 2);
  EXPECT_EQ(rounded.op(7).count, 2);
  Problem added = squareProblem();
  std::get<Gemm>(added.op).beta = 1;
  const LoopGraph sums = graphOf(added, schedule, RegionKind::epilogue);
  EXPECT_EQ(kinds(sums), "B g w r g w r v s v s");
  EXPECT_EQ(sums.op(3).count, 4); // two reads for the eight elements of a store
  schedule.mapping.grid = GridKind::persistent;
  EXPECT_EQ(kinds(graphOf(added, schedule, RegionKind::epilogue)), "B g w r g w r v s v s B");
}

} // namespace
} // namespace kw
