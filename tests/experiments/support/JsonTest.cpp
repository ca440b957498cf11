// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/support/Json.h"

#include <gtest/gtest.h>
#include <limits>

namespace kw {
namespace {

TEST(Json, NumbersThatAreNoneBecomeNull) {
  const Json json = {{"nan", std::numeric_limits<double>::quiet_NaN()},
                     {"infinity", std::numeric_limits<double>::infinity()}};
  EXPECT_EQ(printJson(json), R"({"nan":null,"infinity":null})");
}

TEST(Json, KeepsTheOrderOfKeys) { EXPECT_EQ(printJson({{"z", 1}, {"a", 2}}), R"({"z":1,"a":2})"); }

TEST(Json, BytesThatAreNoUtf8AreReplaced) {
  EXPECT_EQ(printJson({{"text", "a\xff"}}), "{\"text\":\"a\xef\xbf\xbd\"}");
}

TEST(Json, BrokenTextIsBadInputThatNamesTheDocument) {
  const Expected<nlohmann::json> json = parseJson("{", "a.json");
  ASSERT_FALSE(json);
  EXPECT_EQ(json.error().kind, Error::Kind::badInput);
  EXPECT_EQ(json.error().message, "a.json: is not JSON");
}

TEST(Json, RepeatedKeysAreFoundInTheirObject) {
  EXPECT_EQ(repeatedKey(R"({"a": 1, "b": [{"a": 1}, {"a": 2, "c": {"c": 1}}]})"), "");
  EXPECT_EQ(repeatedKey(R"({"a": 1, "b": 2, "a": 1})"), "a");
  EXPECT_EQ(repeatedKey(R"({"a": [{"b": {}, "c": 1, "b": 2}]})"), "b");
  EXPECT_EQ(repeatedKey("[1, 2]"), "");
  EXPECT_EQ(repeatedKey("{"), "");
}

} // namespace
} // namespace kw
