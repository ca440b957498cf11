// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Assembly.h"

#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/MatrixShapes.h"
#include "runtime/emulator/semantics/Numbers.h"

#include <cmath>
#include <fmt/core.h>
#include <gtest/gtest.h>
#include <random>

namespace kw::test {
namespace {

using u32 = std::uint32_t;

/// A matrix instruction with its operands in v[64:..] (C and D), v[16:..] (A), v[32:..] (B).
struct MatrixCase {
  const char *text;
  int words; ///< of A and B
};

/// Runs the instruction through the emulator's usual path and through multiplyGeneric.
class BothPaths {
public:
  explicit BothPaths(const std::string &text)
      : code(load({.body = text})), kernel(*code.image().find("k")) {
    context.kernel = &kernel;
    context.memory = &memory;
    context.options.strict = true;
    context.launch.block = {64, 1, 1};
    group = std::make_unique<detail::Workgroup>(context);
    group->start({0, 0, 0}, 0);
    wave = group->waves[0].get();
  }
  const detail::Op &op() const { return kernel.ops[0]; }

  LoadedCode code;
  const detail::KernelCode &kernel;
  GlobalMemory memory;
  detail::LaunchContext context;
  std::unique_ptr<detail::Workgroup> group;
  detail::Wave *wave;
};

void fill(detail::Wave &wave, int first, int count, std::mt19937 &engine, bool floats) {
  std::normal_distribution<float> normal;
  for (int reg = first; reg < first + count; ++reg) {
    wave.vgprValid[reg] = detail::allLanes;
    for (u32 &lane : wave.vgpr[reg]) {
      lane = floats ? bits(normal(engine)) : engine();
    }
  }
}

/// D(0, 0) of 16x16x32 f16 with two products in the first group of k.
float twoProducts(MatrixSums sums, u32 a, u32 b) {
  BothPaths paths("v_mfma_f32_16x16x32_f16 v[64:67], v[16:19], v[32:35], 0");
  paths.context.options.matrixSums = sums;
  for (int reg = 0; reg < 4; ++reg) {
    for (int lane = 0; lane < 64; ++lane) {
      const bool first = reg == 0 && lane < 16;
      paths.wave->vgpr[16 + reg][lane] = first ? a : 0;
      paths.wave->vgpr[32 + reg][lane] = first ? b : 0;
    }
    paths.wave->vgprValid[16 + reg] = paths.wave->vgprValid[32 + reg] = detail::allLanes;
  }
  paths.op().run(*paths.wave, paths.op());
  return asFloat(paths.wave->vgpr[64][0]);
}

TEST(Matrix, GroupedSumsCutBelow24BitsOfTheLargestProduct) {
  constexpr u32 one = 0x3c00, small = 0x0800, minusSmall = 0x8800; // 1, 2^-13, -2^-13
  const u32 b = one | small << 16;
  EXPECT_EQ(twoProducts(MatrixSums::inOrder, one | minusSmall << 16, b), 1.0f);
  EXPECT_EQ(twoProducts(MatrixSums::grouped, one | minusSmall << 16, b), 1.0f - 0x1p-24f);
  EXPECT_EQ(twoProducts(MatrixSums::grouped, one | small << 16, b), 1.0f);
  EXPECT_EQ(twoProducts(MatrixSums::grouped, small, b), 0x1p-13f);
  EXPECT_TRUE(std::isinf(twoProducts(MatrixSums::grouped, 0x7c00, b)));
}

TEST(Matrix, FastPathEqualsTheGenericOneBitForBit) {
  const char *texts[] = {
      "v_mfma_f32_16x16x32_f16 v[64:67], v[16:19], v[32:35], v[64:67]",
      "v_mfma_f32_16x16x32_bf16 v[64:67], v[16:19], v[32:35], v[64:67]",
      "v_mfma_f32_32x32x16_f16 v[64:79], v[16:19], v[32:35], v[64:79]",
      "v_mfma_f32_32x32x16_bf16 v[64:79], v[16:19], v[32:35], 1.0",
      "v_mfma_f32_16x16x16_f16 v[64:67], v[16:17], v[32:33], v[64:67]",
      "v_mfma_f32_32x32x8_bf16 v[64:79], v[16:17], v[32:33], v[64:79]",
      "v_mfma_f32_16x16x32_fp8_fp8 v[64:67], v[16:17], v[32:33], v[64:67]",
      "v_mfma_f32_32x32x16_bf8_fp8 v[64:79], v[16:17], v[32:33], v[64:79]",
      "v_mfma_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[32:39], v[64:67]",
      "v_mfma_f32_16x16x128_f8f6f4 v[64:67], v[16:19], v[32:37], v[64:67] cbsz:4 blgp:2",
      "v_mfma_f32_32x32x64_f8f6f4 v[64:79], v[16:21], v[32:39], v[64:79] cbsz:3 blgp:1",
      "v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:19], v[32:35], v[64:67], v48, v49 "
      "op_sel:[1,0,0] op_sel_hi:[0,1,0] cbsz:4 blgp:4",
      "v_mfma_f32_16x16x4_f32 v[64:67], v16, v32, v[64:67]",
      "v_mfma_f32_32x32x2_f32 v[64:79], v16, v32, v[64:79]",
  };
  std::mt19937 engine(5);
  for (const char *text : texts) {
    BothPaths fast(text), generic(text);
    ASSERT_TRUE(fast.op().run) << text;
    for (int round = 0; round < 3; ++round) {
      const bool floats = std::string(text).find("_f32 v") != std::string::npos;
      fill(*fast.wave, 16, 24, engine, floats);
      // Halves of any bits, NaN and denormal included; C is a sane float.
      fill(*fast.wave, 64, 16, engine, true);
      fill(*fast.wave, 48, 2, engine, false);
      std::copy_n(fast.wave->vgpr[0], 128 * detail::laneCount, generic.wave->vgpr[0]);
      generic.wave->vgprValid = fast.wave->vgprValid;
      fast.op().run(*fast.wave, fast.op());
      detail::multiplyGeneric(*generic.wave, generic.op());
      int different = 0;
      for (int reg = 64; reg < 80; ++reg) {
        for (int lane = 0; lane < 64; ++lane) {
          const u32 a = fast.wave->vgpr[reg][lane], b = generic.wave->vgpr[reg][lane];
          different += a != b && !(std::isnan(asFloat(a)) && std::isnan(asFloat(b)));
        }
      }
      EXPECT_EQ(different, 0) << text;
    }
  }
}

/// Values of A and B as small integers, placed by the rules of the ISA documents written out here.
TEST(Matrix, SmallIntegersComeOutExact) {
  std::mt19937 engine(9);
  // 16x16x32: A(i,k) is in lane i + 16 (k/8), halfword k mod 8.
  Lanes regs[8] = {};
  int a[16][32], b[32][16];
  for (Lanes &reg : regs) {
    reg.resize(64);
  }
  const auto put = [](Lanes &reg, int lane, int half, int value) {
    reg[lane] |= detail::toHalfBits(static_cast<float>(value)) << (16 * half);
  };
  for (int i = 0; i < 16; ++i) {
    for (int k = 0; k < 32; ++k) {
      a[i][k] = static_cast<int>(engine() % 17) - 8;
      b[k][i] = static_cast<int>(engine() % 17) - 8;
      put(regs[k % 8 / 2], i + 16 * (k / 8), k % 2, a[i][k]);
      put(regs[4 + k % 8 / 2], i + 16 * (k / 8), k % 2, b[k][i]);
    }
  }
  const auto out =
      Snippet{.body =
                  "v_mfma_f32_16x16x32_f16 v[64:67], v[16:19], v[20:23], 0\n"
                  "v_accvgpr_write_b32 a0, v16\n v_accvgpr_write_b32 a1, v17\n"
                  "v_accvgpr_write_b32 a2, v18\n v_accvgpr_write_b32 a3, v19\n s_nop 7\n s_nop 7\n"
                  "v_mfma_f32_16x16x32_f16 a[8:11], a[0:3], v[20:23], 0\n s_nop 7\n s_nop 7\n"
                  "v_accvgpr_read_b32 v68, a8\n v_accvgpr_read_b32 v69, a9\n"
                  "v_accvgpr_read_b32 v70, a10\n v_accvgpr_read_b32 v71, a11",
              .inputs = {regs, regs + 8},
              .outputs = 8}
          .run();
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      int sum = 0;
      for (int k = 0; k < 32; ++k) {
        sum += a[i][k] * b[k][j];
      }
      // D(i,j): lane j + 16 (i/4), register i mod 4.
      EXPECT_EQ(asFloat(out[i % 4][j + 16 * (i / 4)]), sum);
      EXPECT_EQ(asFloat(out[4 + i % 4][j + 16 * (i / 4)]), sum);
    }
  }
}

