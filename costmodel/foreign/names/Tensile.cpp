// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// hipBLASLt's kernels:
// Cijk_Alik_Bljk_BBS_BH_..._MT256x256x64_MI16x16x1_..._PGR2_..._SK3_..._WG32_8_1.
#include "costmodel/foreign/names/KernelNames.h"
#include "costmodel/foreign/names/NameWords.h"

namespace kw {
namespace {

/// The word that is `prefix` and a number, and the numbers alone that follow it.
std::vector<int> numbersFrom(const NameWords &words, std::string_view prefix) {
  std::vector<int> numbers;
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (numbers.empty()) {
      if (words[i].starts_with(prefix)) {
        if (const auto first = numberOf(words[i].substr(prefix.size()))) {
          numbers.push_back(*first);
        }
      }
    } else if (const auto next = numberOf(words[i])) {
      numbers.push_back(*next);
    } else {
      break;
    }
  }
  return numbers;
}

std::optional<bool> flag(const NameWords &words, std::string_view prefix) {
  const std::optional<int> number = words.number(prefix);
  return number ? std::optional(*number != 0) : std::nullopt;
}

} // namespace

std::optional<TensileRecord> parseTensile(std::string_view name) {
  const NameWords words(name);
  const std::vector<int> macro = words.numbers(words.findNumbers(3, 0, "MT"), "MT");
  if (macro.empty() || macro[0] == 0 || macro[1] == 0 || macro[2] == 0) {
    return std::nullopt;
  }
  TensileRecord record{macro[0], macro[1], macro[2]};
  if (const auto mi = words.numbers(words.findNumbers(3, 0, "MI"), "MI"); !mi.empty()) {
    record.miM = mi[0];
  }
  if (const auto group = numbersFrom(words, "WG"); group.size() == 3) {
    record.threads0 = group[0];
    record.threads1 = group[1];
    record.sliceK = group[2];
  }
  if (const auto waveTile = numbersFrom(words, "MIWT"); waveTile.size() == 2) {
    record.waveTile0 = waveTile[0];
    record.waveTile1 = waveTile[1];
  }
  record.directToLdsA = flag(words, "DTLA");
  record.directToLdsB = flag(words, "DTLB");
  record.globalPrefetch = words.number("PGR");
  record.oneLdsBuffer = flag(words, "1LDSB");
  record.streamK = words.number("SK");
  record.globalSplitU = words.number("GSU");
  record.custom = words.has("CMS") || words.has("Custom");
  return record;
}

TileKernel tileKernel(const TensileRecord &record) {
  constexpr int waveLanes = 64;
  TileKernel tile;
  tile.variant = record.custom ? "tensile_custom" : "tensile";
  tile.tileM = record.macroTile1;
  tile.tileN = record.macroTile0;
  tile.tileK = record.depthU;
  tile.mfmaM = record.miM;
  if (record.threads0) {
    tile.waves = std::max(1, *record.threads0 * *record.threads1 * *record.sliceK / waveLanes);
    tile.wavesK = *record.sliceK;
    if (record.waveTile0 && record.miM) {
      const int n = record.macroTile0 / std::max(1, *record.waveTile0 * *record.miM);
      const int m = record.macroTile1 / std::max(1, *record.waveTile1 * *record.miM);
      if (m * n * *tile.wavesK == *tile.waves) {
        tile.wavesM = m;
        tile.wavesN = n;
      }
    }
  }
  tile.bInRegisters = false;
  if (record.directToLdsA && record.directToLdsB) {
    tile.direct = *record.directToLdsA && *record.directToLdsB;
  }
  tile.pipeline = TilePipeline::overlapped;
  tile.prefetch = record.globalPrefetch;
  tile.streamK = record.streamK.value_or(0) != 0;
  if (!tile.streamK && record.globalSplitU && *record.globalSplitU > 0) {
    tile.splitK = record.globalSplitU;
  }
  tile.reduction = TileReduction::last;
  return tile;
}

} // namespace kw
