// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Which vector instructions have a meaning, and encodings that have none: what LLVM's assembler
// refuses to write must not run either. Random words are decoded by the emulator, and the text of
// each instruction goes back to the assembler.
#include "Assembly.h"

#include "runtime/emulator/CodeImage.h"

#include <array>
#include <cstdio>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <gtest/gtest.h>
#include <random>
#include <regex>
#include <set>
#include <string>
#include <unistd.h>

namespace kw::test {
namespace {

using u32 = std::uint32_t;

class Encodings {
public:
  explicit Encodings(u32 seed) : engine(seed) {}

  /// A 9-bit source: vector and scalar registers, VCC, M0, EXEC, inline integers (LLVM prints 1.0
  /// of 16-bit integers as what it would not read again), SCC.
  u32 source() {
    static constexpr std::array<u32, 10> others = {2, 3, 4, 106, 124, 126, 128, 193, 129, 253};
    return engine() % 2 == 0 ? 256 + vgpr() : others[engine() % others.size()];
  }
  u32 vgpr() { return engine() % 16 + 4; }

  std::string vop1() { return words(0x7e000000 | vgpr() << 17 | engine() % 100 << 9 | source()); }
  std::string vop2(bool literal) {
    const u32 first = engine() % 61 << 25 | vgpr() << 17 | vgpr() << 9;
    return literal ? words(first | 255, engine() & 0x7fff) : words(first | source());
  }
  std::string vopc() { return words(0x7c000000 | engine() % 256 << 17 | vgpr() << 9 | source()); }
  std::string vop3() {
    const u32 opcode = engine() % 0x2a0;
    const u32 second = source() | source() << 9 | source() << 18;
    return words(0xd0000000 | opcode << 16 | vgpr(), second);
  }
  std::string vop3p() {
    const u32 second = source() | source() << 9 | source() << 18 | 3 << 27;
    return words(0xd3800000 | engine() % 128 << 16 | 1 << 14 | vgpr(), second);
  }

private:
  static std::string words(u32 first) { return fmt::format("  .long {:#x}\n", first); }
  static std::string words(u32 first, u32 second) {
    return fmt::format("  .long {:#x}, {:#x}\n", first, second);
  }
  std::mt19937 engine;
};

/// Numbers of the lines (from 0) that the assembler does not take.
std::set<std::size_t> refusedLines(const std::vector<std::string> &lines) {
  const auto folder = std::filesystem::temp_directory_path();
  const auto base = folder / fmt::format("kw-encodings-{}", getpid());
  const std::string source = base.string() + ".s", log = base.string() + ".log";
  std::ofstream out(source);
  for (const std::string &line : lines) {
    out << line << '\n';
  }
  out.close();
  const std::string command = fmt::format(
      "{} -triple=amdgcn-amd-amdhsa -mcpu=gfx950 -filetype=null {} 2>{}", KW_LLVM_MC, source, log);
  static_cast<void>(std::system(command.c_str()));
  std::set<std::size_t> refused;
  std::ifstream in(log);
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with(source) && line.find(": error:") != std::string::npos) {
      refused.insert(std::stoul(line.substr(source.size() + 1)) - 1);
    }
  }
  std::filesystem::remove(source);
  std::filesystem::remove(log);
  return refused;
}

/// Rules of the ISA that the assembler does not know, and what only LLVM's printer calls invalid.
bool isBeyondAssembler(const std::string &why, const std::string &text) {
  return why.find("packed floats") != std::string::npos ||
         why.find("number of blocks") != std::string::npos || text.find("/*Invalid") != text.npos;
}
/// LLVM prints 32 bits of their 16-bit literals, which it does not read again.
bool isUnreadable(const std::string &text) {
  return text.starts_with("v_madmk_f16") || text.starts_with("v_madak_f16");
}