TEST(Matrix, DoubleAndInteger) {
  std::mt19937 engine(11);
  // f64 16x16x4: A(i,k) in lane i + 16 k; D(i,j) in lane j + 16 (i mod 4), pair i/4.
  std::vector<Lanes> in(6, Lanes(64));
  double a[16][4], b[4][16];
  for (int i = 0; i < 16; ++i) {
    for (int k = 0; k < 4; ++k) {
      a[i][k] = static_cast<int>(engine() % 100);
      b[k][i] = static_cast<int>(engine() % 100);
      const auto put = [&](int reg, double x) {
        const auto raw = std::bit_cast<std::uint64_t>(x);
        in[reg][i + 16 * k] = static_cast<u32>(raw);
        in[reg + 1][i + 16 * k] = static_cast<u32>(raw >> 32);
      };
      put(0, a[i][k]);
      put(2, b[k][i]);
    }
  }
  for (u32 &x : in[4]) {
    x = engine();
  }
  for (u32 &x : in[5]) {
    x = engine();
  }
  const auto out = Snippet{.body = "v_mfma_f64_16x16x4_f64 v[64:71], v[16:17], v[18:19], 0\n"
                                   "s_nop 15\n s_nop 4\n"
                                   "v_mfma_i32_4x4x4_16b_i8 v[72:75], v20, v21, 0",
                           .inputs = in,
                           .outputs = 12}
                       .run();
  for (int i = 0; i < 16; ++i) {
    for (int j = 0; j < 16; ++j) {
      double sum = 0;
      for (int k = 0; k < 4; ++k) {
        sum += a[i][k] * b[k][j];
      }
      const int lane = j + 16 * (i % 4), reg = 2 * (i / 4);
      EXPECT_EQ(std::bit_cast<double>(out[reg][lane] | std::uint64_t{out[reg + 1][lane]} << 32),
                sum);
    }
  }
  // 16 blocks of 4x4x4: block b in lanes 4b..4b+3, bytes are k.
  for (int lane = 0; lane < 64; ++lane) {
    for (int i = 0; i < 4; ++i) {
      int sum = 0;
      for (int k = 0; k < 4; ++k) {
        sum += static_cast<std::int8_t>(in[4][lane / 4 * 4 + i] >> (8 * k)) *
               static_cast<std::int8_t>(in[5][lane] >> (8 * k));
      }
      EXPECT_EQ(static_cast<int>(out[8 + i][lane]), sum);
    }
  }
}

