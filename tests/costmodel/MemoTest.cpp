// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Memo.h"

#include <gtest/gtest.h>

using namespace kw;

TEST(Memo, MakesEachValueOnce) {
  Memo<int> memo;
  int made = 0;
  for (int pass = 0; pass < 2; ++pass) {
    for (int key = 0; key < 1000; ++key) {
      EXPECT_EQ(memo.find(key, [&] { return ++made, 3 * key; }), 3 * key);
    }
  }
  EXPECT_EQ(made, 1000);
  EXPECT_EQ(memo.size(), 1000u);
}

TEST(Memo, StaysBoundedAndRight) {
  Memo<std::uint64_t> memo;
  for (std::uint64_t key = 0; key < 5 * Memo<int>::maxEntries; ++key) {
    ASSERT_EQ(memo.find(key << 20, [&] { return key; }), key);
    ASSERT_LE(memo.size(), Memo<int>::maxEntries + 1);
  }
}

TEST(Memo, KeysOfSequencesTellOrder) {
  EXPECT_NE(mixInto(mixInto(0, 1), 2), mixInto(mixInto(0, 2), 1));
}