TEST(EncodingRules, RefuseWhatTheAssemblerRefuses) {
  Encodings random(12);
  std::string body;
  for (int i = 0; i < 3000; ++i) {
    body += random.vop3() + random.vop3p() + random.vop1() + random.vopc();
    body += random.vop2(false) + random.vop2(true);
  }
  const LoadedCode code = load({.body = body});
  const detail::KernelCode &kernel = *code.image().find("k");
  std::vector<std::string> lines;
  std::vector<std::size_t> ops;
  for (std::size_t i = 0; i + 1 < kernel.ops.size(); ++i) {
    const bool known = kernel.ops[i].run || kernel.invalid.contains(static_cast<u32>(i));
    if (known && !isUnreadable(kernel.text[i])) {
      lines.push_back(kernel.text[i]);
      ops.push_back(i);
    }
  }
  const std::set<std::size_t> refused = refusedLines(lines);
  int shown = 0, invalid = 0;
  for (std::size_t line = 0; line < lines.size() && shown < 20; ++line) {
    const auto why = kernel.invalid.find(static_cast<u32>(ops[line]));
    const bool isInvalid = why != kernel.invalid.end();
    invalid += isInvalid;
    if (isInvalid != refused.contains(line) &&
        !(isInvalid && isBeyondAssembler(why->second, lines[line]))) {
      ADD_FAILURE() << lines[line]
                    << (isInvalid ? ": refused here, not by LLVM: " + why->second
                                  : ": runs here, LLVM refuses it");
      ++shown;
    }
  }
  EXPECT_GT(lines.size(), 8000u);
  EXPECT_GT(invalid, 1000);
}

/// dst_sel, dst_unused, src0_sel and src1_sel of SDWA.
struct Selectors {
  u32 result, unused, first, second;
  u32 bits() const { return result << 8 | unused << 11 | first << 16 | second << 24; }
};

/// Of an encoding that has all of them, or lacks one or the other (its bits are 0 then).
struct SdwaEncoding {
  const char *name;
  u32 first;
  bool hasResult, hasSecond;

  std::vector<Selectors> selectors() const {
    std::vector<Selectors> all;
    for (u32 i = 0; i < 8 * 4 * 8 * 8; ++i) {
      const Selectors next{i & 7, i >> 3 & 3, i >> 5 & 7, i >> 8};
      if ((hasResult || (next.result | next.unused) == 0) && (hasSecond || next.second == 0)) {
        all.push_back(next);
      }
    }
    return all;
  }
};

/// LLVM's printer crashes on selectors that there are not, and a mutant reaches any of them.
TEST(EncodingRules, SdwaSelectorsThatDoNotExistStopTheirInstructionAlone) {
  const u32 result = 0x10 << 17, second = 0x20 << 9;
  for (const SdwaEncoding &encoding :
       {SdwaEncoding{"v_mov_b32", 0x7e0002f9 | result, true, false},
        SdwaEncoding{"v_add_f32", 0x020000f9 | result | second, true, true},
        SdwaEncoding{"v_cmp_eq_f32", 0x7c8400f9 | second, false, true}}) {
    SCOPED_TRACE(encoding.name);
    std::string body;
    for (const Selectors &selectors : encoding.selectors()) {
      body += fmt::format("  .long {:#x}, {:#x}\n", encoding.first, selectors.bits() | 0x11);
    }
    const LoadedCode code = load({.body = body});
    const detail::KernelCode &kernel = *code.image().find("k");
    std::set<std::uint64_t> run;
    for (std::size_t i = 0; i < kernel.ops.size(); ++i) {
      if (kernel.ops[i].run && kernel.names[i].find("sdwa") != std::string::npos) {
        run.insert(kernel.offsets[i] - kernel.offsets[kernel.entryOp]);
      }
    }
    std::uint64_t offset = 0;
    for (const Selectors &selectors : encoding.selectors()) {
      const bool exists = selectors.result < 7 && selectors.unused < 3 && selectors.first < 7 &&
                          selectors.second < 7;
      ASSERT_EQ(run.contains(offset), exists) << fmt::format("{:#x}", selectors.bits());
      offset += 8;
    }
  }
}

