// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Assembly.h"

#include <cmath>
#include <gtest/gtest.h>

namespace kw::test {
namespace {

using u32 = std::uint32_t;

template <class T> bool holds(const std::string &predicate, T a, T b) {
  if (predicate == "lt") {
    return a < b;
  }
  if (predicate == "eq") {
    return a == b;
  }
  if (predicate == "le") {
    return a <= b;
  }
  if (predicate == "gt") {
    return a > b;
  }
  if (predicate == "ne" || predicate == "neq") {
    return a != b;
  }
  if (predicate == "ge") {
    return a >= b;
  }
  if (predicate == "nlt") {
    return !(a < b);
  }
  if (predicate == "nge") {
    return !(a >= b);
  }
  if (predicate == "lg") {
    return a < b || a > b;
  }
  if (predicate == "u") {
    return a != a || b != b;
  }
  return a == a && b == b; // o
}

void check(const std::string &predicate, const std::string &type,
           const std::function<bool(u32, u32)> &expected, const std::vector<Lanes> &in) {
  for (const char *form : {"v_cmp_{}_{} vcc, v16, v17\n s_nop 1\n v_cndmask_b32 v64, 0, 1, vcc",
                           "v_cmp_{}_{}_e64 s[20:21], v16, v17\n s_nop 1\n"
                           "v_cndmask_b32_e64 v64, 0, 1, s[20:21]"}) {
    std::string text = form;
    text.replace(text.find("{}"), 2, predicate);
    text.replace(text.find("{}"), 2, type);
    if (text.find("v_cndmask_b32 v64, 0, 1, vcc") != std::string::npos) {
      text.replace(text.find("v_cndmask_b32 v64, 0, 1, vcc"), 28,
                   "v_cndmask_b32_e64 v64, 0, 1, vcc");
    }
    expectLanes(text, in, [&](u32 a, u32 b, u32) { return expected(a, b) ? 1u : 0u; });
  }
}

TEST(Compare, EveryPredicateOfF32AndIntegers) {
  Lanes a = randomLanes(128, 1), b = randomLanes(128, 2);
  for (std::size_t i = 0; i < a.size(); i += 3) {
    b[i] = a[i];
  }
  for (const std::string predicate : {"lt", "eq", "le", "gt", "ne", "ge"}) {
    check(predicate, "u32", [&](u32 x, u32 y) { return holds(predicate, x, y); }, {a, b});
    check(predicate, "i32",
          [&](u32 x, u32 y) {
            return holds(predicate, static_cast<std::int32_t>(x), static_cast<std::int32_t>(y));
          },
          {a, b});
  }
  a = randomFloats(128, 3);
  b = randomFloats(128, 4);
  for (std::size_t i = 0; i < a.size(); i += 3) {
    b[i] = a[i];
  }
  for (const std::string predicate :
       {"lt", "eq", "le", "gt", "neq", "ge", "nlt", "nge", "lg", "u", "o"}) {
    check(predicate, "f32", [&](u32 x, u32 y) { return holds(predicate, asFloat(x), asFloat(y)); },
          {a, b});
  }
}

TEST(Compare, CmpxWritesExecAndInactiveLanesGiveZero) {
  const auto out = Snippet{.body = R"(
    v_mov_b32 v64, 0
    v_mov_b32 v65, 0
    s_mov_b64 exec, 0x0f0f
    v_cmpx_gt_u32 vcc, v16, v17
    v_mov_b32 v64, 1
    s_mov_b64 s[20:21], vcc
    s_mov_b64 exec, -1
    s_nop 1
    v_cndmask_b32_e64 v65, 0, 1, s[20:21])",
                           .inputs = {randomLanes(64, 5), randomLanes(64, 6)},
                           .outputs = 2};
  const auto got = out.run();
  for (int i = 0; i < 64; ++i) {
    const u32 want =
        (0x0f0f >> std::min(i, 31) & 1) && i < 16 && out.inputs[0][i] > out.inputs[1][i];
    EXPECT_EQ(got[0][i], want);
    EXPECT_EQ(got[1][i], want);
  }
}

TEST(Compare, ClassMask) {
  // Quiet NaN and infinities: bits 1, 2, 9.
  expectLanes("v_mov_b32 v20, 0x206\n v_cmp_class_f32 vcc, v16, v20\n s_nop 1\n"
              "v_cndmask_b32_e64 v64, 0, 1, vcc",
              {randomFloats(256, 7)}, [](u32 a, u32, u32) {
                const float x = asFloat(a);
                return std::isnan(x) || std::isinf(x) ? 1u : 0u;
              });
}

} // namespace
} // namespace kw::test
