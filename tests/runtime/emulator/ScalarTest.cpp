// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Assembly.h"

#include <fmt/core.h>
#include <gtest/gtest.h>
#include <random>

namespace kw::test {
namespace {

using u32 = std::uint32_t;
using i32 = std::int32_t;
using u64 = std::uint64_t;

/// Runs `text` with s20 = a, s21 = b; returns s22 and SCC.
std::pair<u32, u32> run(const std::string &text, u32 a, u32 b) {
  const auto out =
      Snippet{.body = fmt::format("s_mov_b32 s20, {:#x}\n s_mov_b32 s21, {:#x}\n s_mov_b32 s22, 0\n"
                                  "s_cmp_eq_u32 s20, s20\n{}\n s_cselect_b32 s23, 1, 0\n"
                                  "v_mov_b32 v64, s22\n v_mov_b32 v65, s23",
                                  a, b, text),
              .outputs = 2}
          .run();
  return {out[0][0], out[1][0]};
}

struct Case {
  const char *text;
  u32 (*value)(u32, u32);
  bool (*scc)(u32, u32);
};

TEST(Scalar, ValuesAndScc) {
  const auto nonzero = [](auto) {};
  (void)nonzero;
  const Case cases[] = {
      {"s_add_u32 s22, s20, s21", [](u32 a, u32 b) { return a + b; },
       [](u32 a, u32 b) { return a + b < a; }},
      {"s_sub_u32 s22, s20, s21", [](u32 a, u32 b) { return a - b; },
       [](u32 a, u32 b) { return a < b; }},
      {"s_add_i32 s22, s20, s21", [](u32 a, u32 b) { return a + b; },
       [](u32 a, u32 b) {
         const auto sum = std::int64_t(i32(a)) + i32(b);
         return sum != i32(sum);
       }},
      {"s_sub_i32 s22, s20, s21", [](u32 a, u32 b) { return a - b; },
       [](u32 a, u32 b) {
         const auto difference = std::int64_t(i32(a)) - i32(b);
         return difference != i32(difference);
       }},
      {"s_addc_u32 s22, s20, s21", [](u32 a, u32 b) { return a + b + 1; },
       [](u32 a, u32 b) { return (u64(a) + b + 1) >> 32 != 0; }},
      {"s_max_i32 s22, s20, s21", [](u32 a, u32 b) { return u32(std::max(i32(a), i32(b))); },
       [](u32 a, u32 b) { return i32(a) >= i32(b); }},
      {"s_min_u32 s22, s20, s21", [](u32 a, u32 b) { return std::min(a, b); },
       [](u32 a, u32 b) { return a < b; }},
      {"s_and_b32 s22, s20, s21", [](u32 a, u32 b) { return a & b; },
       [](u32 a, u32 b) { return (a & b) != 0; }},
      {"s_andn2_b32 s22, s20, s21", [](u32 a, u32 b) { return a & ~b; },
       [](u32 a, u32 b) { return (a & ~b) != 0; }},
      {"s_lshl_b32 s22, s20, s21", [](u32 a, u32 b) { return a << (b & 31); },
       [](u32 a, u32 b) { return a << (b & 31) != 0; }},
      {"s_ashr_i32 s22, s20, s21", [](u32 a, u32 b) { return u32(i32(a) >> (b & 31)); },
       [](u32 a, u32 b) { return i32(a) >> (b & 31) != 0; }},
      {"s_bfe_u32 s22, s20, 0x80004", [](u32 a, u32) { return a >> 4 & 255; },
       [](u32 a, u32) { return (a >> 4 & 255) != 0; }},
      {"s_bfe_i32 s22, s20, 0x80004", [](u32 a, u32) { return u32(i32(a << 20) >> 24); },
       [](u32 a, u32) { return (a >> 4 & 255) != 0; }},
      {"s_abs_i32 s22, s20", [](u32 a, u32) { return i32(a) < 0 ? 0 - a : a; },
       [](u32 a, u32) { return a != 0; }},
      {"s_mul_i32 s22, s20, s21", [](u32 a, u32 b) { return a * b; },
       [](u32, u32) { return true; }},
      {"s_mul_hi_u32 s22, s20, s21", [](u32 a, u32 b) { return u32(u64(a) * b >> 32); },
       [](u32, u32) { return true; }},
      {"s_movk_i32 s22, 0xfffb", [](u32, u32) { return u32(-5); }, [](u32, u32) { return true; }},
      {"s_addk_i32 s22, 7", [](u32, u32) { return 7u; }, [](u32, u32) { return false; }},
      {"s_cmp_lt_i32 s20, s21", [](u32, u32) { return 0u; },
       [](u32 a, u32 b) { return i32(a) < i32(b); }},
      {"s_cmpk_gt_i32 s20, 0xffff", [](u32, u32) { return 0u; },
       [](u32 a, u32) { return i32(a) > -1; }},
      {"s_bitcmp1_b32 s20, 3", [](u32, u32) { return 0u; },
       [](u32 a, u32) { return (a >> 3 & 1) != 0; }},
      {"s_lshl2_add_u32 s22, s20, s21", [](u32 a, u32 b) { return (a << 2) + b; },
       [](u32 a, u32 b) { return ((u64(a) << 2) + b) >> 32 != 0; }},
      {"s_bitset1_b32 s22, 6", [](u32, u32) { return 64u; }, [](u32, u32) { return true; }},
      {"s_sext_i32_i8 s22, s20", [](u32 a, u32) { return u32(i32(a << 24) >> 24); },
       [](u32, u32) { return true; }},
      {"s_bcnt1_i32_b64 s22, s[20:21]",
       [](u32 a, u32 b) { return u32(__builtin_popcount(a) + __builtin_popcount(b)); },
       [](u32 a, u32 b) { return (a | b) != 0; }},
  };
  std::mt19937 engine(3);
  for (const Case &c : cases) {
    for (int i = 0; i < 3; ++i) {
      static constexpr u32 special[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 33};
      const u32 a = i == 0 ? engine() : special[engine() % 6];
      const u32 b = i == 1 ? engine() : special[engine() % 6];
      const auto [value, scc] = run(c.text, a, b);
      EXPECT_EQ(value, c.value(a, b)) << c.text << std::hex << " " << a << " " << b;
      EXPECT_EQ(scc, c.scc(a, b) ? 1u : 0u) << c.text << std::hex << " " << a << " " << b;
    }
  }
}

} // namespace
} // namespace kw::test
