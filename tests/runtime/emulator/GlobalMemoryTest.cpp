// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/GlobalMemory.h"

#include <gtest/gtest.h>

namespace kw {
namespace {

TEST(GlobalMemory, FindsWhatIsInsideAndNothingElse) {
  GlobalMemory memory;
  const std::uint64_t a = *memory.allocate("a", 100), b = *memory.allocate("b", 10);
  EXPECT_TRUE(memory.find(a, 100));
  EXPECT_TRUE(memory.find(a + 99, 1));
  EXPECT_FALSE(memory.find(a + 99, 2));
  EXPECT_FALSE(memory.find(a - 1, 1));
  EXPECT_FALSE(memory.find(a, ~std::uint64_t{0}));
  EXPECT_FALSE(memory.find(0, 1));
  EXPECT_FALSE(memory.find(~std::uint64_t{0}, 1));
  EXPECT_GE(b - a, std::uint64_t{1} << 32);
  EXPECT_NE(memory.describe(a + 98, 4).find("'a'"), std::string::npos);
}

TEST(GlobalMemory, ReleasedSlotsAreUsedAgain) {
  GlobalMemory memory;
  const std::uint64_t a = *memory.allocate("a", 100);
  memory.release(a);
  EXPECT_FALSE(memory.find(a, 1));
  EXPECT_EQ(*memory.allocate("b", 100), a);
}

TEST(GlobalMemory, HugeAllocationsCostNothingUntilTouched) {
  GlobalMemory memory;
  const auto huge =
      memory.allocate("huge", std::uint64_t{100} << 30, GlobalMemory::Contents::uninitialised);
  ASSERT_TRUE(huge.has_value());
  EXPECT_TRUE(memory.find(*huge + (std::uint64_t{99} << 30), 16));
  memory.bytes(*huge)[std::size_t{99} << 30] = 1;
}

TEST(GlobalMemory, MapsHostBytes) {
  GlobalMemory memory;
  std::vector<std::uint8_t> bytes(16, 3);
  const std::uint64_t at = *memory.map("host", bytes);
  EXPECT_EQ(memory.find(at, 16)->host, bytes.data());
}

} // namespace
} // namespace kw
