// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "Assembly.h"

#include <atomic>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fmt/core.h>
#include <fstream>
#include <gtest/gtest.h>
#include <iterator>
#include <random>
#include <unistd.h>

namespace kw::test {

namespace {

constexpr const char *shell = R"(
.amdgcn_target "amdgcn-amd-amdhsa--gfx950"
.text
.globl k
.p2align 8
.type k,@function
k:
{body}
  s_endpgm
.Lend:
.size k, .Lend-k
.rodata
.p2align 6
.amdhsa_kernel k
  .amdhsa_next_free_vgpr {vgprs}
  .amdhsa_next_free_sgpr 100
  .amdhsa_accum_offset {accum}
  .amdhsa_group_segment_fixed_size {lds}
  .amdhsa_private_segment_fixed_size {scratch}
  .amdhsa_kernarg_size {kernarg}
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_system_sgpr_workgroup_id_y 1
  .amdhsa_system_sgpr_workgroup_id_z 1
  .amdhsa_system_vgpr_workitem_id 2
  .amdhsa_enable_private_segment {hasScratch}
  .amdhsa_float_denorm_mode_32 {denorm}
.end_amdhsa_kernel
.amdgpu_metadata
---
amdhsa.version: [1, 2]
amdhsa.target: amdgcn-amd-amdhsa--gfx950
amdhsa.kernels:
  - .name: k
    .symbol: k.kd
    .kernarg_segment_size: {kernarg}
    .group_segment_fixed_size: {lds}
    .private_segment_fixed_size: {scratch}
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 100
    .vgpr_count: {vgprs}
    .agpr_count: 0
    .max_flat_workgroup_size: {block}
    .args:
      - {{.name: in, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}}
      - {{.name: out, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}}
...
.end_amdgpu_metadata
)";

/// A folder of this process, removed when it ends.
const std::filesystem::path &scratchFolder() {
  struct Folder {
    std::filesystem::path path =
        std::filesystem::temp_directory_path() / fmt::format("kw-emulator-test-{}", getpid());
    Folder() { std::filesystem::create_directories(path); }
    ~Folder() {
      std::error_code ignored;
      std::filesystem::remove_all(path, ignored);
    }
  };
  static const Folder folder;
  return folder.path;
}

} // namespace

const char *const prologue = R"(
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32 v1, 0x3ff, v0
  v_lshlrev_b32 v1, 2, v1
  s_waitcnt lgkmcnt(0)
)";

