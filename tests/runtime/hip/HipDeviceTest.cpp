// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// HipDevice against the emulated HIP library: what it asks of HIP, not what a GPU answers.
#include "runtime/hip/HipDevice.h"
#include "tests/runtime/emulator/Assembly.h"

#include <cstdlib>
#include <cstring>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <numeric>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

/// out[i] = in[i] + addend, for as many work-items as are launched.
std::string addKernel(int addend, int storeOffset = 0) {
  return std::string(test::prologue) +
         "  s_lshl_b32 s10, s2, 8\n  v_add_u32 v1, s10, v1\n"
         "  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n"
         "  v_add_u32 v2, " +
         std::to_string(addend) +
         ", v2\n  global_store_dword v1, v2, s[6:7] offset:" + std::to_string(storeOffset) + "\n";
}

constexpr std::uint32_t workgroups = 3;
constexpr std::size_t elements = workgroups * 64;

/// Two launches: "mid" from "in", then "out" from "mid". The scalar behind the pointers is unused.
CodeObject twoLaunches(const std::string &body) {
  const auto buffer = [](const char *name, BufferRole role) {
    return Buffer{.name = name, .bytes = elements * 4, .role = role};
  };
  const auto launch = [](const char *from, const char *to) {
    return Launch{.kernel = "k",
                  .grid = {workgroups, 1, 1},
                  .block = {64, 1, 1},
                  .arguments = {{{}, BufferArgument{from}}, {{}, BufferArgument{to}}}};
  };
  CodeObject object;
  object.hsaco = test::assemble({.body = body});
  object.manifest.target = "gfx950";
  object.manifest.buffers = {buffer("in", BufferRole::input), buffer("mid", BufferRole::workspace),
                             buffer("out", BufferRole::output)};
  object.manifest.launches = {launch("in", "mid"), launch("mid", "out")};
  return object;
}

struct Contents {
  std::vector<std::uint32_t> in = std::vector<std::uint32_t>(elements);
  std::vector<std::uint32_t> mid = std::vector<std::uint32_t>(elements, 0xdeadbeef);
  std::vector<std::uint32_t> out = std::vector<std::uint32_t>(elements, 0xdeadbeef);

  Contents() { std::iota(in.begin(), in.end(), 100u); }
  static BufferView view(const char *name, std::vector<std::uint32_t> &values) {
    return {name, {reinterpret_cast<std::uint8_t *>(values.data()), values.size() * 4}};
  }
  Expected<RunResult> run(Device &device, const CodeObject &object,
                          const RunOptions &options = {}) {
    const std::array views{view("in", in), view("mid", mid), view("out", out)};
    return device.run(object, views, options);
  }
};

class HipDeviceTest : public testing::Test {
protected:
  void SetUp() override { use(KW_EMULATED_HIP); }
  void TearDown() override { unsetenv("KW_HIP_LIBRARY"); }
  static void use(const char *library) { setenv("KW_HIP_LIBRARY", library, 1); }
  static std::unique_ptr<Device> device() {
    auto made = makeDevice("hip");
    EXPECT_TRUE(made.has_value()) << made.error().message;
    return std::move(*made);
  }
};

TEST_F(HipDeviceTest, RunsEveryLaunchAsTheEmulatedDeviceDoes) {
  const CodeObject object = twoLaunches(addKernel(7));
  Contents onHip, emulated;
  const auto hip = device();
  EXPECT_EQ(hip->name(), "hip");
  const auto result = onHip.run(*hip, object);
  ASSERT_TRUE(result.has_value()) << result.error().message;
  EXPECT_TRUE(result->findings.empty());
  ASSERT_TRUE(emulated.run(*makeEmulatedDevice(), object));
  EXPECT_EQ(onHip.out[elements - 1], 100 + elements - 1 + 14);
  EXPECT_EQ(onHip.in, emulated.in);
  EXPECT_EQ(onHip.mid, emulated.mid);
  EXPECT_EQ(onHip.out, emulated.out);
}

TEST_F(HipDeviceTest, TellsNameAndArchitecture) {
  const auto hip = HipDevice::open();
  ASSERT_TRUE(hip.has_value()) << hip.error().message;
  EXPECT_EQ((*hip)->info().arch, "gfx950");
  EXPECT_THAT((*hip)->info().name, HasSubstr("emulator"));
}

TEST_F(HipDeviceTest, AKernelThatFailsIsAnErrorAndTheNextOneRuns) {
  const auto hip = device();
  Contents contents;
  const auto broken = contents.run(*hip, twoLaunches(addKernel(7, 4)));
  ASSERT_FALSE(broken);
  EXPECT_EQ(broken.error().kind, Error::Kind::failed);
  EXPECT_EQ(broken.error().message,
            "device 'hip': running 'k': unspecified launch failure (HIP error 719)");
  EXPECT_EQ(contents.out[0], 0xdeadbeef);
  EXPECT_TRUE(contents.run(*hip, twoLaunches(addKernel(7))));
}

TEST_F(HipDeviceTest, ALaunchThatHipRefusesIsAnError) {
  CodeObject object = twoLaunches(addKernel(7));
  object.manifest.launches[1].block = {2048, 1, 1};
  Contents contents;
  const auto refused = contents.run(*device(), object);
  ASSERT_FALSE(refused);
  EXPECT_THAT(refused.error().message, HasSubstr("launching 'k': invalid configuration"));
}

TEST_F(HipDeviceTest, AKernelThatIsNotThereIsBadInput) {
  CodeObject object = twoLaunches(addKernel(7));
  object.manifest.launches[0].kernel = "other";
  Contents contents;
  const auto refused = contents.run(*device(), object);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().message, "the code object has no kernel 'other', but k");
}

TEST_F(HipDeviceTest, RefusesCodeForAnotherArchitecture) {
  CodeObject object = twoLaunches(addKernel(7));
  object.manifest.target = "gfx942";
  Contents contents;
  const auto refused = contents.run(*device(), object);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::badInput);
  EXPECT_THAT(refused.error().message, HasSubstr("for gfx942"));
  EXPECT_EQ(contents.mid[0], 0xdeadbeef);
}

TEST_F(HipDeviceTest, RefusesAChoiceOfWorkgroups) {
  RunOptions options;
  options.workgroups = {{}, {1}};
  Contents contents;
  const auto refused = contents.run(*device(), twoLaunches(addKernel(7)), options);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::badInput);
}

TEST_F(HipDeviceTest, AMissingLibraryIsOneLine) {
  use("no-such-folder/libamdhip64.so");
  const auto missing = makeDevice("hip");
  ASSERT_FALSE(missing);
  EXPECT_EQ(missing.error().kind, Error::Kind::failed);
  EXPECT_THAT(missing.error().message, HasSubstr("no-such-folder/libamdhip64.so"));
  EXPECT_THAT(missing.error().message, Not(HasSubstr("\n")));
}

TEST_F(HipDeviceTest, ALibraryWithoutTheFunctionsIsOneLine) {
  use("libm.so.6");
  const auto foreign = makeDevice("hip");
  ASSERT_FALSE(foreign);
  EXPECT_EQ(foreign.error().message, "device 'hip': libm.so.6 has no function hipInit");
}

} // namespace
} // namespace kw
