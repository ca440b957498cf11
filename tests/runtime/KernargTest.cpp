// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Kernarg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::vector<ArgumentSlot> slots{{"a", 0, 8}, {"m", 8, 4}, {"b", 16, 8}};

std::uint64_t addressOf(std::string_view buffer) { return buffer == "a" ? 0x1000 : 0x2000; }

Argument i32(std::uint8_t value, std::optional<std::int64_t> offset = std::nullopt) {
  return {offset, ValueArgument{ElementType::i32, {value, 0, 0, 0}}};
}

Argument buffer(const char *name, std::int64_t at,
                std::optional<std::int64_t> offset = std::nullopt) {
  return {offset, BufferArgument{name, at}};
}

Launch launchOf(std::vector<Argument> arguments) {
  Launch launch;
  launch.kernel = "k";
  launch.arguments = std::move(arguments);
  return launch;
}

std::string complaint(std::vector<Argument> arguments) {
  const auto packed = packArguments(launchOf(std::move(arguments)), slots, 24, addressOf);
  return packed ? "packed" : packed.error().message;
}

TEST(Kernarg, ArgumentsFollowTheMetadata) {
  const auto packed =
      packArguments(launchOf({buffer("a", 0), i32(7), buffer("b", 3)}), slots, 24, addressOf);
  ASSERT_TRUE(packed);
  EXPECT_THAT(*packed, ElementsAre(0, 0x10, 0, 0, 0, 0, 0, 0, 7, 0, 0, 0, 0, 0, 0, 0, 3, 0x20, 0, 0,
                                   0, 0, 0, 0));
}

TEST(Kernarg, OffsetsPrevailAndGapsAreZero) {
  const auto packed = packArguments(launchOf({i32(9, 20), {std::int64_t{0}, NullArgument{}}}),
                                    slots, 24, addressOf);
  ASSERT_TRUE(packed);
  std::vector<std::uint8_t> expected(24, 0);
  expected[20] = 9;
  EXPECT_EQ(*packed, expected);
}

TEST(Kernarg, ComplaintsNameKernelAndArgument) {
  EXPECT_THAT(complaint({i32(1)}), HasSubstr("kernel 'k', argument 0: has 4 bytes, the kernel's"));
  EXPECT_THAT(complaint({buffer("a", 0), i32(1), buffer("b", 0), i32(1)}),
              HasSubstr("argument 3: the kernel takes 3 arguments"));
  EXPECT_THAT(complaint({i32(1, 22)}), HasSubstr("argument 0: 4 bytes at offset 22"));
  EXPECT_THAT(complaint({i32(1, INT64_MAX)}), HasSubstr("are not in the 24 bytes"));
  EXPECT_THAT(complaint({buffer("a", 0, 0), i32(1, 4)}), HasSubstr("argument 1: overlaps"));
}

} // namespace
} // namespace kw
