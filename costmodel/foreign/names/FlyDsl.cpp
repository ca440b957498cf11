// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// FlyDSL's names [G: aiter's tuners]:
//
//   flydsl_gemmSTAGES_abf16_..._tMxNxK_split_kS_block_m_warpM_block_n_warpN[_block_k_warpK]_
//       async_copyBOOL_b_to_ldsBOOL_...
//   flydsl_hgemm_abf16_..._tMxNxKxSTAGES_ksS_wMxNxK_...
//   flydsl_bpreshuflle_MxNxK_F8_F8_B16_STAGESx..._...[_ksS]
//   flydsl_mxpsh_MxNxK_F8_F8_B16_wWAVESPEREU_xXCDS[_skS]
//   flydsl_moeSTAGE_aT_wT_T_tMxNxK[_wWAVESPEREU][_kbS][_kwWARPSK][_persist][_atomic|_reduce]...
//   flydsl_mxmoe_gSTAGE_a4w4_MxNxK_...
#include "costmodel/foreign/names/KernelNames.h"
#include "costmodel/foreign/names/NameWords.h"

#include <array>

namespace kw {
namespace {

std::optional<int> numberAfter(std::string_view name, std::string_view label) {
  const std::size_t at = name.find(label);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const std::string_view rest = name.substr(at + label.size());
  return numberOf(rest.substr(0, rest.find_first_not_of("0123456789")));
}

std::optional<bool> boolAfter(std::string_view name, std::string_view label) {
  const std::size_t at = name.find(label);
  return at == std::string_view::npos
             ? std::nullopt
             : std::optional(name.substr(at + label.size()).starts_with("True"));
}

/// The word after "flydsl", without its number; of MoE kernels with the stage.
std::string kindOf(const NameWords &words) {
  if (words.size() < 2) {
    return {};
  }
  std::string kind(words[1]);
  if (kind.starts_with("gemm")) {
    return "hgemm";
  }
  if (kind == "bpreshuflle") { // as published
    kind = "bpreshuffle";
  }
  constexpr std::array<std::string_view, 3> more{"layout", "g1", "g2"};
  for (const std::string_view word : more) {
    kind += words.has(word) ? "_" + std::string(word) : std::string();
  }
  return kind;
}

void readWarps(std::string_view name, const NameWords &words, FlyDslRecord &record) {
  record.warpM = numberAfter(name, "block_m_warp");
  record.warpN = numberAfter(name, "block_n_warp");
  record.warpK = numberAfter(name, "block_k_warp");
  if (const auto warps = words.numbers(words.findNumbers(3, 0, "w"), "w"); !warps.empty()) {
    record.warpM = warps[0];
    record.warpN = warps[1];
    record.warpK = warps[2];
  }
  if (record.warpM && !record.warpK) {
    record.warpK = 1;
  }
}

} // namespace

std::optional<FlyDslRecord> parseFlyDsl(std::string_view name) {
  const NameWords words(name);
  std::vector<int> tile;
  for (const auto &[count, prefix] : {std::pair{4u, "t"}, std::pair{3u, "t"}, std::pair{3u, ""}}) {
    if (tile.empty()) {
      tile = words.numbers(words.findNumbers(count, 0, prefix), prefix);
    }
  }
  if (tile.empty() || tile[0] == 0 || tile[1] == 0 || tile[2] == 0) {
    return std::nullopt;
  }
  FlyDslRecord record;
  record.kind = kindOf(words);
  record.tileM = tile[0];
  record.tileN = tile[1];
  record.tileK = tile[2];
  if (tile.size() == 4) {
    record.stages = tile[3];
  } else if (words.size() > 1 && words[1].starts_with("gemm")) {
    record.stages = numberOf(words[1].substr(4));
  } else if (record.kind == "bpreshuffle") {
    const std::vector<int> flags = words.numbers(words.findNumbers(4), "");
    if (!flags.empty() && flags[0] > 0) {
      record.stages = flags[0];
    }
  }
  readWarps(name, words, record);
  for (const char *prefix : {"ks", "sk", "kb"}) {
    record.splitK = record.splitK ? record.splitK : words.number(prefix);
  }
  record.splitK = record.splitK ? record.splitK : numberAfter(name, "split_k");
  if (!record.warpM) {
    record.wavesPerEu = words.number("w");
    record.warpK = words.number("kw");
  }
  record.asyncCopy = boolAfter(name, "async_copy");
  record.bToLds = boolAfter(name, "b_to_lds");
  record.persistent = words.has("persist");
  record.atomic = words.has("atomic");
  record.reduce = words.has("reduce");
  record.bNonTemporal = words.number("bnt");
  record.xcds = words.number("xcd");
  record.sortBlockM = words.number("sbm");
  record.nonTemporal = words.has("nt");
  record.gateOnly = words.has("go");
  record.gateUpInterleave = words.has("gui");
  record.quantised =
      words.size() > 2 && (words[words.size() - 1] == "fp4" || words[words.size() - 1] == "fp8");
  return record;
}

TileKernel tileKernel(const FlyDslRecord &record) {
  TileKernel tile;
  tile.variant = record.kind;
  tile.tileM = record.tileM;
  tile.tileN = record.tileN;
  tile.tileK = record.tileK;
  tile.wavesM = record.warpM;
  tile.wavesN = record.warpN;
  tile.wavesK = record.warpK;
  if (record.warpM && record.warpN && record.warpK) {
    tile.waves = *record.warpM * *record.warpN * *record.warpK;
  }
  tile.splitK = record.splitK;
  tile.stages = record.stages;
  if (record.stages && *record.stages > 1) {
    tile.prefetch = *record.stages - 1;
  }
  const bool hgemm = record.kind == "hgemm";
  const bool moe = record.kind.find("moe") != std::string::npos;
  if (hgemm) {
    tile.bInRegisters = record.bToLds ? std::optional(!*record.bToLds) : std::optional(false);
  } else {
    tile.bInRegisters = true; // weights are packed once
  }
  tile.direct = record.asyncCopy;
  tile.pipeline = TilePipeline::overlapped;
  tile.persistent = record.persistent;
  tile.reduction = hgemm           ? TileReduction::last
                   : record.reduce ? TileReduction::launch
                                   : TileReduction::atomic;
  if (moe) { // two buffers that take turns [G]
    tile.prefetch = 1;
    tile.stages = 2;
  }
  tile.wavesPerEu = record.wavesPerEu;
  tile.fewResident = moe && !record.wavesPerEu; // the compiler was asked for no occupancy
  if (record.wavesPerEu && moe) {               // workgroups of four waves, one on each SIMD
    tile.workgroupsPerCu = std::max(1, *record.wavesPerEu);
  }
  tile.xcdSwizzle = record.xcds;
  tile.sortedRows = record.sortBlockM;
  tile.nonTemporal = record.nonTemporal || record.bNonTemporal.value_or(0) > 0;
  tile.gateFirst = record.gateOnly;
  tile.interleavedGate = record.gateUpInterleave;
  tile.quantised = record.quantised;
  return tile;
}

} // namespace kw
