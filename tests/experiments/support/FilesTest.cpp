// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/support/Files.h"

#include "tests/experiments/support/TemporaryFolder.h"

#include <csignal>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

namespace kw {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

std::size_t filesIn(const fs::path &folder) {
  return static_cast<std::size_t>(
      std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

TEST(Files, WhatIsWrittenIsRead) {
  const TemporaryFolder folder;
  const fs::path file = folder / "new/folder/a.txt";
  ASSERT_TRUE(writeFile(file, std::string_view("one\0two", 7)));
  EXPECT_EQ(*readText(file), std::string("one\0two", 7));
  EXPECT_EQ(readBytes(file)->size(), 7U);
}

TEST(Files, MissingIsBadInputWithItsPath) {
  const Expected<std::string> text = readText("/nowhere/at/all");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, Error::Kind::badInput);
  EXPECT_THAT(text.error().message, HasSubstr("/nowhere/at/all"));
}

TEST(Files, AFileWithoutEndIsBadInput) {
  const Expected<std::string> text = readText("/dev/zero");
  ASSERT_FALSE(text);
  EXPECT_EQ(text.error().kind, Error::Kind::badInput);
  EXPECT_THAT(text.error().message, HasSubstr("/dev/zero: larger than"));
}

TEST(Files, WhatIsAddedStandsBehindWhatWasThere) {
  const TemporaryFolder folder;
  const fs::path file = folder / "a.csv";
  EXPECT_FALSE(appendToFile(file, "x")) << "there is no file to add to";
  ASSERT_TRUE(writeFile(file, std::string_view("one\n")));
  ASSERT_TRUE(appendToFile(file, "two\n"));
  ASSERT_TRUE(appendToFile(file, "three\n"));
  EXPECT_EQ(*readText(file), "one\ntwo\nthree\n");
  EXPECT_EQ(filesIn(folder.path()), 1U);
}

TEST(Files, AFileWhereAFolderIsNeededIsBadInput) {
  const TemporaryFolder folder;
  ASSERT_TRUE(writeFile(folder / "file", std::string_view("x")));
  const Expected<void> made = makeWritableFolder(folder / "file/sub");
  ASSERT_FALSE(made);
  EXPECT_EQ(made.error().kind, Error::Kind::badInput);
  EXPECT_FALSE(writeFile(folder / "file/sub/a", std::string_view("x")));
}

// A limit on file sizes stands for the full disk: both fail in the middle of the writing.
TEST(Files, AFailedWriteLeavesTheOldFileAndNoPart) {
  const TemporaryFolder folder;
  const fs::path file = folder / "a";
  ASSERT_TRUE(writeFile(file, std::string_view("old")));
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  getrlimit(RLIMIT_FSIZE, &before);
  const rlimit small{1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  const Expected<void> written = writeFile(file, std::string(5000, 'x'));
  setrlimit(RLIMIT_FSIZE, &before);
  ASSERT_FALSE(written);
  EXPECT_EQ(written.error().kind, Error::Kind::failed);
  EXPECT_EQ(*readText(file), "old");
  EXPECT_EQ(filesIn(folder.path()), 1U);
}

TEST(Files, LinesLeaveOutCommentsAndKeepNumbers) {
  const TemporaryFolder folder;
  ASSERT_TRUE(writeFile(folder / "a", std::string_view("# head\n\n one # tail\r\n\ttwo")));
  const Expected<std::vector<TextLine>> lines = readLines(folder / "a");
  ASSERT_TRUE(lines);
  ASSERT_EQ(lines->size(), 2U);
  EXPECT_EQ((*lines)[0].text, "one");
  EXPECT_EQ((*lines)[0].number, 3);
  EXPECT_EQ((*lines)[1].text, "two");
  EXPECT_EQ((*lines)[1].number, 4);
}

TEST(Files, AbsolutePathsHaveNoDotsAndNoSlashBehind) {
  EXPECT_EQ(absolutePath("/a/./b/../c/"), "/a/c");
  EXPECT_EQ(absolutePath("/"), "/");
  EXPECT_TRUE(absolutePath("a").is_absolute());
}

} // namespace
} // namespace kw
