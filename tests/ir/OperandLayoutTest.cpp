// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/OperandLayout.h"

#include <array>
#include <gtest/gtest.h>
#include <map>
#include <set>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

Gemm problem(bool bKContiguous = true, ElementType type = ElementType::bf16) {
  Gemm gemm;
  gemm.aType = gemm.bType = type;
  gemm.m = gemm.n = gemm.k = 1024;
  gemm.bTransposed = bKContiguous;
  gemm.lda = gemm.ldb = gemm.ldc = 1024;
  return gemm;
}

/// k of the fast matrix instruction with `mfma` rows.
int matrixK(int mfma, ElementType type = ElementType::bf16) {
  const int of16 = type == ElementType::i8 ? 64 : type == ElementType::f32 ? 4 : 32;
  return mfma == 16 ? of16 : of16 / 2;
}

GemmSchedule schedule(int tile, int tileK, int mfma, LdsLayout layout, OperandPath path,
                      int vectorBytes = 16, ElementType type = ElementType::bf16) {
  GemmSchedule result;
  result.tiling = {tile, tile, tileK, 2, 2, mfma, mfma, matrixK(mfma, type)};
  result.a = result.b = {path, layout, vectorBytes};
  return result;
}

/// Clocks of every fragment read of the tile, all equal; else -1.
double readClocks(const OperandTile &tile) {
  double common = 0;
  std::array<std::int64_t, 64> address{};
  const int extent =
      tile.layout.rowsAlongK ? tile.layout.rowBytes / tile.elementBytes() : tile.rows;
  for (int wave = 0; wave < extent / tile.waveRows; ++wave) {
    for (int fragment = 0; fragment < tile.fragments; ++fragment) {
      for (int slice = 0; slice < tile.slices; ++slice) {
        for (int read = 0; read < tile.reads; ++read) {
          for (int lane = 0; lane < 64; ++lane) {
            address[lane] = fragmentAddress(tile, wave, fragment, slice, read, lane);
          }
          const double clocks = ldsCycles(gfx950(), tile.readBytes, false, address);
          if (common != 0 && clocks != common) {
            return -1;
          }
          common = clocks;
        }
      }
    }
  }
  return common;
}

TEST(OperandLayout, SwizzledFragmentReadsAreFreeOfConflicts) {
  for (const OperandPath path : {OperandPath::lds, OperandPath::direct}) {
    for (const int mfma : {16, 32}) {
      // Rows of 32 (32x32x16 only), 64, 128, 192, 256, 512 bytes: ds_read_b128 in 4 clocks.
      for (const int tileK : {16, 32, 64, 96, 128, 256}) {
        if (mfma == 16 && tileK == 16) {
          continue;
        }
        const auto tile = operandTile(
            problem(), schedule(64, tileK, mfma, LdsLayout::swizzle, path), TileOperand::a);
        EXPECT_EQ(tile.readBytes, 16);
        EXPECT_EQ(readClocks(tile), 4) << mfma << " tileK " << tileK;
      }
    }
  }
}

TEST(OperandLayout, PlainFragmentReadsConflict) {
  const auto clocks = [](int tileK, LdsLayout layout, OperandPath path) {
    return readClocks(
        operandTile(problem(), schedule(64, tileK, 16, layout, path), TileOperand::a));
  };
  // Rows of 128 bytes: 16 lanes of a phase meet in 4 slots of 16 bytes, 4 deep.
  EXPECT_EQ(clocks(64, LdsLayout::plain, OperandPath::lds), 16);
  EXPECT_GT(clocks(128, LdsLayout::plain, OperandPath::lds), 16);
  EXPECT_LT(clocks(64, LdsLayout::padding, OperandPath::lds), 16);
  EXPECT_LT(clocks(256, LdsLayout::padding, OperandPath::direct),
            clocks(256, LdsLayout::plain, OperandPath::direct));
}

