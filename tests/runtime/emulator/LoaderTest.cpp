// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Assembly.h"

#include <cstring>
#include <elf.h>
#include <gtest/gtest.h>
#include <random>

namespace kw::test {
namespace {

TEST(Loader, ForeignAndTruncatedFilesAreRefused) {
  const std::vector<std::uint8_t> good = assemble({.body = prologue});
  ASSERT_TRUE(LoadedCode::load(good).has_value());
  EXPECT_FALSE(LoadedCode::load({}).has_value());
  const std::string text = "not an ELF file at all, but long enough to hold a header of one .....";
  EXPECT_FALSE(LoadedCode::load({reinterpret_cast<const std::uint8_t *>(text.data()), text.size()})
                   .has_value());
  std::vector<std::uint8_t> foreign = good;
  foreign[18] = 62; // e_machine x86-64
  EXPECT_FALSE(LoadedCode::load(foreign).has_value());
  foreign = good;
  foreign[48] = 0x4c; // e_flags: gfx942
  const auto refused = LoadedCode::load(foreign);
  ASSERT_FALSE(refused.has_value());
  EXPECT_NE(refused.error().message.find("gfx950"), std::string::npos);
  for (std::size_t size = 0; size < good.size(); size += 61) {
    (void)LoadedCode::load(std::span(good).first(size)); // an error or not, but no crash
  }
}

TEST(Loader, MutantsNeverCrash) {
  const std::vector<std::uint8_t> good = assemble({.body = std::string(prologue) + R"(
    global_load_dword v2, v1, s[4:5]
    s_waitcnt vmcnt(0)
    v_add_u32 v2, v2, v2
    ds_write_b32 v1, v2
    s_waitcnt lgkmcnt(0)
    ds_read_b32 v3, v1
    s_waitcnt lgkmcnt(0)
    global_store_dword v1, v3, s[6:7])",
                                                   .ldsBytes = 256});
  std::mt19937 engine(7);
  int ran = 0;
  for (int i = 0; i < 1500; ++i) {
    std::vector<std::uint8_t> mutant = good;
    for (int k = 0; k < 1 + i % 4; ++k) {
      mutant[engine() % mutant.size()] = static_cast<std::uint8_t>(engine());
    }
    const auto code = LoadedCode::load(mutant);
    if (!code) {
      EXPECT_FALSE(code.error().message.empty());
      continue;
    }
    GlobalMemory memory;
    for (const std::string &kernel : code->kernelNames()) {
      ran += emulate(*code, kernel, memory, {.block = {64, 1, 1}}, {.instructionBudget = 10000})
                 .has_value();
    }
  }
  EXPECT_GT(ran, 0);
}

// LLVM's decoder has words for what it cannot read, and may have nowhere to put them.
TEST(Loader, CodeThatEndsWithinAnInstruction) {
  std::vector<std::uint8_t> code = assemble({.body = prologue});
  const std::size_t last = LoadedCode::load(code)->instructions("k").back().fileOffset;
  const auto endsWith = [&](std::uint32_t dword) {
    std::memcpy(code.data() + last, &dword, sizeof(dword));
    const auto loaded = LoadedCode::load(code);
    EXPECT_TRUE(loaded) << dword;
    return loaded ? loaded->instructions("k").back().text : "";
  };
  EXPECT_EQ(endsWith(0x680402ff), "not an instruction"); // v_add_u32 v2, literal, v1
  EXPECT_EQ(endsWith(0x800000ff), "not an instruction"); // s_add_u32 s0, literal, s0
  EXPECT_EQ(endsWith(0xd1ff0000), "not an instruction"); // half of a v_add3_u32
  std::mt19937 engine(11);
  for (int i = 0; i < 2000; ++i) {
    endsWith(i % 2 ? static_cast<std::uint32_t>(engine())
                   : (static_cast<std::uint32_t>(engine()) & ~0xffu) | 0xff);
  }
}

/// The program headers of an ELF file, to be changed.
std::span<Elf64_Phdr> segmentsOf(std::vector<std::uint8_t> &elf) {
  auto *header = reinterpret_cast<Elf64_Ehdr *>(elf.data());
  return {reinterpret_cast<Elf64_Phdr *>(elf.data() + header->e_phoff), header->e_phnum};
}

TEST(Loader, SegmentsThatShareBytesAreRefused) {
  std::vector<std::uint8_t> code = assemble({.body = prologue});
  for (Elf64_Phdr &segment : segmentsOf(code)) {
    if (segment.p_type == PT_LOAD) {
      segment.p_offset = 0;
      segment.p_filesz = segment.p_memsz = code.size();
    }
  }
  const auto refused = LoadedCode::load(code);
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("segments overlap"), std::string::npos)
      << refused.error().message;
}

TEST(Loader, MoreScratchThanAWaveCanHaveIsRefused) {
  EXPECT_TRUE(LoadedCode::load(assemble({.body = prologue, .scratchBytes = 131'056})));
  const auto refused = LoadedCode::load(assemble({.body = prologue, .scratchBytes = 131'060}));
  ASSERT_FALSE(refused);
  EXPECT_NE(refused.error().message.find("131060 bytes of scratch"), std::string::npos)
      << refused.error().message;
}

TEST(Loader, Disassembles) {
  const LoadedCode code = load({.body = "v_add_f32 v0, v1, v2"});
  EXPECT_EQ(code.disassemble("k"), "     0: v_add_f32_e32 v0, v1, v2\n     4: s_endpgm\n");
  EXPECT_TRUE(code.unknownInstructions("k").empty());
}

} // namespace
} // namespace kw::test
