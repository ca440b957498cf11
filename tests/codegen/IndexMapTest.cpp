// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/IndexMap.h"
#include "ir/LdsLayout.h"

#include <gtest/gtest.h>

using namespace kw;

namespace {

template <typename Function> std::vector<std::int64_t> tabulate(int size, Function function) {
  std::vector<std::int64_t> table;
  for (int i = 0; i < size; ++i) {
    table.push_back(function(i));
  }
  return table;
}

void expectReproduced(const std::vector<std::int64_t> &table) {
  const std::optional<IndexMap> map = fitIndexMap(table);
  ASSERT_TRUE(map.has_value());
  for (std::size_t i = 0; i < table.size(); ++i) {
    EXPECT_EQ((*map)(static_cast<std::uint32_t>(i)), table[i]) << i;
  }
}

} // namespace

TEST(IndexMap, NeighbouringBitsBecomeOneField) {
  const auto map = fitIndexMap(tabulate(64, [](int i) { return 5 + 144 * (i % 16); }));
  ASSERT_TRUE(map.has_value());
  EXPECT_EQ(map->base + map->exclusiveBase, 5);
  EXPECT_EQ(map->additive, (std::vector<BitField>{{0, 4, 144}}));
  EXPECT_TRUE(map->exclusive.empty());
}

TEST(IndexMap, ConstantNeedsNoField) {
  const auto map = fitIndexMap(tabulate(8, [](int) { return 48; }));
  ASSERT_TRUE(map.has_value());
  EXPECT_TRUE(map->additive.empty() && map->exclusive.empty());
  EXPECT_EQ((*map)(3), 48);
}

TEST(IndexMap, SwizzledAddressesAreReproduced) {
  for (const int rowBytes : {32, 64, 128, 192, 256, 512}) {
    TileLayout layout{LdsLayout::swizzle, OperandPath::direct, false, 2, 128, rowBytes};
    for (int first = 0; first + 16 <= rowBytes; first += 16) {
      expectReproduced(tabulate(64, [&](int i) { return layout.address(i, first); }));
    }
  }
}

TEST(IndexMap, PaddedRowsAreReproduced) {
  TileLayout layout{LdsLayout::padding, OperandPath::lds, false, 2, 128, 128};
  expectReproduced(
      tabulate(256, [&](int i) { return layout.address(i % 16 + i / 64 * 16, i / 16 % 4 * 16); }));
}

TEST(IndexMap, DivisionIsNoSumOfBits) {
  EXPECT_FALSE(fitIndexMap(tabulate(64, [](int i) { return i * 16 / 192; })).has_value());
}