TEST(OperandLayout, SwizzledTransposingReadsAreFreeOfConflicts) {
  for (const OperandPath path : {OperandPath::lds, OperandPath::direct}) {
    for (const int mfma : {16, 32}) {
      for (const int tileN : {64, 96, 128, 192, 256}) {
        auto decided = schedule(64, 64, mfma, LdsLayout::swizzle, path);
        decided.tiling.n = tileN;
        if (tileN % (2 * mfma) != 0) {
          decided.tiling.wavesN = 1;
        }
        const auto tile = operandTile(problem(false), decided, TileOperand::b);
        EXPECT_EQ(tile.readBytes, 8);
        EXPECT_EQ(tile.reads, 2);
        EXPECT_EQ(readClocks(tile), 2) << mfma << " tileN " << tileN;
      }
    }
  }
  // One group of 16 elements a row: nothing to permute, two rows meet in every bank.
  auto narrow = schedule(64, 64, 16, LdsLayout::swizzle, OperandPath::lds);
  narrow.tiling.n = 16;
  narrow.tiling.wavesN = 1;
  EXPECT_EQ(readClocks(operandTile(problem(false), narrow, TileOperand::b)), 4);
}

TEST(OperandLayout, SwizzledReadsOfOtherTypesAreFreeOfConflicts) {
  const auto clocks = [](ElementType type, bool kContiguous, int mfma, int tile, int tileK) {
    auto decided = schedule(tile, tileK, mfma, LdsLayout::swizzle, OperandPath::direct, 16, type);
    decided.tiling.wavesN = 1;
    return readClocks(operandTile(problem(kContiguous, type), decided, TileOperand::b));
  };
  for (const int mfma : {16, 32}) {
    for (const int tile : {32, 64, 96, 128, 192, 256}) {
      EXPECT_EQ(clocks(ElementType::i8, false, mfma, tile, 64), 2) << mfma << " tile " << tile;
      EXPECT_EQ(clocks(ElementType::f32, false, mfma, tile, 32), 1) << mfma << " tile " << tile;
    }
    for (const int tileK : {64, 128, 256}) {
      EXPECT_EQ(clocks(ElementType::i8, true, mfma, 64, tileK), 4) << mfma << " k " << tileK;
    }
    // 32 rows of two elements: rows 16 apart share their banks.
    for (const int tileK : {32, 64, 128}) {
      EXPECT_EQ(clocks(ElementType::f32, true, mfma, 64, tileK), mfma == 16 ? 1 : 2) << tileK;
    }
  }
}

/// Every (row, byte) of the tile is fetched once, and lands where the layout says.
void checkLoads(const OperandTile &tile) {
  std::map<std::pair<int, int>, std::int64_t> landed;
  std::set<std::int64_t> addresses;
  for (int piece = 0; piece < tile.pieces; ++piece) {
    for (int wave = 0; wave < tile.waves; ++wave) {
      const std::int64_t base = stagedAddress(tile, piece, wave, 0);
      for (int lane = 0; lane < 64; ++lane) {
        const TilePosition at = loadedPosition(tile, piece, wave, lane);
        const std::int64_t address = stagedAddress(tile, piece, wave, lane);
        ASSERT_TRUE(address >= 0 && address + tile.vectorBytes <= tile.stageBytes());
        ASSERT_TRUE(addresses.insert(address).second);
        ASSERT_EQ(at.byte % tile.vectorBytes, 0);
        ASSERT_LE(at.byte + tile.vectorBytes, tile.layout.rowBytes);
        if (tile.layout.path == OperandPath::direct) {
          ASSERT_EQ(address, base + lane * tile.vectorBytes) << "lanes land in order";
        }
        if (isInside(tile, at)) {
          ASSERT_TRUE(landed.emplace(std::pair(at.row, at.byte), address).second);
        }
      }
    }
  }
  ASSERT_EQ(landed.size(), std::size_t(tile.rows) * tile.layout.rowBytes / tile.vectorBytes);
  for (const auto &[at, address] : landed) {
    ASSERT_EQ(address, tile.layout.address(at.first, at.second));
  }
}

void checkLoadsOf(ElementType type, bool kContiguous, LdsLayout layout, int tile, int tileK) {
  for (const int vectorBytes : {2, 4, 8, 16}) {
    auto decided = schedule(tile, tileK, 16, layout, OperandPath::lds, vectorBytes, type);
    checkLoads(operandTile(problem(kContiguous, type), decided, TileOperand::b));
    if (vectorBytes == 16 || vectorBytes == 4) {
      decided.b.path = OperandPath::direct;
      checkLoads(operandTile(problem(kContiguous, type), decided, TileOperand::b));
    }
  }
}

TEST(OperandLayout, LoadsCoverTheTileOnce) {
  for (const ElementType type : {ElementType::i8, ElementType::bf16, ElementType::f32}) {
    for (const LdsLayout layout : {LdsLayout::plain, LdsLayout::swizzle, LdsLayout::padding}) {
      for (const bool kContiguous : {true, false}) {
        for (const int tile : {16, 48, 96, 128, 256}) {
          for (const int tileK : {32, 64, 128}) {
            checkLoadsOf(type, kContiguous, layout, tile, tileK);
          }
        }
      }
    }
  }
}

