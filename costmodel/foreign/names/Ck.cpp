// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Composable Kernel's names [G: instance lists of aiter]:
//
//   KIND_[1x128x128_]BLOCKxMxNxK_[AK1xBK1_]XDLxXDL_[XDLPERWAVEMxN_]..._SCHEDULER_vVERSION
//   moe_ck2stages_gemmSTAGE_BLOCKxMxNxK_WAVEMxWAVEN_OP_vVERSION_..._TYPES
//
// Block-scaled and preshuffled kinds tell AK1xBK1 first, the others don't.
#include "costmodel/foreign/names/KernelNames.h"
#include "costmodel/foreign/names/NameWords.h"

#include <algorithm>

namespace kw {
namespace {

constexpr int waveLanes = 64;

bool isXdl(const std::vector<int> &pair) {
  return pair.size() == 2 && pair[0] == pair[1] && (pair[0] == 16 || pair[0] == 32);
}

/// The pairs that follow the tile.
void readPairs(const NameWords &words, std::size_t at, bool tellsK1, CkRecord &record) {
  at += tellsK1 ? 1 : 0;
  if (isXdl(words.numbers(at))) {
    record.perXdl = words.numbers(at)[0];
    if (const std::vector<int> perWave = words.numbers(at + 1); perWave.size() == 2) {
      record.xdlPerWaveM = perWave[0];
      record.xdlPerWaveN = perWave[1];
    }
  }
}

} // namespace

std::optional<CkRecord> parseCk(std::string_view name) {
  const NameWords words(name);
  const std::size_t at = words.findNumbers(4);
  if (at == words.size()) {
    return std::nullopt;
  }
  const std::vector<int> tile = words.numbers(at);
  if (std::ranges::find(tile, 0) != tile.end() || tile[0] % waveLanes != 0) {
    return std::nullopt;
  }
  CkRecord record{std::string(name.substr(0, name.find(words[at]))), tile[0], tile[1], tile[2],
                  tile[3]};
  while (record.kind.ends_with('_')) {
    record.kind.pop_back();
  }
  record.pipelineVersion = words.number("v").value_or(0);
  record.interwave = words.has("interwave");
  const bool moe = words.has("moe");
  const std::vector<int> next = words.numbers(at + 1);
  if (moe && next.size() == 2) {
    record.wavesM = next[0];
    record.wavesN = next[1];
  } else {
    readPairs(words, at + 1, words.has("blockscale") || words.has("bpreshuffle"), record);
  }
  return record;
}

/// A lane gets 16 bytes of an operand at a time in all instances, and CK takes no instruction that
/// wants more: of fp8 the older one, half the rate on gfx950. [G: MfmaSelector's
/// is_single_rate_mfma]
constexpr int laneBytes = 16;

/// Pipelines [G]: v1 loads one step ahead into registers, one LDS buffer, all of a step in order;
/// v2 keeps several steps in flight in registers; v3 weaves LDS reads and matrix instructions, two
/// steps ahead; v4 and v5 have two LDS buffers.
TileKernel tileKernel(const CkRecord &record) {
  TileKernel tile;
  tile.variant =
      record.kind +
      (record.pipelineVersion > 0 ? "_v" + std::to_string(record.pipelineVersion) : std::string());
  tile.tileM = record.perBlockM;
  tile.tileN = record.perBlockN;
  const bool packed4 = record.kind.find("a4w4") != std::string::npos; // counts pairs of elements
  tile.tileK = record.perBlockK * (packed4 ? 2 : 1);
  tile.waves = record.blockSize / waveLanes;
  tile.wavesK = 1;
  tile.mfmaM = record.perXdl;
  tile.operandBytes = laneBytes;
  if (record.wavesM) {
    tile.wavesM = record.wavesM;
    tile.wavesN = record.wavesN;
  } else if (record.perXdl && record.xdlPerWaveM && record.xdlPerWaveN) {
    const int m = record.perBlockM / std::max(1, *record.perXdl * *record.xdlPerWaveM);
    const int n = record.perBlockN / std::max(1, *record.perXdl * *record.xdlPerWaveN);
    if (m * n == *tile.waves) {
      tile.wavesM = m;
      tile.wavesN = n;
    }
  }
  tile.bInRegisters = record.kind.find("bpreshuffle") != std::string::npos ||
                      record.kind.find("moe") != std::string::npos;
  tile.direct = false;
  switch (record.pipelineVersion) {
  case 0:
    break;
  case 1:
    tile.pipeline = TilePipeline::serial;
    tile.stages = 1;
    tile.prefetch = 1;
    break;
  case 2:
    tile.pipeline = TilePipeline::serial;
    tile.stages = 1;
    break;
  case 3:
    tile.pipeline = TilePipeline::overlapped;
    tile.stages = 1;
    tile.prefetch = 2;
    break;
  default:
    tile.pipeline = TilePipeline::overlapped;
    tile.stages = 2;
    tile.prefetch = 2;
  }
  tile.reduction = TileReduction::atomic;
  return tile;
}

} // namespace kw