/// 16x16x128 fp8: registers 0-3 hold k = 16 g .., 4-7 hold k = 64 + 16 g ... Different scales tell.
TEST(Matrix, ScaledFp8ChunksFollowTheirScales) {
  std::vector<Lanes> in(18, Lanes(64));
  // A: all ones (0x38); B: one element of column 0 at k = kOne; scales of A differ per block of 32.
  for (int kOne : {0, 17, 40, 70, 100, 127}) {
    for (int reg = 0; reg < 8; ++reg) {
      in[reg].assign(64, 0x38383838);
      in[8 + reg].assign(64, 0);
    }
    const int lane = 16 * (kOne % 64 / 16), byte = kOne / 64 * 16 + kOne % 16;
    in[8 + byte / 4][lane] = 0x38u << (8 * (byte % 4));
    for (int l = 0; l < 64; ++l) {
      in[16][l] = 127 + l / 16; // scale of A for k block l/16: 2^(l/16)
      in[17][l] = 127;
    }
    const auto out =
        Snippet{.body =
                    "v_mfma_scale_f32_16x16x128_f8f6f4 v[64:67], v[16:23], v[24:31], 0, v32, v33",
                .inputs = in,
                .outputs = 4}
            .run();
    EXPECT_EQ(asFloat(out[0][0]), std::ldexp(1.0f, kOne / 32)) << kOne;
  }
}

} // namespace
} // namespace kw::test
