// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/SavedFiles.h"

#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>
#include <unistd.h>

namespace kw {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class SavedFilesTest : public testing::Test {
protected:
  void SetUp() override {
    outer = fs::path(testing::TempDir()) / ("kw_saved_" + std::to_string(getpid()));
    folder = outer / "manifest";
    fs::create_directories(folder / "sub");
    fs::create_directories(outer / "elsewhere");
  }
  void TearDown() override { fs::remove_all(outer); }

  static Manifest saving(const std::vector<std::string> &files) {
    Manifest manifest;
    for (std::size_t i = 0; i < files.size(); ++i) {
      manifest.buffers.push_back({.name = "b" + std::to_string(i), .bytes = 4, .save = files[i]});
    }
    return manifest;
  }

  std::string complaint(const std::string &file) const {
    const auto files = savedFiles(saving({file}), folder, {});
    return files ? "taken: " + files->front().string() : files.error().message;
  }

  fs::path outer, folder;
};

TEST_F(SavedFilesTest, StayInTheFolder) {
  const std::string inside = (folder / "sub" / "c.bin").string();
  const auto files =
      savedFiles(saving({"a.bin", "", "sub/../b.bin", inside, "new/d.bin", "..e"}), folder, {});
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ((*files)[0], folder / "a.bin");
  EXPECT_EQ((*files)[1], "");
  EXPECT_EQ((*files)[2], folder / "b.bin");
  EXPECT_EQ((*files)[3], inside);
  EXPECT_EQ((*files)[4], folder / "new" / "d.bin");
  EXPECT_EQ((*files)[5], folder / "..e");
}

TEST_F(SavedFilesTest, WhatLeadsOutIsRefused) {
  fs::create_directory_symlink(outer / "elsewhere", folder / "link");
  for (const std::string &file :
       {std::string("../a.bin"), std::string("sub/../../a.bin"), std::string("/tmp/a.bin"),
        std::string("link/a.bin"), (outer / "manifest2" / "a.bin").string(),
        std::string("new/../../a.bin")}) {
    EXPECT_THAT(complaint(file), HasSubstr("leads out of the manifest's folder")) << file;
    EXPECT_THAT(complaint(file), HasSubstr("--save b0=FILE")) << file;
  }
}

TEST_F(SavedFilesTest, WhatNamesNoFileIsRefused) {
  for (const std::string &file : {std::string("."), std::string(".."), std::string("sub/"),
                                  std::string("sub/.."), std::string("a\0b", 3)}) {
    EXPECT_THAT(complaint(file), HasSubstr("names no file")) << file;
  }
}

TEST_F(SavedFilesTest, TheUserMaySaveAnywhere) {
  const auto files = savedFiles(saving({"../a.bin", ""}), folder,
                                {{"b0", outer / "x.bin"}, {"b1", outer / "elsewhere" / "y.bin"}});
  ASSERT_TRUE(files) << files.error().message;
  EXPECT_EQ((*files)[0], outer / "x.bin");
  EXPECT_EQ((*files)[1], outer / "elsewhere" / "y.bin");
  EXPECT_THAT(savedFiles(saving({""}), folder, {{"other", "x"}}).error().message,
              HasSubstr("--save other=x: the manifest has no such buffer"));
}

TEST_F(SavedFilesTest, TwoBuffersDoNotShareAFile) {
  const auto files = savedFiles(saving({"a.bin", "sub/../a.bin"}), folder, {});
  ASSERT_FALSE(files);
  EXPECT_THAT(files.error().message, HasSubstr("another one is saved"));
}

TEST_F(SavedFilesTest, LinksAreReplacedNotFollowed) {
  const std::vector<std::uint8_t> bytes{'n', 'e', 'w'};
  const fs::path target = outer / "elsewhere" / "target";
  std::ofstream(target) << "old";
  fs::create_symlink(target, folder / "a.bin");
  fs::create_symlink(target, folder / "a.bin.part");
  ASSERT_TRUE(writeSaved(folder / "a.bin", bytes));
  EXPECT_FALSE(fs::is_symlink(folder / "a.bin"));
  EXPECT_EQ(fs::file_size(folder / "a.bin"), 3U);
  std::ifstream in(target);
  EXPECT_EQ(std::string(std::istreambuf_iterator<char>(in), {}), "old");
}

} // namespace
} // namespace kw
