// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// CK Tile's names [G: instance lists of aiter]:
//
//   KIND_cktile_[FLAGS_]MxNxK_WAVEMxNxK_MFMAMxNxK_SCHEDULER_PADMxNxK_BLOCKSPERCU[_aqrm]
//   KIND_cktile_..xBLOCKSPERCU_MxNxK_WAVEMxNxK_MFMAMxNxK_default
//   moe_cktile2stages_gemmSTAGE_BLOCKxMxNxK_WAVEMxN_MFMAMxNxK_NperCU_...
#include "costmodel/foreign/names/KernelNames.h"
#include "costmodel/foreign/names/NameWords.h"

#include <algorithm>

namespace kw {
namespace {

constexpr int longFlags = 10; ///< numbers in front of a preshuffled kind's tile

std::optional<int> blocksPerCu(const NameWords &words, std::size_t mfma) {
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (words[i].ends_with("perCU")) {
      return numberOf(words[i].substr(0, words[i].size() - 5));
    }
  }
  if (const std::size_t flags = words.findNumbers(longFlags); flags < words.size()) {
    return words.numbers(flags).back();
  }
  return mfma + 3 < words.size() ? numberOf(words[mfma + 3]) : std::nullopt;
}

} // namespace

std::optional<CkTileRecord> parseCkTile(std::string_view name) {
  const NameWords words(name);
  const bool moe = words.has("moe");
  const std::size_t at = words.findNumbers(moe ? 4 : 3);
  std::vector<int> tile = words.numbers(at);
  const std::vector<int> waves = words.numbers(at + 1), mfma = words.numbers(at + 2);
  if (tile.empty() || std::ranges::find(tile, 0) != tile.end() || waves.size() < 2 ||
      std::ranges::find(waves, 0) != waves.end() || mfma.size() < 2) {
    return std::nullopt;
  }
  if (moe) {
    tile.erase(tile.begin());
  }
  CkTileRecord record;
  record.kind = std::string(name.substr(0, name.find("cktile") + 6));
  record.tileM = tile[0];
  record.tileN = tile[1];
  record.tileK = tile[2];
  record.waveM = waves[0];
  record.waveN = waves[1];
  record.waveK = waves.size() > 2 ? waves[2] : 1;
  record.mfmaM = mfma[0];
  record.mfmaN = mfma[1];
  record.mfmaK = mfma.size() > 2 ? std::optional(mfma[2]) : std::nullopt;
  record.blocksPerCu = blocksPerCu(words, at + 2);
  return record;
}

TileKernel tileKernel(const CkTileRecord &record) {
  TileKernel tile;
  tile.variant = record.kind;
  tile.tileM = record.tileM;
  tile.tileN = record.tileN;
  tile.tileK = record.tileK;
  tile.wavesM = record.waveM;
  tile.wavesN = record.waveN;
  tile.wavesK = record.waveK;
  tile.waves = record.waveM * record.waveN * record.waveK;
  tile.mfmaM = record.mfmaM;
  tile.mfmaK = record.mfmaK;
  tile.workgroupsPerCu = record.blocksPerCu;
  const bool moe = record.kind.find("moe") != std::string::npos;
  tile.bInRegisters = moe || record.kind.find("bpreshuffle") != std::string::npos;
  if (moe) { // a alone is in LDS, in two buffers; b is widened in registers
    tile.wholeSteps = true;
    tile.stages = 2;
  }
  tile.pipeline = TilePipeline::overlapped;
  tile.reduction = TileReduction::atomic;
  return tile;
}

} // namespace kw