/// What the fragment reads deliver, traced back through the loads to (row or column, k).
class FragmentTrace {
public:
  explicit FragmentTrace(const OperandTile &tile) : tile(tile) {
    for (int piece = 0; piece < tile.pieces; ++piece) {
      for (int wave = 0; wave < tile.waves; ++wave) {
        for (int lane = 0; lane < 64; ++lane) {
          const TilePosition position = loadedPosition(tile, piece, wave, lane);
          for (int byte = 0; byte < tile.vectorBytes; ++byte) {
            at[stagedAddress(tile, piece, wave, lane) + byte] = {position.row,
                                                                 position.byte + byte};
          }
        }
      }
    }
  }

  /// Of element `e` that `lane` holds.
  TilePosition delivered(int wave, int fragment, int slice, int lane, int e) const {
    const int size = tile.elementBytes(), inRead = tile.readBytes / size;
    int source = lane, byte = e % inRead * size;
    if (tile.transposingReads()) { // the lane rule: gfx950.md 2.5
      const int inLane = 8 / size;
      source = lane / 16 * 16 + lane % 16 / inLane + 16 / inLane * (e % inLane);
      byte = lane % inLane * size;
    }
    return at.at(fragmentAddress(tile, wave, fragment, slice, e / inRead, source) + byte);
  }

private:
  const OperandTile &tile;
  std::map<std::int64_t, TilePosition> at; ///< of each byte in LDS
};

void checkFragments(const OperandTile &tile, int waves) {
  const FragmentTrace trace(tile);
  const int size = tile.fragmentRows, perLane = size * tile.fragmentK / 64;
  for (int wave = 0; wave < waves; ++wave) {
    for (int fragment = 0; fragment < tile.fragments; ++fragment) {
      for (int slice = 0; slice < tile.slices; ++slice) {
        for (int lane = 0; lane < 64; ++lane) {
          for (int e = 0; e < perLane; ++e) {
            // Wanted by the matrix instruction: gfx950.md 2.3.
            const int outer = wave * tile.waveRows + fragment * size + lane % size;
            const int k = slice * tile.fragmentK + lane / size * perLane + e;
            const TilePosition wanted = tile.layout.rowsAlongK
                                            ? TilePosition{k, outer * tile.elementBytes()}
                                            : TilePosition{outer, k * tile.elementBytes()};
            ASSERT_EQ(trace.delivered(wave, fragment, slice, lane, e), wanted);
          }
        }
      }
    }
  }
}

TEST(OperandLayout, FragmentsHoldWhatTheMatrixInstructionWants) {
  for (const ElementType type : {ElementType::bf16, ElementType::i8, ElementType::f32}) {
    for (const LdsLayout layout : {LdsLayout::plain, LdsLayout::swizzle, LdsLayout::padding}) {
      for (const OperandPath path : {OperandPath::lds, OperandPath::direct}) {
        for (const int mfma : {16, 32}) {
          for (const bool kContiguous : {true, false}) {
            for (const int tile : {64, 192, 256}) {
              Gemm gemm = problem(kContiguous, type);
              gemm.aTransposed = !kContiguous;
              const auto decided = schedule(tile, 64, mfma, layout, path, 16, type);
              checkFragments(operandTile(gemm, decided, TileOperand::a), decided.tiling.wavesM);
              checkFragments(operandTile(gemm, decided, TileOperand::b), decided.tiling.wavesN);
            }
          }
        }
      }
    }
  }
}

TEST(OperandLayout, ResultsFollowTheMatrixInstruction) { // gfx950.md 2.2
  EXPECT_EQ(resultPosition(16, false, 3, 17), (ResultPosition{7, 1}));
  EXPECT_EQ(resultPosition(32, false, 5, 33), (ResultPosition{13, 1}));
  EXPECT_EQ(resultPosition(32, true, 5, 33), (ResultPosition{1, 13}));
  for (const int size : {16, 32}) {
    for (const bool swapped : {false, true}) {
      std::set<std::pair<int, int>> seen;
      for (int reg = 0; reg < size * size / 64; ++reg) {
        for (int lane = 0; lane < 64; ++lane) {
          const ResultPosition at = resultPosition(size, swapped, reg, lane);
          ASSERT_TRUE(at.m >= 0 && at.m < size && at.n >= 0 && at.n < size);
          ASSERT_TRUE(seen.emplace(at.m, at.n).second);
          if (swapped && reg % 4 != 0) {
            ASSERT_EQ(at.n, resultPosition(size, true, reg - 1, lane).n + 1);
          }
        }
      }
    }
  }
}

