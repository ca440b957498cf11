// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception

#include "codegen/HsacoFile.h"
#include "codegen/Compile.h"
#include "codegen/Disassembly.h"
#include "ir/Decision.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

using namespace kw;
using testing::HasSubstr;

namespace {

std::vector<std::uint8_t> smallHsaco() {
  static const std::vector<std::uint8_t> bytes = [] {
    const auto compiled = compile(*parseProblem("rmsnorm rows=64 cols=1024 dtype=bf16"),
                                  defaultSchedule(Family::rmsnorm), **findTarget("gfx950"));
    return compiled ? compiled->object.hsaco : std::vector<std::uint8_t>{};
  }();
  return bytes;
}

std::vector<std::uint8_t> bytesOf(std::string_view text) { return {text.begin(), text.end()}; }

} // namespace

TEST(HsacoFile, ReadsTheKernelAndItsGpu) {
  const std::vector<std::uint8_t> bytes = smallHsaco();
  const Expected<HsacoFile> file = parseHsaco(bytes);
  ASSERT_TRUE(file.has_value()) << file.error().message;
  EXPECT_EQ(file->cpu, "gfx950");
  ASSERT_EQ(file->kernels.size(), 1u);
  EXPECT_GT(file->kernels[0].code.size(), 100u);
  EXPECT_EQ(file->kernels[0].descriptor.size(), 64u);
}

TEST(HsacoFile, ForeignBytesAreNamed) {
  EXPECT_THAT(readResources({}).error().message, HasSubstr("ELF signature"));
  EXPECT_THAT(readResources(bytesOf("#!/bin/sh\necho no\n")).error().message,
              HasSubstr("ELF signature"));
  // An ELF header of another machine: our own, with the machine field changed to x86-64.
  std::vector<std::uint8_t> other = smallHsaco();
  ASSERT_GT(other.size(), 64u);
  other[18] = 62;
  EXPECT_THAT(readResources(other).error().message, HasSubstr("another machine"));
}

/// Every prefix is an error, never a crash.
TEST(HsacoFile, TruncatedFilesAreErrors) {
  const std::vector<std::uint8_t> whole = smallHsaco();
  ASSERT_FALSE(whole.empty());
  for (std::size_t size = 0; size < whole.size(); size += 37) {
    const std::span<const std::uint8_t> part(whole.data(), size);
    EXPECT_FALSE(readResources(part).has_value()) << size;
    EXPECT_FALSE(disassemble(part).has_value()) << size;
  }
}

/// Damaged bytes may still parse, but must not crash.
TEST(HsacoFile, DamagedFilesDoNotCrash) {
  const std::vector<std::uint8_t> whole = smallHsaco();
  for (std::size_t at = 0; at < whole.size(); at += 11) {
    std::vector<std::uint8_t> damaged = whole;
    damaged[at] ^= 0xFF;
    (void)readResources(damaged);
  }
}

/// The GPU's number stands in the low byte of e_flags.
TEST(HsacoFile, EveryOtherGpuIsRefused) {
  constexpr std::size_t flagsAt = 48;
  std::vector<std::uint8_t> changed = smallHsaco();
  const std::uint8_t gfx950 = changed[flagsAt];
  for (int machine = 0; machine < 256; ++machine) {
    changed[flagsAt] = static_cast<std::uint8_t>(machine);
    const auto resources = readResources(changed);
    EXPECT_EQ(bool(resources), machine == gfx950 || machine == 0x4C) << machine;
    if (!resources) {
      EXPECT_THAT(resources.error().message, HasSubstr("another GPU"));
    }
  }
}
