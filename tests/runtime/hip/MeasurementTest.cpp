// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Measuring, and whatever may go wrong with it, against a library that poses as a GPU
// (FakeGpu.cpp).
#include "runtime/hip/Measurement.h"

#include "runtime/hip/HipDevice.h"
#include "tests/runtime/emulator/Assembly.h"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <iterator>

namespace kw {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char *addOne = "  global_load_dword v2, v1, s[4:5]\n  s_waitcnt vmcnt(0)\n"
                               "  v_add_u32 v2, 1, v2\n  global_store_dword v1, v2, s[6:7]\n";
constexpr const char *endless = "1: s_nop 0\n  s_branch 1b\n";

class MeasurementTest : public testing::Test {
protected:
  void SetUp() override {
    object = makeObject(addOne);
    set("KW_HIP_LIBRARY", KW_FAKE_GPU);
    logFile = testing::TempDir() + "kw_fake_gpu_" + std::to_string(getpid());
    std::filesystem::remove(logFile);
  }
  void TearDown() override {
    for (const std::string &name : variables) {
      unsetenv(name.c_str());
    }
    std::filesystem::remove(logFile);
  }

  void set(const std::string &name, const std::string &value) {
    setenv(name.c_str(), value.c_str(), 1);
    variables.push_back(name);
  }

  static CodeObject makeObject(const std::string &body) {
    CodeObject object;
    object.hsaco = test::assemble({.body = std::string(test::prologue) + body});
    object.manifest.target = "gfx950";
    object.manifest.buffers = {{.name = "in", .bytes = 256, .role = BufferRole::input},
                               {.name = "out", .bytes = 256, .role = BufferRole::output}};
    object.manifest.launches = {
        Launch{.kernel = "k",
               .block = {64, 1, 1},
               .arguments = {{{}, BufferArgument{"in"}}, {{}, BufferArgument{"out"}}}}};
    return object;
  }

  Expected<Measurement> measureNow(double limitSeconds = 60) {
    MeasureOptions options;
    options.warmUps = 3;
    options.samples = 5;
    options.rotatedBytes = 32768; // four sets of two pages
    options.sampleMicroseconds = 1;
    options.limitSeconds = limitSeconds;
    const std::array views{BufferView{"in", in}, BufferView{"out", out}};
    return measure(object, views, options);
  }

  std::vector<std::string> launches() const {
    std::ifstream stream(logFile);
    std::vector<std::string> addresses;
    for (std::string function, argument; stream >> function >> argument;) {
      if (function == "hipModuleLaunchKernel") {
        addresses.push_back(argument);
      }
    }
    return addresses;
  }

  CodeObject object;
  std::vector<std::uint8_t> in = std::vector<std::uint8_t>(256, 1);
  std::vector<std::uint8_t> out = std::vector<std::uint8_t>(256, 0xff);
  std::vector<std::string> variables;
  std::string logFile;
};

TEST_F(MeasurementTest, TakesSamplesAndNamesTheDevice) {
  const auto measured = measureNow();
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->samples.size(), 5U);
  EXPECT_GT(*std::ranges::min_element(measured->samples), 0);
  EXPECT_EQ(measured->device.name, "Test double of a GPU");
  EXPECT_EQ(measured->device.arch, "gfx950");
  EXPECT_EQ(measured->device.clockMhz, 2400);
  EXPECT_EQ(measured->device.computeUnits, 256);
  EXPECT_GT(measured->device.runtimeVersion, 0);
  EXPECT_FALSE(measured->device.isEmulator);
  EXPECT_EQ(measured->bytesPerSet, 8192);
  EXPECT_EQ(out, std::vector<std::uint8_t>(256, 0xff)); // the caller's stay as they are
}

TEST_F(MeasurementTest, RepetitionsTakeTurnsWithTheSets) {
  set("KW_FAKE_GPU_LOG", logFile);
  const auto measured = measureNow();
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_EQ(measured->sets, 4);
  const std::vector<std::string> inputs = launches();
  ASSERT_EQ(inputs.size(), 3U + 1 + 5 * static_cast<std::size_t>(measured->repetitionsPerSample));
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    EXPECT_EQ(inputs[i], inputs[i % 4]) << i;
    EXPECT_EQ(std::count(inputs.begin(), inputs.begin() + 4, inputs[i]), 1) << i;
  }
}