TEST(OperandLayout, StoresOfAFragment) {
  Gemm gemm = problem();
  GemmSchedule decided = schedule(128, 64, 32, LdsLayout::swizzle, OperandPath::direct);
  ResultStores stores = resultStores(gemm, decided);
  EXPECT_EQ(stores.stores, 16);
  EXPECT_EQ(stores.bytes, 2);
  EXPECT_EQ(stores.conversions, 8);
  decided.epilogue = EpiloguePath::swap;
  gemm.alpha = 2;
  stores = resultStores(gemm, decided);
  EXPECT_EQ(stores.stores, 4);
  EXPECT_EQ(stores.bytes, 8);
  EXPECT_EQ(stores.conversions, 24);
  decided.epilogue = EpiloguePath::permlane;
  stores = resultStores(gemm, decided);
  EXPECT_EQ(stores.fragments, 1);
  EXPECT_EQ(stores.stores, 2);
  EXPECT_EQ(stores.bytes, 16);
  decided.tiling.mfmaM = decided.tiling.mfmaN = 16;
  stores = resultStores(gemm, decided);
  EXPECT_EQ(stores.fragments, 2);
  EXPECT_EQ(stores.stores, 1);
}

/// What the instruction does, on positions: odd groups of one with even groups of the other.
TEST(OperandLayout, ExchangeGivesEightNeighbours) {
  for (const int size : {16, 32}) {
    for (int reg = 0; reg < (size == 16 ? 1 : 16); reg += 8) {
      // Four registers each: of two fragments, or of one.
      const auto before = [&](int which, int element, int lane) {
        ResultPosition at =
            resultPosition(size, true, (size == 32 ? reg + 4 * which : 0) + element, lane);
        at.n += size == 16 ? 16 * which : 0;
        return at;
      };
      for (int lane = 0; lane < 64; ++lane) {
        const bool odd = lane / size % 2 != 0;
        for (int i = 0; i < 8; ++i) {
          // First four: a's even and b's even groups; last four: a's odd and b's odd ones.
          const int from = i < 4 ? (odd ? lane - size : lane) : (odd ? lane : lane + size);
          ResultPosition expected = exchangedPosition(size, reg, lane);
          expected.n += i;
          EXPECT_EQ(before(odd ? 1 : 0, i % 4, from), expected)
              << size << " " << reg << " " << lane;
        }
      }
    }
  }
}

TEST(OperandLayout, StepsCoverKOnceWithTheShortStepFirst) {
  for (const std::int64_t k : {1, 31, 32, 33, 64, 100, 4096}) {
    Gemm gemm = problem();
    gemm.k = k;
    std::int64_t next = 0;
    for (std::int64_t step = 0; step < kSteps(gemm, 32); ++step) {
      const KRange range = kRange(gemm, 32, step);
      EXPECT_EQ(range.begin, next);
      EXPECT_TRUE(step == 0 || range.size == 32);
      next += range.size;
    }
    EXPECT_EQ(next, k);
  }
}

struct NarrowCase {
  ElementType type;
  int mfma, tileK; ///< of 16x16x128 or 32x32x64
};

GemmSchedule narrowSchedule(const NarrowCase &c, OperandPath path, LdsLayout layout) {
  GemmSchedule result = schedule(64, c.tileK, c.mfma, layout, path);
  result.tiling.mfmaK = c.mfma == 16 ? 128 : 64;
  return result;
}

/// What a lane of f8f6f4 holds, from gfx950.md 2.3: element `e` of its 32.
int elementK(const NarrowCase &c, int group, int e) {
  const int groups = 64 / c.mfma;
  return bitWidth(c.type) == 8 ? e / 16 * 16 * groups + 16 * group + e % 16 : 32 * group + e;
}