std::vector<std::uint8_t> assemble(const KernelText &text) {
  static std::atomic<int> counter{0};
  const auto base = scratchFolder() / fmt::format("k{}", counter++);
  const auto file = [&](const char *extension) { return base.string() + extension; };
  std::ofstream(file(".s")) << fmt::format(
      shell, fmt::arg("body", text.body), fmt::arg("vgprs", text.vgprs),
      fmt::arg("accum", text.accumOffset), fmt::arg("lds", text.ldsBytes),
      fmt::arg("scratch", text.scratchBytes), fmt::arg("kernarg", text.kernargBytes),
      fmt::arg("hasScratch", text.scratchBytes > 0 ? 1 : 0), fmt::arg("block", text.blockLimit),
      fmt::arg("denorm", text.flushDenormals ? 0 : 3));
  const std::string command =
      fmt::format("{} -triple=amdgcn-amd-amdhsa -mcpu=gfx950 -filetype=obj {} -o {} && {} -shared "
                  "{} -o {}",
                  KW_LLVM_MC, file(".s"), file(".o"), KW_LLD, file(".o"), file(".hsaco"));
  EXPECT_EQ(std::system(command.c_str()), 0) << text.body;
  std::ifstream in(file(".hsaco"), std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

LoadedCode load(const KernelText &text) {
  auto code = LoadedCode::load(assemble(text));
  EXPECT_TRUE(code.has_value()) << (code ? "" : code.error().message);
  return std::move(code.value());
}

Trial &Trial::run() {
  const LoadedCode code = load(text);
  GlobalMemory memory;
  const auto input = memory.allocate("in", in.size());
  const auto output = memory.allocate("out", outBytes, GlobalMemory::Contents::uninitialised);
  std::copy(in.begin(), in.end(), memory.bytes(*input).begin());
  if (launch.kernarg.empty()) {
    launch.kernarg.resize(16);
    std::memcpy(launch.kernarg.data(), &*input, 8);
    std::memcpy(launch.kernarg.data() + 8, &*output, 8);
  }
  auto done = emulate(code, "k", memory, launch, options);
  if (done) {
    result = std::move(*done);
  } else {
    error = done.error().message;
  }
  const auto bytes = memory.bytes(*output);
  out.assign(bytes.begin(), bytes.end());
  return *this;
}

bool Trial::has(FindingKind kind) const {
  for (const EmulatorFinding &finding : result.findings) {
    if (finding.kind == kind) {
      return true;
    }
  }
  return false;
}

std::string Trial::findings() const {
  std::string text = error;
  for (const EmulatorFinding &finding : result.findings) {
    text += fmt::format("{} at {:#x} {}: wave {} lane {}: {}\n", name(finding.kind), finding.pc,
                        finding.instruction, finding.wave, finding.lane, finding.detail);
  }
  return text;
}

std::vector<Lanes> Snippet::run() const {
  const std::size_t count = inputs.empty() ? 64 : inputs[0].size();
  // Input i of item x lies at (i * count + x) * 4; the workgroup id picks 64 items.
  std::string text = std::string(prologue) + "  s_lshl_b32 s10, s2, 8\n  v_add_u32 v1, s10, v1\n";
  Trial trial;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    text += fmt::format("  s_mov_b32 s11, {}\n  v_add_u32 v2, s11, v1\n"
                        "  global_load_dword v{}, v2, s[4:5]\n",
                        i * count * 4, 16 + i);
    const auto *bytes = reinterpret_cast<const std::uint8_t *>(inputs[i].data());
    trial.in.insert(trial.in.end(), bytes, bytes + 4 * count);
  }
  text += "  s_waitcnt vmcnt(0)\n" + body +
          "\n  s_mov_b64 exec, -1\n  s_waitcnt vmcnt(0) "
          "lgkmcnt(0)\n  s_nop 15\n  s_nop 15\n";
  for (int i = 0; i < outputs; ++i) {
    text += fmt::format("  s_mov_b32 s11, {}\n  v_add_u32 v2, s11, v1\n"
                        "  global_store_dword v2, v{}, s[6:7]\n",
                        i * count * 4, 64 + i);
  }
  trial.text = {.body = text,
                .ldsBytes = ldsBytes,
                .scratchBytes = scratchBytes,
                .flushDenormals = flushDenormals};
  trial.outBytes = outputs * count * 4;
  trial.launch.grid[0] = static_cast<std::uint32_t>(count / 64);
  trial.run();
  EXPECT_EQ(trial.error, "") << body;
  if (expectClean) {
    EXPECT_TRUE(trial.result.clean()) << body << "\n" << trial.findings();
  }
  std::vector<Lanes> results(outputs, Lanes(count));
  for (int i = 0; i < outputs; ++i) {
    std::memcpy(results[i].data(), trial.out.data() + i * count * 4, count * 4);
  }
  return results;
}

std::uint32_t bits(float x) { return std::bit_cast<std::uint32_t>(x); }
float asFloat(std::uint32_t x) { return std::bit_cast<float>(x); }

Lanes randomLanes(std::size_t count, std::uint32_t seed) {
  static constexpr std::uint32_t special[] = {0,          1,          0xffffffff, 0x7fffffff,
                                              0x80000000, 0x80000001, 31,         32,
                                              0xffff,     0x10000,    0xff,       0xffffff};
  std::mt19937 engine(seed);
  Lanes lanes(count);
  for (std::size_t i = 0; i < count; ++i) {
    lanes[i] = engine() % 3 == 0 ? special[engine() % std::size(special)] : engine();
  }
  return lanes;
}

Lanes randomFloats(std::size_t count, std::uint32_t seed) {
  static const float special[] = {0.0f,      -0.0f,     1.0f,    -1.0f,   INFINITY,
                                  -INFINITY, NAN,       1e-40f,  -3e-42f, 3.4e38f,
                                  0.5f,      0x1p-126f, 65504.f, 2.14e9f, -5e9f};
  std::mt19937 engine(seed);
  std::normal_distribution<float> normal(0, 10);
  Lanes lanes(count);
  for (std::size_t i = 0; i < count; ++i) {
    lanes[i] =
        engine() % 4 == 0 ? bits(special[engine() % std::size(special)]) : bits(normal(engine));
  }
  return lanes;
}

void expectLanes(
    const std::string &text, const std::vector<Lanes> &inputs,
    const std::function<std::uint32_t(std::uint32_t, std::uint32_t, std::uint32_t)> &expected) {
  const Lanes got = Snippet{.body = text, .inputs = inputs}.run()[0];
  int shown = 0;
  for (std::size_t i = 0; i < got.size() && shown < 4; ++i) {
    const auto in = [&](std::size_t k) { return k < inputs.size() ? inputs[k][i] : 0; };
    const std::uint32_t want = expected(in(0), in(1), in(2));
    const bool bothNan = std::isnan(asFloat(got[i])) && std::isnan(asFloat(want));
    if (got[i] != want && !bothNan) {
      ADD_FAILURE() << fmt::format("{} of {:#x} {:#x} {:#x}: {:#x}, expected {:#x}", text, in(0),
                                   in(1), in(2), got[i], want);
      ++shown;
    }
  }
}

} // namespace kw::test
