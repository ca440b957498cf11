// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/Device.h"

#include <cstdlib>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using testing::HasSubstr;

TEST(Device, TheEmulatorIsAlwaysThere) {
  const auto device = makeDevice("emulated");
  ASSERT_TRUE(device);
  EXPECT_EQ((*device)->name(), "emulated");
}

TEST(Device, HipSaysWhatIsMissing) {
  ::setenv("KW_HIP_LIBRARY", "none/libamdhip64.so", 1); // some machines have one
  const auto device = makeDevice("hip");
  ::unsetenv("KW_HIP_LIBRARY");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind, Error::Kind::failed);
  EXPECT_THAT(device.error().message, HasSubstr("libamdhip64"));
  EXPECT_EQ(device.error().message.find('\n'), std::string::npos);
}

TEST(Device, UnknownNamesListTheKnown) {
  const auto device = makeDevice("cuda");
  ASSERT_FALSE(device);
  EXPECT_EQ(device.error().kind, Error::Kind::badInput);
  EXPECT_EQ(device.error().message, "device 'cuda' is unknown; accepted: emulated, hip");
}

TEST(Device, AForeignCodeObjectIsBadInput) {
  CodeObject object;
  object.hsaco = {0x7F, 'E', 'L', 'F', 1, 2, 3};
  const auto result = makeEmulatedDevice()->run(object, {}, {});
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().kind, Error::Kind::badInput);
}

} // namespace
} // namespace kw
