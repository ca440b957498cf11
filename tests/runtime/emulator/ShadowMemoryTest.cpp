// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What strict mode costs in memory: at most twice the buffers and 200 MB.
#include "Assembly.h"

#include <cstring>
#include <fstream>
#include <gtest/gtest.h>

namespace kw::test {
namespace {

constexpr std::uint64_t mebibyte = 1 << 20;

/// A line of /proc/self/status in bytes; 0: there is none.
std::uint64_t statusBytes(const std::string &key) {
  std::ifstream status("/proc/self/status");
  for (std::string word; status >> word;) {
    if (word == key + ":") {
      std::uint64_t kibibytes = 0;
      status >> kibibytes;
      return kibibytes << 10;
    }
  }
  return 0;
}

/// A workgroup stores 64 KiB; behind a barrier other waves load them: every dword of the buffer has
/// a writer, a reader and bytes that were not defined before.
const std::string storeAndLoad = std::string(prologue) + R"(
  s_mul_i32 s10, s2, 0x10000
  s_add_u32 s6, s6, s10
  s_addc_u32 s7, s7, 0
  v_and_b32 v0, 0x3ff, v0
  v_lshlrev_b32 v1, 4, v0
  v_mov_b32 v2, v0
  v_mov_b32 v3, v0
  v_mov_b32 v4, v0
  v_mov_b32 v5, v0
  v_mov_b32 v10, v1
  s_movk_i32 s11, 16
1: global_store_dwordx4 v10, v[2:5], s[6:7]
  v_add_u32 v10, 0x1000, v10
  s_sub_u32 s11, s11, 1
  s_cmp_lg_u32 s11, 0
  s_cbranch_scc1 1b
  s_barrier
  v_xor_b32 v10, 0x400, v1
  s_movk_i32 s11, 16
2: global_load_dwordx4 v[6:9], v10, s[6:7]
  v_add_u32 v10, 0x1000, v10
  s_waitcnt vmcnt(0)
  s_sub_u32 s11, s11, 1
  s_cmp_lg_u32 s11, 0
  s_cbranch_scc1 2b)";

/// How far resident memory grows at most while the kernel runs over `in` (zeros) and `out`; 0: the
/// system does not tell.
std::uint64_t growth(const std::string &body, std::uint64_t inBytes, std::uint64_t outBytes,
                     std::uint32_t groups, std::uint32_t workItems) {
  const LoadedCode code = load({.body = body});
  GlobalMemory memory;
  const auto in = memory.allocate("in", inBytes);
  const auto out = memory.allocate("out", outBytes, GlobalMemory::Contents::uninitialised);
  EmulatorLaunch launch{.grid = {groups, 1, 1}, .block = {workItems, 1, 1}};
  launch.kernarg.resize(16);
  std::memcpy(launch.kernarg.data(), &*in, 8);
  std::memcpy(launch.kernarg.data() + 8, &*out, 8);
  std::ofstream("/proc/self/clear_refs") << "5"; // the peak begins here
  const std::uint64_t before = statusBytes("VmRSS");
  if (before == 0 || statusBytes("VmHWM") > before + mebibyte) {
    return 0;
  }
  const auto result = emulate(code, "k", memory, launch, {});
  EXPECT_TRUE(result) << result.error().message;
  EXPECT_TRUE(result->clean());
  return statusBytes("VmHWM") - before;
}

TEST(ShadowMemory, IsAtMostTwiceTheBuffers) {
  constexpr std::uint64_t bytes = 128 * mebibyte;
  const std::uint64_t grown = growth(storeAndLoad, 64, bytes, bytes / 65536, 256);
  if (grown == 0) {
    GTEST_SKIP() << "the system does not tell the peak of resident memory";
  }
  EXPECT_GE(grown, 3 * bytes - 4 * mebibyte); // the buffer, writers and readers: all was used
  // The records of this launch are few; its flags alone would be 16 MiB if none were given back.
  EXPECT_LE(grown, 3 * bytes + 15 * mebibyte);
}

/// Each workgroup draws a number from one counter: what it knows then is about all before it.
TEST(ShadowMemory, AChainOfReleasesIsShared) {
  const std::string ticket = std::string(prologue) + R"(
    s_mov_b64 exec, 1
    v_mov_b32 v2, 0
    v_mov_b32 v3, 1
    global_atomic_add v4, v2, v3, s[4:5] sc0
    s_waitcnt vmcnt(0)
    v_lshlrev_b32 v5, 2, v4
    global_store_dword v5, v3, s[6:7])";
  constexpr std::uint32_t groups = 16384;
  const std::uint64_t grown = growth(ticket, 64, 4 * groups, groups, 64);
  if (grown == 0) {
    GTEST_SKIP() << "the system does not tell the peak of resident memory";
  }
  EXPECT_LE(grown, 200 * mebibyte);
}

} // namespace
} // namespace kw::test
