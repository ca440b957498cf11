// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/TextTable.h"

#include <filesystem>
#include <fstream>
#include <gtest/gtest.h>
#include <zlib.h>

namespace kw {
namespace {

class TextTableFile : public testing::Test {
protected:
  std::string file = testing::TempDir() + "kw_text_table_" +
                     testing::UnitTest::GetInstance()->current_test_info()->name() + ".csv.gz";
  void TearDown() override { std::filesystem::remove(file); }
};

TEST(TextTable, ReadsCellsByHeader) {
  const auto table = TextTable::parse("a,b\n1,2\n\n\"x,\"\"y\",\r\n", "t.csv");
  ASSERT_TRUE(table);
  EXPECT_EQ(table->rows(), 2u);
  EXPECT_EQ(table->column("b"), 1u);
  EXPECT_FALSE(table->column("c"));
  EXPECT_EQ(table->cells(0), (std::vector<std::string>{"1", "2"}));
  EXPECT_EQ(table->cells(1), (std::vector<std::string>{"x,\"y", ""}));
  EXPECT_EQ(table->lineNumber(1), 4u);
}

TEST(TextTable, SaysWhichRowIsShort) {
  const auto table = TextTable::parse("a,b\n1,2\n1\n", "t.csv");
  EXPECT_EQ(table->damage(0), "");
  EXPECT_EQ(table->damage(1), "1 cells where the header has 2");
  EXPECT_EQ(table->cells(1).size(), 2u);
}

TEST(TextTable, RefusesAnEmptyFileByName) {
  const auto table = TextTable::parse("", "t.csv");
  ASSERT_FALSE(table);
  EXPECT_EQ(table.error().message, "t.csv: no header line");
}

TEST(TextTable, KeepsItsCellsWhenCopiedAndMoved) {
  auto table = TextTable::parse("a\nq\n", "t"); // short enough to live in the string itself
  const TextTable copy = *table;
  const TextTable moved = std::move(*table);
  EXPECT_EQ(copy.cells(0).front(), "q");
  EXPECT_EQ(moved.cells(0).front(), "q");
}

TEST_F(TextTableFile, ReadsCompressedAndPlain) {
  const std::string text = "a,b\n3,4\n";
  const gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, text.data(), unsigned(text.size()));
  gzclose(out);
  const auto compressed = TextTable::read(file);
  ASSERT_TRUE(compressed);
  EXPECT_EQ(compressed->cells(0), (std::vector<std::string>{"3", "4"}));
  std::ofstream(file) << text;
  const auto plain = TextTable::read(file);
  ASSERT_TRUE(plain);
  EXPECT_EQ(plain->cells(0), compressed->cells(0));
}

TEST_F(TextTableFile, RefusesADamagedArchive) {
  const std::string text(10000, 'x');
  const gzFile out = gzopen(file.c_str(), "wb");
  gzwrite(out, text.data(), unsigned(text.size()));
  gzclose(out);
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 9);
  const auto table = TextTable::read(file);
  ASSERT_FALSE(table);
  EXPECT_NE(table.error().message.find("damaged"), std::string::npos);
}

TEST(NumberIn, TakesWholeCellsOnly) {
  EXPECT_EQ(numberIn("1e3"), 1000);
  for (const char *cell : {"", "x", "1x", "nan", "inf", " 1"}) {
    EXPECT_FALSE(numberIn(cell)) << cell;
  }
}

} // namespace
} // namespace kw
