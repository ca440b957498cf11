// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The emulated HIP library as a host program uses it: C functions of a shared library.
#include "runtime/hip/HipLibrary.h"
#include "tests/runtime/emulator/Assembly.h"

#include <cstdlib>
#include <dlfcn.h>
#include <gtest/gtest.h>

namespace kw {
namespace {

using namespace hip;

/// What HipLibrary does not need.
struct MoreFunctions {
  Status (*memset)(void *, int, std::size_t);
  Status (*eventCreate)(void **);
  Status (*eventDestroy)(void *);
  Status (*eventRecord)(void *, Stream);
  Status (*eventSynchronize)(void *);
  Status (*eventElapsedTime)(float *, void *, void *);
  Status (*streamCreate)(Stream *);
  Status (*streamSynchronize)(Stream);
  Status (*streamDestroy)(Stream);
  Status (*propertiesOfHip5)(void *, int);
};

class EmulatedHipTest : public testing::Test {
protected:
  void SetUp() override {
    setenv("KW_HIP_LIBRARY", KW_EMULATED_HIP, 1);
    auto opened = HipLibrary::open();
    unsetenv("KW_HIP_LIBRARY");
    ASSERT_TRUE(opened.has_value()) << opened.error().message;
    hip = std::move(*opened);
    void *handle = dlopen(KW_EMULATED_HIP, RTLD_NOW | RTLD_LOCAL);
    get(more.memset, handle, "hipMemset");
    get(more.eventCreate, handle, "hipEventCreate");
    get(more.eventDestroy, handle, "hipEventDestroy");
    get(more.eventRecord, handle, "hipEventRecord");
    get(more.eventSynchronize, handle, "hipEventSynchronize");
    get(more.eventElapsedTime, handle, "hipEventElapsedTime");
    get(more.streamCreate, handle, "hipStreamCreate");
    get(more.streamSynchronize, handle, "hipStreamSynchronize");
    get(more.streamDestroy, handle, "hipStreamDestroy");
    get(more.propertiesOfHip5, handle, "hipGetDeviceProperties");
  }

  template <typename F> static void get(F &function, void *handle, const char *name) {
    function = reinterpret_cast<F>(dlsym(handle, name));
    ASSERT_TRUE(function) << name;
  }

  /// Loads a kernel that copies 64 dwords.
  void loadCopy() {
    const auto code = test::assemble({.body = std::string(test::prologue) +
                                              "  global_load_dword v2, v1, s[4:5]\n"
                                              "  s_waitcnt vmcnt(0)\n"
                                              "  global_store_dword v1, v2, s[6:7]\n"});
    ASSERT_EQ(hip.moduleLoadData(&module, code.data()), success);
    ASSERT_EQ(hip.moduleGetFunction(&function, module, "k"), success);
  }

  void *allocate(std::size_t bytes) {
    void *pointer = nullptr;
    EXPECT_EQ(hip.malloc(&pointer, bytes), success);
    return pointer;
  }

  Status launch(void **arguments, void **extra, Stream stream = nullptr) {
    return hip.moduleLaunchKernel(function, 1, 1, 1, 64, 1, 1, 0, stream, arguments, extra);
  }

  HipLibrary hip;
  MoreFunctions more;
  Module module = nullptr;
  Function function = nullptr;
};

TEST_F(EmulatedHipTest, LaunchesWithPointersToArgumentsOnAStreamBetweenEvents) {
  loadCopy();
  void *in = allocate(256), *out = allocate(256);
  ASSERT_EQ(more.memset(in, 0x5a, 256), success);
  Stream stream = nullptr;
  void *start = nullptr, *stop = nullptr;
  ASSERT_EQ(more.streamCreate(&stream), success);
  ASSERT_EQ(more.eventCreate(&start), success);
  ASSERT_EQ(more.eventCreate(&stop), success);
  float milliseconds = -1;
  EXPECT_EQ(more.eventElapsedTime(&milliseconds, start, stop), invalidHandle);

  void *arguments[] = {&in, &out};
  EXPECT_EQ(more.eventRecord(start, stream), success);
  EXPECT_EQ(launch(arguments, nullptr, stream), success);
  EXPECT_EQ(more.eventRecord(stop, stream), success);
  EXPECT_EQ(more.eventSynchronize(stop), success);
  EXPECT_EQ(more.eventElapsedTime(&milliseconds, start, stop), success);
  EXPECT_GT(milliseconds, 0);
  EXPECT_EQ(more.streamSynchronize(stream), success);
  std::vector<std::uint8_t> result(256);
  EXPECT_EQ(hip.memcpy(result.data(), out, 256, byAddress), success);
  EXPECT_EQ(result, std::vector<std::uint8_t>(256, 0x5a));

  EXPECT_EQ(more.eventDestroy(start), success);
  EXPECT_EQ(more.eventDestroy(start), invalidHandle);
  EXPECT_EQ(more.streamDestroy(stream), success);
  EXPECT_EQ(hip.free(in), success);
  EXPECT_EQ(hip.free(in), invalidValue);
  EXPECT_EQ(hip.moduleUnload(module), success);
  EXPECT_EQ(launch(arguments, nullptr), invalidHandle);
}

TEST_F(EmulatedHipTest, AFindingIsToldByTheNextWait) {
  loadCopy();
  void *uninitialised = allocate(256), *out = allocate(256);
  void *arguments[] = {&uninitialised, &out};
  EXPECT_EQ(launch(arguments, nullptr), success);
  testing::internal::CaptureStderr();
  EXPECT_EQ(launch(arguments, nullptr), success);
  const std::string said = testing::internal::GetCapturedStderr();
  EXPECT_NE(said.find("uninit"), std::string::npos) << said;
  EXPECT_NE(said.find("in kernel 'k'"), std::string::npos) << said;
  EXPECT_EQ(hip.deviceSynchronize(), launchFailure);
  EXPECT_EQ(hip.deviceSynchronize(), success);
}

TEST_F(EmulatedHipTest, RefusesWhatIsWrong) {
  loadCopy();
  std::uint8_t host[16] = {};
  void *device = allocate(16);
  EXPECT_EQ(hip.memcpy(device, host, 17, hostToDevice), invalidValue);
  EXPECT_EQ(hip.memcpy(host, host, 16, deviceToHost), invalidValue);
  EXPECT_EQ(hip.memcpy(host, device, 16, 17), invalidValue);
  EXPECT_EQ(hip.moduleLoadData(&module, "not a code object"), invalidImage);
  EXPECT_EQ(hip.moduleGetFunction(&function, module, "other"), notFound);
  EXPECT_EQ(hip.setDevice(1), invalidDevice);
  std::size_t bytes = 16;
  void *unknownKey[] = {&bytes, host, endKey};
  EXPECT_EQ(launch(nullptr, unknownKey), invalidValue);
  EXPECT_EQ(hip.moduleLaunchKernel(function, 1, 1, 1, 2048, 1, 1, 0, nullptr, nullptr, nullptr),
            invalidConfiguration);
}

TEST_F(EmulatedHipTest, TellsItsPropertiesInBothLayouts) {
  EXPECT_EQ(hip.propertiesLayout.symbol, propertiesOfHip6.symbol);
  std::vector<char> properties(hip::propertiesOfHip5.bytes);
  ASSERT_EQ(more.propertiesOfHip5(properties.data(), 0), success);
  EXPECT_STREQ(properties.data() + hip::propertiesOfHip5.arch, "gfx950:sramecc+:xnack-");
  EXPECT_EQ(hip.describe(0)->arch, "gfx950");
  EXPECT_FALSE(hip.describe(1));
}

} // namespace
} // namespace kw
