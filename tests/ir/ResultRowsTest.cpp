// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/ResultRows.h"

#include "ir/KernelPlan.h"
#include "ir/plans/GemmResult.h"

#include <gtest/gtest.h>
#include <map>
#include <set>

namespace kw {
namespace {

const Target &gfx950() { return **findTarget("gfx950"); }

struct Decided {
  Problem problem;
  GemmSchedule schedule;
  const Gemm &gemm() const { return problem.gemm(); }
  ResultRows rows() const { return resultRows(gemm(), schedule); }
};

Decided decided(const std::string &problem, const std::string &schedule) {
  return {*parseProblem(problem),
          std::get<GemmSchedule>(*parseSchedule("gemm.1:epi=lds," + schedule))};
}

/// Both sizes of fragments, wide and narrow waves, results and sums in LDS, every width of stores.
std::vector<Decided> many() {
  std::vector<Decided> all;
  for (const char *epilogue : {"", " beta=1", " epilogue=bias,gelu"}) {
    for (const char *type : {"bf16", "f32", "bf16 out=f32", "i8", "i8 out=i32"}) {
      for (const char *n : {"512", "516", "514", "511"}) {
        for (const char *tile :
             {"tile=64x64x64,waves=1x1", "tile=64x256x64,waves=2x2", "tile=256x256x64,waves=2x4",
              "tile=64x256x64,waves=2x1,mfma=32x32x16", "tile=16x64x64,waves=1x1",
              "tile=96x192x64,waves=1x1", "tile=32x32x64,waves=1x1,mfma=32x32x16"}) {
          const std::string text = std::string("gemm m=256 n=") + n + " k=512 b=nk dtype=" + type;
          if (text.ends_with("i32") && *epilogue) {
            continue;
          }
          all.push_back(decided(text + epilogue, tile));
        }
      }
    }
  }
  return all;
}

/// Element (row, column) of the pass lies where it was written to and is read from there, once.
TEST(ResultRows, EveryElementIsWrittenOnceAndStoredOnce) {
  for (const Decided &c : many()) {
    const ResultRows rows = c.rows();
    SCOPED_TRACE(print(c.problem) + " " + print(Schedule(c.schedule)));
    std::map<int, ResultPosition> writer; // by byte
    for (int m = 0; m < rows.fragmentsM; ++m) {
      for (int n = 0; n < rows.fragmentsN; ++n) {
        for (int reg = 0; reg < rows.size * rows.size / 64; ++reg) {
          for (int lane = 0; lane < 64; ++lane) {
            ResultPosition at = resultPosition(rows.size, true, reg, lane);
            at = {m * rows.size + at.m, n * rows.size + at.n};
            const int byte =
                writtenAddress(rows, m, n, reg / 4, lane) + reg % 4 * rows.elementBytes;
            ASSERT_TRUE(writer.emplace(byte, at).second);
            ASSERT_LE(byte + rows.elementBytes, rows.bytes());
          }
        }
      }
    }
    std::set<std::pair<int, int>> stored;
    const int perRead = rows.elements / rows.reads();
    for (int store = 0; store < rows.stores(); ++store) {
      for (int lane = 0; lane < 64; ++lane) {
        const ResultPosition first = storedPosition(rows, store, lane);
        for (int i = 0; i < rows.elements; ++i) {
          const int byte =
              readAddress(rows, store, i / perRead, lane) + i % perRead * rows.elementBytes;
          const ResultPosition expected{first.m, first.n + i};
          ASSERT_EQ(writer.at(byte), expected);
          ASSERT_TRUE(stored.emplace(expected.m, expected.n).second);
        }
      }
    }
    ASSERT_EQ(static_cast<int>(stored.size()), rows.rows() * rows.columns());
    const int all = rows.passes() * rows.rows() * rows.columns();
    ASSERT_EQ(all, c.schedule.waveTileM() * c.schedule.waveTileN());
  }
}

TEST(ResultRows, StoresAreAsWideAsTheProblemAllows) {
  const auto bytes = [](const std::string &problem) {
    const Decided c = decided(problem, "tile=64x128x64,waves=1x2");
    return resultStores(c.gemm(), c.schedule).bytes;
  };
  EXPECT_EQ(bytes("gemm m=64 n=128 k=64 dtype=bf16"), 16);
  EXPECT_EQ(bytes("gemm m=64 n=124 k=64 dtype=bf16"), 8);
  EXPECT_EQ(bytes("gemm m=64 n=128 k=64 dtype=bf16 ldc=130"), 4);
  EXPECT_EQ(bytes("gemm m=64 n=127 k=64 dtype=bf16"), 2);
  EXPECT_EQ(bytes("gemm m=64 n=128 k=64 batch=2 sc=8196 dtype=bf16"), 8);
  EXPECT_EQ(bytes("gemm m=64 n=126 k=64 dtype=f32"), 8);
  EXPECT_EQ(bytes("gemm m=64 n=128 k=64 dtype=i8 out=i32"), 16);
}

/// 64 lanes x 16 bytes at 128 bytes a clock; writes of 8 bytes take as long.
TEST(ResultRows, NoBankConflicts) {
  for (const Decided &c : many()) {
    const ResultRows rows = c.rows();
    SCOPED_TRACE(print(c.problem) + " " + print(Schedule(c.schedule)));
    std::array<std::int64_t, 64> address{};
    for (int n = 0; n < rows.fragmentsN; ++n) {
      for (int quad = 0; quad < rows.size * rows.size / 256; ++quad) {
        for (int lane = 0; lane < 64; ++lane) {
          address[lane] = writtenAddress(rows, rows.fragmentsM - 1, n, quad, lane);
        }
        EXPECT_LE(ldsCycles(gfx950(), 4 * rows.elementBytes, true, address), 8);
      }
    }
    for (int store = 0; store < rows.stores(); ++store) {
      for (int read = 0; read < rows.reads(); ++read) {
        for (int lane = 0; lane < 64; ++lane) {
          address[lane] = readAddress(rows, store, read, lane);
        }
        EXPECT_LE(ldsCycles(gfx950(), rows.readBytes(), false, address), rows.readBytes() / 2.0);
      }
    }
  }
}

TEST(ResultRows, AreaLiesOverTheLoopOverSlicesOrAlone) {
  // 64 rows, 64 columns a wave: a pass of 16 rows of 64 bf16 is 2,048 bytes.
  const std::string problem = "gemm m=512 n=512 k=512 dtype=bf16 b=nk";
  ResultRows rows = decided(problem, "tile=128x128x64,waves=2x2").rows();
  EXPECT_EQ(rows.place, RowsPlace::loop);
  EXPECT_TRUE(rows.rounded);
  EXPECT_EQ(rows.waveBytes, 2048);
  EXPECT_EQ(rows.passes(), 4);
  // Read back as sums where something is added to them: twice the bytes.
  EXPECT_EQ(decided(problem + " epilogue=add", "tile=128x128x64,waves=2x2").rows().waveBytes, 4096);
  // Four waves have 16 KiB; the loop's only stage has (16 + 128) rows of 64 bytes for eight.
  rows = decided(problem + " epilogue=add", "tile=16x128x32,waves=1x2,stages=1,prefetch=0").rows();
  EXPECT_EQ(rows.place, RowsPlace::loop); // 2 x 4,096 of 9,216
  rows = decided(problem + " epilogue=add", "tile=64x64x32,waves=4x1,stages=1,prefetch=0").rows();
  EXPECT_EQ(rows.place, RowsPlace::own); // 4 x 4,096 of 8,192
  EXPECT_EQ(rows.ownBytes(), 16384);
  rows = decided(problem, "tile=32x128x64,waves=1x2,slicek=2").rows();
  EXPECT_EQ(rows.place, RowsPlace::slices);
  EXPECT_EQ(rows.waves, 2);
  EXPECT_EQ(rows.waveBytes, 32 * 64 * 4);
}

/// A pass has 16 elements a lane: 16 registers of sums being computed, 16 temporaries, and for each
/// of three inputs twice 8 registers (two loads of 16 bytes), or 16 where loads have 2 bytes.
TEST(ResultRows, RegistersOfThePassesInFlight) {
  const auto registers = [](const std::string &n, const std::string &schedule) {
    const Decided c =
        decided("gemm m=70 k=104 dtype=f16 b=nk beta=1 epilogue=bias,mul n=" + n, schedule);
    return resultRegisters(c.gemm(), c.schedule);
  };
  EXPECT_EQ(registers("192", "tile=32x128x32,waves=1x2"), 2 * 24 + 32);
  EXPECT_EQ(registers("193", "tile=32x128x32,waves=1x2"), 2 * 48 + 32);
  // What is read back has registers of its own beside AGPRs.
  EXPECT_EQ(registers("192", "tile=32x128x32,waves=1x2,acc=agpr"), 2 * 24 + 2 * 16 + 32);
}

TEST(ResultRows, PlanCountsItsLds) {
  const auto bytes = [](const std::string &schedule) {
    const Problem problem = *parseProblem("gemm m=512 n=512 k=512 dtype=bf16 b=nk epilogue=add");
    return makePlan(problem, *parseSchedule("gemm.1:" + schedule), gfx950()).launches[0].ldsBytes;
  };
  const std::string small = "tile=64x64x32,waves=4x1,stages=1,prefetch=0";
  EXPECT_EQ(bytes(small + ",epi=lds"), bytes(small) + 16384);
  EXPECT_EQ(bytes("tile=128x128x64,epi=lds"), bytes("tile=128x128x64"));
  const std::string sliced = "tile=32x128x64,waves=1x2,slicek=2";
  EXPECT_EQ(bytes(sliced + ",epi=lds"), bytes(sliced));
}

} // namespace
} // namespace kw