TEST_F(MeasurementTest, QuantilesAreOfSortedSamples) {
  Measurement measurement;
  measurement.samples = {5, 1, 4, 2, 3};
  EXPECT_EQ(measurement.quantile(0), 1);
  EXPECT_EQ(measurement.quantile(0.5), 3);
  EXPECT_EQ(measurement.quantile(0.9), 5);
  EXPECT_EQ(measurement.quantile(1), 5);
}

TEST_F(MeasurementTest, TheEmulatedLibraryIsToldApart) {
  set("KW_HIP_LIBRARY", KW_EMULATED_HIP);
  const auto measured = measureNow();
  ASSERT_TRUE(measured) << measured.error().message;
  EXPECT_TRUE(measured->device.isEmulator);
}

TEST_F(MeasurementTest, EachCallThatFailsIsOneLineOfHips) {
  for (const char *function :
       {"hipInit", "hipGetDeviceCount", "hipSetDevice", "hipGetDevicePropertiesR0600",
        "hipRuntimeGetVersion", "hipMalloc", "hipMemcpy", "hipModuleLoadData",
        "hipModuleGetFunction", "hipModuleLaunchKernel", "hipDeviceSynchronize", "hipEventCreate",
        "hipEventRecord", "hipEventSynchronize", "hipEventElapsedTime"}) {
    set("KW_FAKE_GPU_FAIL", function);
    const auto measured = measureNow();
    ASSERT_FALSE(measured) << function;
    EXPECT_EQ(measured.error().kind, Error::Kind::failed);
    EXPECT_THAT(measured.error().message, HasSubstr("out of memory (HIP error 2)")) << function;
    EXPECT_THAT(measured.error().message, Not(HasSubstr("\n")));
  }
}

TEST_F(MeasurementTest, AKernelThatHangsIsKilledAndTheNextOneMeasured) {
  object = makeObject(endless);
  const auto hung = measureNow(1);
  ASSERT_FALSE(hung);
  EXPECT_EQ(hung.error().message, "device 'hip': running 'k' did not end within 1 s; the process "
                                  "that waited for it was killed");
  object = makeObject(addOne);
  EXPECT_TRUE(measureNow());
}

TEST_F(MeasurementTest, ADeviceRunIsKilledTooAndItsBuffersAreAsBefore) {
  object = makeObject(endless);
  const auto device = makeDevice("hip", 1);
  ASSERT_TRUE(device) << device.error().message;
  const std::array views{BufferView{"in", in}, BufferView{"out", out}};
  const auto hung = (*device)->run(object, views, {});
  ASSERT_FALSE(hung);
  EXPECT_THAT(hung.error().message, HasSubstr("running 'k' did not end within 1 s"));
  EXPECT_EQ(out, std::vector<std::uint8_t>(256, 0xff));
  object = makeObject(addOne);
  ASSERT_TRUE((*device)->run(object, views, {}));
  EXPECT_EQ(out[0], 2);
}

TEST_F(MeasurementTest, ADriverThatHangsIsTold) {
  set("KW_FAKE_GPU_HANG", "hipMemcpy");
  const auto hung = measureNow(0.5);
  ASSERT_FALSE(hung);
  EXPECT_THAT(hung.error().message, HasSubstr("copying set 0 of 4 to the device did not end"));
}

TEST_F(MeasurementTest, ADriverThatCrashesIsTold) {
  set("KW_FAKE_GPU_CRASH", "hipModuleLaunchKernel");
  const auto crashed = measureNow();
  ASSERT_FALSE(crashed);
  EXPECT_EQ(crashed.error().message, "device 'hip': running 'k': its process was killed by signal "
                                     "11 (Segmentation fault)");
}

TEST_F(MeasurementTest, CodeForAnotherArchitectureIsBadInput) {
  object.manifest.target = "gfx942";
  const auto refused = measureNow();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().kind, Error::Kind::badInput);
}

} // namespace
} // namespace kw
