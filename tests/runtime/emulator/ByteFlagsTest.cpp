// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/ByteFlags.h"

#include <gtest/gtest.h>
#include <random>
#include <thread>
#include <vector>

namespace kw {
namespace {

constexpr std::uint64_t group = 2 << 20; ///< bytes whose flags are given back together

TEST(ByteFlags, AreAsSet) {
  constexpr std::uint64_t bytes = 100'000; // three pages of 32 KiB and a part
  const auto flags = ByteFlags::reserve(bytes);
  ASSERT_TRUE(flags);
  std::vector<bool> expected(bytes);
  std::mt19937 random(3);
  for (int i = 0; i < 20'000; ++i) {
    const std::uint64_t first = random() % bytes;
    const std::uint64_t count =
        std::min<std::uint64_t>(bytes - first, i % 50 == 0 ? random() % 9000 : random() % 70);
    if (i % 2) {
      flags->set(first, count);
      std::fill_n(expected.begin() + static_cast<std::ptrdiff_t>(first), count, true);
      continue;
    }
    const auto from = expected.begin() + static_cast<std::ptrdiff_t>(first);
    ASSERT_EQ(flags->all(first, count),
              std::find(from, from + static_cast<std::ptrdiff_t>(count), false) ==
                  from + static_cast<std::ptrdiff_t>(count))
        << first << " " << count;
  }
}

TEST(ByteFlags, CompletePagesStayComplete) {
  constexpr std::uint64_t bytes = 2 * group;
  const auto flags = ByteFlags::reserve(bytes);
  flags->set(0, bytes - 1);
  EXPECT_TRUE(flags->all(0, bytes - 1));
  EXPECT_FALSE(flags->all(0, bytes));
  flags->set(100, 200); // again
  flags->set(bytes - 1, 1);
  EXPECT_TRUE(flags->all(0, bytes));
}

// The last byte of a word, a line, a page, a group and of all may be any thread's.
TEST(ByteFlags, ThreadsMaySetNeighbours) {
  constexpr std::uint64_t bytes = 2 * group + 40'000;
  const auto flags = ByteFlags::reserve(bytes);
  std::vector<std::thread> threads;
  for (std::uint64_t first = 0; first < 4; ++first) {
    threads.emplace_back([&, first] {
      for (std::uint64_t at = first; at < bytes; at += 4) {
        flags->set(at, 1);
      }
    });
  }
  for (std::thread &thread : threads) {
    thread.join();
  }
  EXPECT_TRUE(flags->all(0, bytes));
}

} // namespace
} // namespace kw
