// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/support/KeyValues.h"

#include <array>
#include <gtest/gtest.h>

namespace kw {
namespace {

const std::array<Key, 5> keys{{{"size", "1 to 9", true},
                               {"name", "red blue"},
                               {"rate", "a number"},
                               {"on", "0 1"},
                               {"other", "anything"}}};
constexpr std::array<std::string_view, 2> names{"red", "blue"};

KeyValues read(std::vector<std::string_view> items) { return KeyValues("test", items, keys); }

std::string complaint(std::vector<std::string_view> items) {
  const KeyValues values = read(std::move(items));
  return values.complaint() ? values.complaint()->message : "";
}

TEST(KeyValues, ReadsValuesAndDefaults) {
  KeyValues values = read({"size=3", "name=blue", "rate=-2.5e-1", "on=1"});
  EXPECT_EQ(values.integer("size", 1, 9, 0), 3);
  EXPECT_EQ(values.choice("name", names, 0), 1u);
  EXPECT_EQ(values.real("rate", 7), -0.25);
  EXPECT_TRUE(values.flag("on", false));
  EXPECT_EQ(values.text("other"), std::nullopt);
  EXPECT_EQ(values.integer("other", 1, 9, 5), 5);
  EXPECT_FALSE(values.complaint());
}

TEST(KeyValues, ComplainsOfTheList) {
  EXPECT_EQ(complaint({"size=3", "colour=1"}),
            "test: unknown key \"colour\"; accepted keys: size name rate on other");
  EXPECT_EQ(complaint({"name=red"}), "test: key \"size\" is missing; required: size");
  EXPECT_EQ(complaint({"size=3", "size=3"}), "test: key \"size\" is given twice; give it once");
  EXPECT_EQ(complaint({"size=3", "name="}), "test: key \"name\" has no value; accepted: red blue");
  EXPECT_EQ(complaint({"size"}),
            "test: \"size\" is not of the form key=value; accepted keys: size name rate on other");
}

TEST(KeyValues, ComplainsOfValuesAndGoesOn) {
  KeyValues values = read({"size=10", "name=green"});
  EXPECT_EQ(values.integer("size", 1, 9, 4), 4);
  EXPECT_EQ(values.choice("name", names, 1), 1u);
  EXPECT_EQ(values.complaint()->message,
            "test: \"10\" is not a value of key \"size\"; accepted: 1 to 9");
}

TEST(KeyValues, AValueMayHoldAnEqualsSign) {
  EXPECT_EQ(read({"size=1", "other=a=b"}).text("other"), "a=b");
}

TEST(KeyPrinter, LeavesDefaultsOut) {
  KeyPrinter printer(',');
  EXPECT_EQ(printer.text(), "");
  printer.add("a", "x");
  printer.addUnless("b", std::int64_t(3), 3);
  printer.addUnless("c", std::int64_t(4), 3);
  printer.addUnless("d", 0.1, 0);
  EXPECT_EQ(printer.text(), "a=x,c=4,d=0.1");
}

} // namespace
} // namespace kw
