// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// How sharp the proof is: single bits of a right kernel's code are flipped. Most flips must be
// caught, by the result or by a strict check; none may upset the emulator. What passes is harmless:
// cache hints, stricter waits, dead halves of registers, padding.
#include "codegen/Compile.h"
#include "runtime/RandomValues.h"
#include "runtime/Validator.h"

#include <elf.h>
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <string>

namespace kw {
namespace {

/// The emulator, with a short patience: flipped loops may never end.
class ImpatientDevice : public Device {
public:
  std::string_view name() const override { return emulator->name(); }
  Expected<RunResult> run(const CodeObject &object, std::span<const BufferView> buffers,
                          const RunOptions &options) override {
    RunOptions shorter = options;
    shorter.instructionBudget = 1'000'000;
    return emulator->run(object, buffers, shorter);
  }

private:
  std::unique_ptr<Device> emulator = makeEmulatedDevice();
};

/// The executable section.
std::span<std::uint8_t> code(std::vector<std::uint8_t> &elf) {
  const auto *header = reinterpret_cast<const Elf64_Ehdr *>(elf.data());
  const auto *sections = reinterpret_cast<const Elf64_Shdr *>(elf.data() + header->e_shoff);
  for (int i = 0; i < header->e_shnum; ++i) {
    if ((sections[i].sh_flags & SHF_EXECINSTR) != 0) {
      return {elf.data() + sections[i].sh_offset, sections[i].sh_size};
    }
  }
  return {};
}

/// Bytes up to and with the last s_endpgm; padding follows.
std::size_t codeBytes(std::span<const std::uint8_t> text) {
  for (std::size_t at = text.size(); at >= 4; at -= 4) {
    if (text[at - 1] == 0xBF && text[at - 2] == 0x81 && text[at - 3] == 0 && text[at - 4] == 0) {
      return at;
    }
  }
  return 0;
}

void expectCaught(const char *problem, const char *schedule, int flips) {
  const Target &target = *targets().front();
  const auto compiled = compile(*parseProblem(problem), *parseSchedule(schedule), target);
  ASSERT_TRUE(compiled) << compiled.error().message;
  ImpatientDevice device;
  const auto proven = [&](const CodeObject &object) {
    const auto validation = validate(object, target, device, {});
    return validation && validation->ok;
  };
  ASSERT_TRUE(proven(compiled->object));
  int caught = 0;
  for (int i = 0; i < flips; ++i) {
    CodeObject flipped = compiled->object;
    const std::span<std::uint8_t> text = code(flipped.hsaco);
    const std::uint64_t bit = randomBits(1, static_cast<std::uint64_t>(i)) % (codeBytes(text) * 8);
    text[bit / 8] ^= static_cast<std::uint8_t>(1U << (bit % 8));
    caught += proven(flipped) ? 0 : 1;
  }
  fmt::print("{} of {} flipped bits caught\n", caught, flips);
  EXPECT_GE(caught, flips * 13 / 20); // 72 to 82 of 100 with the kernels of today
}

TEST(BitFlip, DirectGemm) {
  expectCaught("gemm m=70 n=72 k=104 dtype=bf16 b=nk", "gemm.1:tile=64x64x64,xcd=0,group=0", 100);
}

TEST(BitFlip, GemmThroughRegisters) {
  expectCaught("gemm m=70 n=72 k=104 dtype=f16",
               "gemm.1:tile=32x64x32,waves=1x4,a=lds,b=lds,la=padding,va=8,acc=agpr,epi=swap,"
               "stages=3,prefetch=2,schedule=interleaved,xcd=0,group=0",
               100);
}

TEST(BitFlip, Attention) {
  expectCaught("attention b=1 hq=4 hkv=1 sq=3 skv=150 d=64 mask=causal lse=1",
               "attention.1:waves=2,splitkv=2", 100);
}

TEST(BitFlip, RmsNorm) {
  expectCaught("rmsnorm rows=9 cols=1000 residual=1", "rmsnorm.1:vec=4", 100);
}

} // namespace
} // namespace kw