/// Every opcode of the vector encodings, with vector registers as operands.
std::string everyVectorInstruction() {
  std::string body;
  const u32 one = 0x110, three = 0x110 | 0x120 << 9 | 0x140 << 18;
  for (u32 op = 0; op < 256; ++op) {
    body += fmt::format("  .long {:#x}\n", 0x7e000000 | 0x10 << 17 | op << 9 | one);
    body += fmt::format("  .long {:#x}\n", 0x7c000000 | op << 17 | 0x20 << 9 | one);
  }
  for (u32 op = 0; op < 62; ++op) { // 62 is VOPC, 63 VOP1; v_fmamk and the like take a literal
    body += fmt::format("  .long {:#x}, 0\n", op << 25 | 0x10 << 17 | 0x20 << 9 | one);
  }
  for (u32 op = 0; op < 1024; ++op) {
    body += fmt::format("  .long {:#x}, {:#x}\n", 0xd0000000 | op << 16 | 0x20, three);
  }
  for (u32 op = 0; op < 128; ++op) {
    body += fmt::format("  .long {:#x}, {:#x}\n", 0xd3800000 | op << 16 | 1 << 14 | 0x20,
                        three | 3u << 27);
  }
  return body;
}

TEST(EncodingRules, EveryVectorInstructionButOneHasAMeaning) {
  const LoadedCode code = load({.body = everyVectorInstruction()});
  static const std::regex encodingSuffixes("(_e32|_e64)?(_vi|_gfx9\\w*)+$");
  const detail::KernelCode &kernel = *code.image().find("k");
  std::set<std::string> unknown;
  for (std::size_t i = 0; i + 1 < kernel.ops.size(); ++i) {
    const std::string &name = kernel.names[i];
    const bool isInvalid = kernel.invalid.contains(static_cast<u32>(i));
    if (!kernel.ops[i].run && !isInvalid && name.starts_with("V_")) {
      unknown.insert(std::regex_replace(name, encodingSuffixes, ""));
    }
  }
  std::erase_if(unknown, [](const std::string &name) { return name.starts_with("V_SMFMAC_"); });
  const std::set<std::string> expected = {"V_SCREEN_PARTITION_4SE_B32"}; // of shader engines
  EXPECT_EQ(unknown, expected);
}

/// Each rule once, as text of words that the assembler would not write.
TEST(EncodingRules, StopTheLaunchByName) {
  struct Case {
    const char *words, *why;
  };
  const Case cases[] = {
      {".long 0xd1fe0001, 0x04140602", "more than one scalar"}, // v_add_lshl s2, s3, s5
      {".long 0xd1fe0001, 0x04040602", "more than one scalar"}, // s2, s3, v1
      {".long 0x020804ff, 0x12345678", ""},                     // v_add_f32 v4, literal, v2
      {".long 0x000804ff, 0x12345678", "more than one scalar"}, // v_cndmask: VCC and a literal
      {".long 0x00080402", "more than one scalar"},             // v_cndmask v4, s2, v2
      {".long 0xd2800001, 0x00020d05", "does not take"},        // v_add_f64 v[1:2], ...
      {".long 0xd3d40040, 0x00024110", "a scalar register as a matrix"}, // mfma, C = s0
      {".long 0xd3d50004, 0x041a3918", "overlaps its addend"}, // mfma v[4:19], ..., v[6:21]
      {".long 0xd2688001, 0x00020702", "packed floats"},       // v_cvt_pk_bf16_f32 clamp
      {".long 0xd2680001, 0x08020702", "packed floats"},       // v_cvt_pk_bf16_f32 mul:2
  };
  for (const Case &c : cases) {
    Trial trial;
    trial.text.body = c.words;
    trial.run();
    if (*c.why == 0) {
      EXPECT_EQ(trial.error, "") << c.words;
    } else {
      EXPECT_NE(trial.error.find(c.why), std::string::npos) << c.words << ": " << trial.error;
    }
  }
}

} // namespace
} // namespace kw::test
