// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/HostBuffer.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <string>
#include <vector>

namespace kw {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class HostBufferTest : public testing::Test {
protected:
  void SetUp() override {
    folder = fs::path(testing::TempDir()) /
             ("kw_host_buffer_" +
              std::string(testing::UnitTest::GetInstance()->current_test_info()->name()));
    fs::create_directories(folder);
  }
  void TearDown() override { fs::remove_all(folder); }

  fs::path write(const std::string &text) const {
    std::ofstream(folder / "a.bin", std::ios::binary) << text;
    return folder / "a.bin";
  }

  fs::path folder;
};

/// Resident memory of this process in bytes.
std::int64_t residentBytes() {
  std::ifstream statm("/proc/self/statm");
  std::int64_t size = 0;
  std::int64_t resident = 0;
  statm >> size >> resident;
  return resident * 4096;
}

TEST_F(HostBufferTest, PoisonIsEverywhere) {
  for (const std::int64_t bytes :
       {std::int64_t{0}, std::int64_t{1}, std::int64_t{5000}, (std::int64_t{4} << 20) - 1,
        std::int64_t{4} << 20, (std::int64_t{13} << 20) + 777}) {
    auto buffer = HostBuffer::poisoned(bytes);
    ASSERT_TRUE(buffer);
    ASSERT_EQ(buffer->bytes().size(), static_cast<std::size_t>(bytes));
    EXPECT_EQ(firstOtherByte(buffer->bytes(), HostBuffer::poison), buffer->bytes().size());
  }
}

TEST_F(HostBufferTest, AWriteShowsWhereItIsAndNowhereElse) {
  auto buffer = HostBuffer::poisoned(std::int64_t{64} << 20);
  ASSERT_TRUE(buffer);
  const std::size_t at = (std::size_t{37} << 20) + 12345;
  buffer->bytes()[at] = 1;
  EXPECT_EQ(firstOtherByte(buffer->bytes(), HostBuffer::poison), at);
  EXPECT_EQ(firstOtherByte(buffer->bytes().subspan(at + 1), HostBuffer::poison),
            buffer->bytes().size() - at - 1);
}

TEST_F(HostBufferTest, GigabytesCostOnlyWhatIsWritten) {
  const std::int64_t before = residentBytes();
  auto poisoned = HostBuffer::poisoned(std::int64_t{8} << 30);
  auto zeroed = HostBuffer::zeroed(std::int64_t{8} << 30);
  ASSERT_TRUE(poisoned);
  ASSERT_TRUE(zeroed);
  for (std::size_t i = 0; i < 100; ++i) {
    poisoned->bytes()[i << 26] = 1;
    zeroed->bytes()[i << 26] = 1;
  }
  EXPECT_LT(residentBytes() - before, std::int64_t{64} << 20);
}

TEST_F(HostBufferTest, FilesAreCopiedOnWrite) {
  const fs::path file = write("hello");
  auto buffer = HostBuffer::ofFile(file, 5);
  ASSERT_TRUE(buffer);
  EXPECT_EQ(std::string(buffer->bytes().begin(), buffer->bytes().end()), "hello");
  buffer->bytes()[0] = 'j';
  std::string text;
  std::ifstream(file) >> text;
  EXPECT_EQ(text, "hello");
}

TEST_F(HostBufferTest, FilesMustHaveTheBuffersSize) {
  const auto buffer = HostBuffer::ofFile(write("hello"), 6);
  ASSERT_FALSE(buffer);
  EXPECT_EQ(buffer.error().kind, Error::Kind::badInput);
  EXPECT_THAT(buffer.error().message, HasSubstr("has 5 bytes, the buffer 6"));
  const auto missing = HostBuffer::ofFile(folder / "none", 6);
  ASSERT_FALSE(missing);
  EXPECT_THAT(missing.error().message, HasSubstr("No such file"));
  EXPECT_FALSE(HostBuffer::ofFile(folder, 6));
}

TEST_F(HostBufferTest, MovingKeepsTheContents) {
  auto first = HostBuffer::poisoned(100);
  ASSERT_TRUE(first);
  first->bytes()[3] = 9;
  HostBuffer second = std::move(*first);
  EXPECT_EQ(second.bytes()[3], 9);
  EXPECT_TRUE(first->bytes().empty());
}

} // namespace
} // namespace kw