TEST(OperandLayout, NarrowFragmentsHoldTheElementsOfTheInstruction) {
  using enum ElementType;
  for (const NarrowCase c : {NarrowCase{fp8, 16, 128},
                             {fp8, 32, 128},
                             {fp6, 16, 128},
                             {fp6, 32, 128},
                             {fp4, 16, 256},
                             {fp4, 32, 128}}) {
    const auto tile =
        operandTile(problem(true, c.type), narrowSchedule(c, OperandPath::lds, LdsLayout::plain),
                    TileOperand::b);
    const int bits = bitWidth(c.type);
    EXPECT_EQ(tile.layout.rowBytes, c.tileK * bits / 8);
    EXPECT_EQ(tile.registersPerFragment(), bits); // 32 elements
    EXPECT_EQ(tile.reads * tile.readBytes, 32 * bits / 8);
    for (int lane = 0; lane < 64; ++lane) {
      for (int byte = 0; byte < 32 * bits / 8; ++byte) {
        const std::int64_t at =
            fragmentAddress(tile, 1, tile.fragments - 1, 1 % tile.slices, byte / tile.readBytes, lane) +
            byte % tile.readBytes;
        const int row = 64 - c.mfma + lane % c.mfma; // the second wave's last fragment
        const int k =
            1 % tile.slices * tile.fragmentK + elementK(c, lane / c.mfma, byte * 8 / bits);
        // 6-bit elements cross bytes: their group of four begins on one.
        const int within = bits == 6 ? byte % 3 : 0;
        ASSERT_EQ(at, row * tile.layout.rowBytes +
                          (bits == 6 ? (k / 4 * 4) * bits / 8 + within : k * bits / 8))
            << name(c.type) << " " << c.mfma << " lane " << lane << " byte " << byte;
      }
    }
  }
}

/// After the turn a lane holds one column of the rows that its group of 16 lanes has read.
TEST(OperandLayout, TransposingReadsOfNarrowElementsCoverTheFragment) {
  using enum ElementType;
  for (const NarrowCase c : {NarrowCase{fp8, 16, 128},
                             {fp8, 32, 128},
                             {fp6, 16, 128},
                             {fp6, 32, 64},
                             {fp4, 16, 128},
                             {fp4, 32, 128}}) {
    const auto tile =
        operandTile(problem(false, c.type), narrowSchedule(c, OperandPath::lds, LdsLayout::plain),
                    TileOperand::b);
    const int bits = bitWidth(c.type);
    const int rowsOfRead = tile.readBytes * 8 / bits;
    EXPECT_EQ(tile.reads * rowsOfRead, 32);
    for (int lane = 0; lane < 64; ++lane) {
      const int columnGroups = c.mfma / 16, kGroup = lane / 16 / columnGroups;
      for (int read = 0; read < tile.reads; ++read) {
        const std::int64_t at = fragmentAddress(tile, 0, 0, 0, read, lane);
        const int perRow = 16 / rowsOfRead;
        const int k = elementK(c, kGroup, read * rowsOfRead) + lane % 16 / perRow;
        const int column = lane / 16 % columnGroups * 16;
        ASSERT_EQ(at, k * tile.layout.rowBytes + column * bits / 8 + lane % perRow * tile.readBytes)
            << name(c.type) << " " << c.mfma << " lane " << lane << " read " << read;
      }
    }
  }
}

TEST(OperandLayout, PackedNarrowFragmentsAreWholeLoads) {
  using enum ElementType;
  for (const NarrowCase c :
       {NarrowCase{fp8, 16, 128}, {fp8, 32, 128}, {fp4, 16, 256}, {fp4, 32, 128}}) {
    Gemm gemm = problem(true, c.type);
    gemm.preshuffle = true;
    const auto tile = operandTile(
        gemm, narrowSchedule(c, OperandPath::registers, LdsLayout::swizzle), TileOperand::b);
    EXPECT_EQ(tile.packsPerFragment(), bitWidth(c.type) == 8 ? 2 : 1);
    EXPECT_EQ(tile.pieces, tile.fragments * tile.slices * tile.packsPerFragment());
    const int elements = 128 / bitWidth(c.type);
    for (int lane = 0; lane < 64; ++lane) {
      for (int pack = 0; pack < tile.packsPerFragment(); ++pack) {
        const std::int64_t at = packedAddress(tile, 0, 1, 0, lane, pack);
        EXPECT_EQ(at % 16, 0);
        EXPECT_EQ(at, tile.packed.index(c.mfma + lane % c.mfma,
                                        elementK(c, lane / c.mfma, pack * elements)) *
                          bitWidth(c.type) / 8);
      }
    }
  }
}

} // namespace
} // namespace kw
