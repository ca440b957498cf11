// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/AttentionLayout.h"

#include "ir/Decision.h"
#include "ir/Problem.h"

#include <algorithm>
#include <array>
#include <gtest/gtest.h>
#include <set>

namespace kw {
namespace {

struct Case {
  Attention op;
  AttentionSchedule schedule;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const int d : {64, 128}) {
    for (const int size : {16, 32}) {
      for (const int columns : {32, 64, 128}) {
        for (const OperandPath path : {OperandPath::lds, OperandPath::direct}) {
          for (const LdsLayout layout :
               {LdsLayout::plain, LdsLayout::swizzle, LdsLayout::padding}) {
            Case each;
            each.op = parseProblem("attention b=1 hq=8 hkv=1 sq=1 skv=4096 d=" + std::to_string(d))
                          ->attention();
            each.schedule.tiling = {32, columns, size, size, 512 / size};
            each.schedule.k = each.schedule.v = {path, layout, 16};
            all.push_back(each);
          }
        }
      }
    }
  }
  return all;
}

TEST(AttentionLayout, RowsOfKAreAPermutationOfColumns) {
  for (const int size : {16, 32}) {
    std::set<int> seen;
    for (int fragment = 0; fragment < 128 / size; ++fragment) {
      for (int row = 0; row < size; ++row) {
        seen.insert(keyColumn(size, fragment, row));
      }
    }
    EXPECT_EQ(seen.size(), 128u);
    EXPECT_EQ(*seen.rbegin(), 127);
  }
}

/// The accumulator of the first product is the operand of the second: slice s of P in a lane group
/// g holds columns s * mfmaK + 8 g .. + 7, as the instruction's k order wants it.
TEST(AttentionLayout, ScoresAreTheSecondProductsOperand) {
  for (const int size : {16, 32}) {
    const int fragmentK = 512 / size;
    for (int reg = 0; reg < 128 * size / 64; ++reg) {
      for (int lane = 0; lane < 64; ++lane) {
        EXPECT_EQ(scoreColumn(size, reg, lane), reg / 8 * fragmentK + lane / size * 8 + reg % 8);
      }
    }
  }
}

/// What is loaded and laid down is what fragments find, element by element.
TEST(AttentionLayout, FragmentsFindWhatWasLoaded) {
  for (const Case &each : cases()) {
    for (const TileOperand operand : {TileOperand::k, TileOperand::v}) {
      const KvTile tile = kvTile(each.op, each.schedule, operand);
      std::vector<int> lds(tile.stageBytes() / 2, -1); // 2-byte element: column * 1000 + element
      for (int piece = 0; piece < tile.pieces; ++piece) {
        for (int lane = 0; lane < 64; ++lane) {
          const TilePosition from = kvLoadedPosition(tile, piece, lane);
          const std::int64_t to = kvStagedAddress(tile, piece, lane);
          for (int i = 0; i < tile.vectorBytes / 2; ++i) {
            int &cell = lds.at(to / 2 + i);
            ASSERT_EQ(cell, -1) << "laid down twice";
            cell = from.row * 1000 + from.byte / 2 + i;
          }
        }
      }
      const int size = tile.fragmentRows;
      for (int fragment = 0; fragment < tile.fragments; ++fragment) {
        for (int slice = 0; slice < tile.slices; ++slice) {
          for (int lane = 0; lane < 64; ++lane) {
            for (int i = 0; i < 8; ++i) {
              const int k = slice * tile.fragmentK + lane / size * 8 + i;
              int found = 0, wanted = 0;
              if (operand == TileOperand::k) {
                found = lds.at(kvFragmentAddress(tile, fragment, slice, 0, lane) / 2 + i);
                wanted = keyColumn(size, fragment, lane % size) * 1000 + k;
              } else {
                // Lane l, element n of the read comes from lane 16 (l / 16) + l mod 16 / 4 + 4 n,
                // element l mod 4.
                const int source = lane / 16 * 16 + lane % 16 / 4 + 4 * (i % 4);
                found =
                    lds.at(kvFragmentAddress(tile, fragment, slice, i / 4, source) / 2 + lane % 4);
                wanted = k * 1000 + fragment * size + lane % size;
              }
              ASSERT_EQ(found, wanted)
                  << "d " << each.op.d << " size " << size << " columns " << tile.rows << " path "
                  << int(tile.layout.path) << " layout " << int(tile.layout.layout);
            }
          }
        }
      }
    }
  }
}

/// The same of 8-bit elements, also for the instructions of four times the k: a lane's weights are
/// runs of eight columns, and V's rows are read in that order.
TEST(AttentionLayout, FragmentsOfBytesFindWhatWasLoaded) {
  for (Case each : cases()) {
    for (const int laneElements : {8, 32}) {
      each.op.type = each.op.kvType = ElementType::fp8;
      const int size = each.schedule.tiling.mfmaM, groups = 64 / size;
      each.schedule.tiling.mfmaK = groups * laneElements;
      if (each.op.d % each.schedule.tiling.mfmaK != 0 ||
          each.schedule.tiling.columns % each.schedule.tiling.mfmaK != 0) {
        continue;
      }
      for (const TileOperand operand : {TileOperand::k, TileOperand::v}) {
        const KvTile tile = kvTile(each.op, each.schedule, operand);
        ASSERT_EQ(tile.laneElements, laneElements);
        ASSERT_EQ(tile.reads * tile.readBytes, laneElements);
        std::vector<int> lds(tile.stageBytes(), -1); // column * 1000 + element
        for (int piece = 0; piece < tile.pieces; ++piece) {
          for (int lane = 0; lane < 64; ++lane) {
            const TilePosition from = kvLoadedPosition(tile, piece, lane);
            const std::int64_t to = kvStagedAddress(tile, piece, lane);
            for (int i = 0; i < tile.vectorBytes; ++i) {
              ASSERT_EQ(lds.at(to + i), -1) << "laid down twice";
              lds.at(to + i) = from.row * 1000 + from.byte + i;
            }
          }
        }
        for (int fragment = 0; fragment < tile.fragments; ++fragment) {
          for (int slice = 0; slice < tile.slices; ++slice) {
            for (int lane = 0; lane < 64; ++lane) {
              for (int i = 0; i < laneElements; ++i) {
                int found = 0, wanted = 0;
                if (operand == TileOperand::k) {
                  found =
                      lds.at(kvFragmentAddress(tile, fragment, slice, i / tile.readBytes, lane) +
                             i % tile.readBytes);
                  wanted = keyColumn(size, fragment, lane % size) * 1000 + slice * tile.fragmentK +
                           lane / size * laneElements + i;
                } else {
                  // Lane l, element n of the read comes from lane 16 (l / 16) + l mod 16 / 8 + 2 n,
                  // element l mod 8.
                  const int source = lane / 16 * 16 + lane % 16 / 8 + 2 * (i % 8);
                  found =
                      lds.at(kvFragmentAddress(tile, fragment, slice, i / 8, source) + lane % 8);
                  // Weight i of the lane's slice: registers of the scores in their order.
                  const int column = scoreColumn(size, slice * laneElements + i, lane);
                  wanted = column * 1000 + fragment * size + lane % size;
                }
                ASSERT_EQ(found, wanted) << "d " << each.op.d << " size " << size << " elements "
                                         << laneElements << " columns " << tile.rows;
              }
            }
          }
        }
      }
    }
  }
}

TEST(AttentionLayout, FragmentsInRegistersHoldTheSame) {
  for (Case each : cases()) {
    each.schedule.k.path = OperandPath::registers;
    const KvTile tile = kvTile(each.op, each.schedule, TileOperand::k);
    EXPECT_EQ(tile.stageBytes(), 0);
    for (int fragment = 0; fragment < tile.fragments; ++fragment) {
      for (int slice = 0; slice < tile.slices; ++slice) {
        for (int lane = 0; lane < 64; ++lane) {
          const TilePosition from =
              kvLoadedPosition(tile, fragmentPiece(tile, fragment, slice), lane);
          EXPECT_EQ(from.row, keyColumn(tile.fragmentRows, fragment, lane % tile.fragmentRows));
          EXPECT_EQ(from.byte, (slice * tile.fragmentK + lane / tile.fragmentRows * 8) * 2);
        }
      }
    }
  }
}

TEST(AttentionLayout, SwizzledReadsHaveNoBankConflict) {
  const Target &target = **findTarget("gfx950");
  for (const Case &each : cases()) {
    if (each.schedule.v.layout != LdsLayout::swizzle) {
      continue;
    }
    for (const TileOperand operand : {TileOperand::k, TileOperand::v}) {
      const KvTile tile = kvTile(each.op, each.schedule, operand);
      std::array<std::int64_t, 64> address{};
      for (int lane = 0; lane < 64; ++lane) {
        address[lane] = kvFragmentAddress(tile, 0, 0, 0, lane);
      }
      EXPECT_EQ(ldsCycles(target, tile.readBytes, false, address), 64.0 * tile.readBytes / 256)
          << "d " << each.op.d << " size " << tile.fragmentRows;
    }
  }
}

TEST(AttentionLayout, SplitsCoverAllStepsOnce) {
  for (const std::int64_t total : {0, 1, 2, 7, 8, 9, 100}) {
    for (const int splits : {1, 2, 3, 8, 13}) {
      std::int64_t next = 0;
      for (int split = 0; split < splits; ++split) {
        const StepRange range = stepsOfSplit(total, splits, split);
        EXPECT_EQ(range.first, next);
        EXPECT_LE(range.count, total / splits + 1);
        next += range.count;
      }
      EXPECT_EQ(next, total);
    }
  }
}

} // namespace
} // namespace kw
