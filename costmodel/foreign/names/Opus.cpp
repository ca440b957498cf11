// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// opus: opus_KIND_THREADSxMxNxK_WAVEMxWAVEN_MFMAMxNxK_FLAGS[_wgpcuN]...; the name tells no waves
// beside its m and n: THREADS / 64 of them, the rest along k or as loaders.
#include "costmodel/foreign/names/KernelNames.h"
#include "costmodel/foreign/names/NameWords.h"

namespace kw {

std::optional<OpusRecord> parseOpus(std::string_view name) {
  const NameWords words(name);
  const std::size_t at = words.findNumbers(4);
  const std::vector<int> tile = words.numbers(at);
  if (tile.empty() || tile[0] == 0 || tile[1] == 0 || tile[2] == 0 || tile[3] == 0) {
    return std::nullopt;
  }
  OpusRecord record;
  for (std::size_t i = 1; i < at; ++i) {
    record.kind += (i > 1 ? "_" : "") + std::string(words[i]);
  }
  record.threads = tile[0];
  record.tileM = tile[1];
  record.tileN = tile[2];
  record.tileK = tile[3];
  if (const auto waves = words.numbers(at + 1); waves.size() == 2) {
    record.waveM = waves[0];
    record.waveN = waves[1];
  }
  if (const auto mfma = words.numbers(at + 2); mfma.size() == 3) {
    record.mfmaM = mfma[0];
    record.mfmaK = mfma[2];
  }
  record.workgroupsPerCu = words.number("wgpcu");
  return record;
}

TileKernel tileKernel(const OpusRecord &record) {
  constexpr int waveLanes = 64;
  TileKernel tile;
  tile.variant = record.kind;
  tile.tileM = record.tileM;
  tile.tileN = record.tileN;
  tile.tileK = record.tileK;
  tile.waves = std::max(1, record.threads / waveLanes);
  if (record.waveM && record.waveN && *record.waveM * *record.waveN == *tile.waves) {
    tile.wavesM = record.waveM;
    tile.wavesN = record.waveN;
    tile.wavesK = 1;
  }
  tile.mfmaM = record.mfmaM;
  tile.mfmaK = record.mfmaK;
  tile.workgroupsPerCu = record.workgroupsPerCu;
  tile.bInRegisters = record.kind.find("bdirect") != std::string::npos ||
                      record.kind.find("flatmm") != std::string::npos;
  tile.direct = true;
  tile.pipeline = TilePipeline::overlapped;
  tile.persistent = record.kind.find("persistent") != std::string::npos;
  tile.reduction = TileReduction::launch;
  return tile;
}

} // namespace kw
