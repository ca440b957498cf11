// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// aiter's assembly kernels, C++-mangled: _ZN5aiter LENGTH NAME E. NAME ends with or contains MxN.
//
//   f4gemm_bf16_per1x32Fp4_BpreShuffle_256x256        bf16gemm_fp32bf16_tn_48x64_splitk_clean
//   fmoe_stage1_bf16_pertokenFp8_g1u1_16x64_5tg_pf3 fmoe_bf16_blockscaleFp8_g1u1_vs_silu_1tg_32x256
#include "costmodel/foreign/names/KernelNames.h"
#include "costmodel/foreign/names/NameWords.h"

namespace kw {
namespace {

/// NAME of a mangled name, or the name itself.
std::string_view demangled(std::string_view name) {
  constexpr std::string_view prefix = "_ZN5aiter";
  if (!name.starts_with(prefix)) {
    return name;
  }
  name.remove_prefix(prefix.size());
  while (!name.empty() && name.front() >= '0' && name.front() <= '9') {
    name.remove_prefix(1);
  }
  return name.substr(0, name.rfind('E'));
}

} // namespace

std::optional<AsmRecord> parseAsm(std::string_view mangled) {
  const std::string_view name = demangled(mangled);
  const NameWords words(name);
  const std::size_t at = words.findNumbers(2);
  const std::vector<int> tile = words.numbers(at);
  if (tile.empty() || tile[0] == 0 || tile[1] == 0) {
    return std::nullopt;
  }
  AsmRecord record;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (i != at) {
      record.kind += (record.kind.empty() ? "" : "_") + std::string(words[i]);
    }
    if (words[i].ends_with("tg")) {
      record.workgroups = numberOf(words[i].substr(0, words[i].size() - 2));
    }
  }
  record.tileM = tile[0];
  record.tileN = tile[1];
  record.tileK = words.number("bk");
  record.prefetch = words.number("pf");
  record.splitK = words.has("splitk") || words.has("splitK");
  record.persistent = words.has("ps");
  record.preshuffle = words.has("BpreShuffle") || words.has("bshuffle") || words.has("g1u1");
  return record;
}

TileKernel tileKernel(const AsmRecord &record) {
  TileKernel tile;
  tile.variant = record.kind;
  tile.tileM = record.tileM;
  tile.tileN = record.tileN;
  tile.tileK = record.tileK;
  tile.prefetch = record.prefetch;
  tile.persistent = record.persistent;
  tile.bInRegisters = record.preshuffle;
  tile.pipeline = TilePipeline::overlapped;
  tile.direct = true;
  if (record.splitK) {
    tile.reduction = TileReduction::last;
  }
  return tile;
}

} // namespace kw
