// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules on the tile, the waves that divide it, and the grid.
#include "ir/PreshuffledLayout.h"
#include "ir/rules/Rules.h"

#include <algorithm>
#include <bit>
#include <fmt/format.h>

namespace kw {
namespace {

const GemmSchedule::Tiling &tiling(const Schedule &schedule) {
  return std::get<GemmSchedule>(schedule).tiling;
}

DecisionMask reads(std::initializer_list<std::string_view> names) {
  return maskOf(Family::gemm, names);
}

// ---- Useful tiles
// -------------------------------------------------------------------------------- A tile that is
// more than twice as large as the problem needs does nothing but idle work. The limits leave the
// smallest tiles that four waves can divide (16x64), so no space becomes empty.

std::int64_t largestTile(std::int64_t size, std::int64_t smallest) {
  return std::max(smallest, powerOfTwoFrom(size));
}
std::int64_t largestTileM(const Problem &p) { return largestTile(p.gemm().m, 16); }
std::int64_t largestTileN(const Problem &p) { return largestTile(p.gemm().n, 64); }
/// The smallest step of the fast 16x16 instructions: 32 of 16 bits, 64 of i8, 128 of narrow floats.
std::int64_t largestTileK(const Problem &p) {
  const ElementType type = p.gemm().aType;
  return largestTile(p.gemm().k, bitWidth(type) > 8 ? 32 : isFloat(type) ? 128 : 64);
}

std::string tooLarge(std::string_view axis, std::int64_t tile, std::int64_t size,
                     std::int64_t largest) {
  return fmt::format("a tile of {} along {} is larger than {}={} needs: at most {}", tile, axis,
                     axis, size, largest);
}

// ---- Matrix instruction ----

const MatrixInstruction *instruction(const Problem &p, const Schedule &s, const Target &t) {
  const auto &tile = tiling(s);
  return findMatrixInstruction(t, tile.mfmaM, tile.mfmaN, tile.mfmaK, p.gemm().aType,
                               p.gemm().bType);
}

/// One that does more k a clock; nullptr: none.
const MatrixInstruction *faster(const MatrixInstruction &row, const Target &t) {
  for (const MatrixInstruction &other : t.matrixInstructions) {
    if (other.m == row.m && other.n == row.n && other.a == row.a && other.b == row.b &&
        other.k * row.cycles > row.k * other.cycles) {
      return &other;
    }
  }
  return nullptr;
}

bool instructionHolds(const Problem &p, const Schedule &s, const Target &t) {
  const MatrixInstruction *row = instruction(p, s, t);
  return row && !faster(*row, t);
}

std::string instructionFact(const Problem &p, const Schedule &s, const Target &t) {
  const auto &tile = tiling(s);
  if (const MatrixInstruction *row = instruction(p, s, t)) {
    return fmt::format("{} runs at half the rate of {}", row->mnemonic, faster(*row, t)->mnemonic);
  }
  return fmt::format("{} has no matrix instruction {}x{}x{} for {} and {}", t.name, tile.mfmaM,
                     tile.mfmaN, tile.mfmaK, name(p.gemm().aType), name(p.gemm().bType));
}

// ---- Waves ----

bool divides(int tile, int waves, int instruction) { return tile % (waves * instruction) == 0; }

std::string notDivided(std::string_view axis, int tile, int waves, int instruction) {
  return fmt::format("tile {}={} is not a multiple of {} waves x {} of the matrix instruction",
                     axis, tile, waves, instruction);
}

constexpr int mostWaves = 16; ///< of a workgroup [gfx950.md 4.2]

bool waveCountHolds(const Problem &, const Schedule &s, const Target &) {
  const int waves = std::get<GemmSchedule>(s).waves();
  return std::has_single_bit(static_cast<unsigned>(waves)) && waves <= mostWaves;
}

/// Few waves leave SIMDs of the CU to other workgroups: a large tile leaves no room for these. Many
/// waves have little to do each, and read the operands again and again from LDS.
constexpr int mostOfWave = 32 * 64;  ///< results, of a workgroup of less than four waves
constexpr int leastOfWave = 32 * 32; ///< results, of a workgroup of more than eight

int waveResults(const Schedule &s) {
  return tiling(s).m * tiling(s).n / std::max(1, tiling(s).wavesM * tiling(s).wavesN);
}

bool usefulWavesHold(const Problem &, const Schedule &s, const Target &) {
  const int waves = std::get<GemmSchedule>(s).waves();
  return (waves >= 4 || waveResults(s) <= mostOfWave) &&
         (waves <= 8 || waveResults(s) >= leastOfWave);
}

std::string usefulWavesFact(const Problem &, const Schedule &s, const Target &) {
  const int waves = std::get<GemmSchedule>(s).waves();
  return fmt::format("{} waves with {} results each; useful are {} {}", waves, waveResults(s),
                     waves < 4 ? "at most" : "at least", waves < 4 ? mostOfWave : leastOfWave);
}

// ---- Grid ----

double workItems(const Problem &p, const Schedule &s) {
  const auto &tile = tiling(s);
  const auto tiles = [](std::int64_t size, int step) {
    return static_cast<double>((size + step - 1) / step);
  };
  return tiles(p.gemm().m, tile.m) * tiles(p.gemm().n, tile.n) * std::get<GemmSchedule>(s).waves() *
         64 * std::get<GemmSchedule>(s).split.k;
}

/// Of packed weights: a lane's offset is a sum of bits below 2^30.
double packedReach(const Gemm &g, int tileN) {
  const auto blocks =
      static_cast<double>((tileN + PreshuffledLayout::columns - 1) / PreshuffledLayout::columns);
  return 2 * blocks * static_cast<double>(preshuffledLayout(g).pitchBytes());
}

/// Offsets within the rows of a tile are 32-bit; their base is 64-bit.
double largestOffset(const Problem &p, const Schedule &s) {
  const Gemm &g = p.gemm();
  const auto bytes = [](std::int64_t rows, std::int64_t leading, ElementType type) {
    return static_cast<double>(rows) * static_cast<double>(leading) * bitWidth(type) / 8;
  };
  const double a = g.aKContiguous()
                       ? bytes(std::min<std::int64_t>(tiling(s).m, g.m), g.lda, g.aType)
                       : bytes(g.k, g.lda, g.aType);
  const double b = g.preshuffle ? packedReach(g, tiling(s).n)
                   : g.bKContiguous()
                       ? bytes(std::min<std::int64_t>(tiling(s).n, g.n), g.ldb, g.bType)
                       : bytes(g.k, g.ldb, g.bType);
  const double c = bytes(std::min<std::int64_t>(tiling(s).m, g.m), g.ldc, g.outType);
  return std::max({a, b, c});
}

constexpr double mostOffset = 2147483648.0;

} // namespace

std::vector<Rule> gemmTilingRules() {
  return {
      {"usefulTileM", reads({"tileM"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return tiling(s).m <= largestTileM(p);
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return tooLarge("m", tiling(s).m, p.gemm().m, largestTileM(p));
       }},
      {"usefulTileN", reads({"tileN"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return tiling(s).n <= largestTileN(p);
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return tooLarge("n", tiling(s).n, p.gemm().n, largestTileN(p));
       }},
      {"addressRange", reads({"tileM", "tileN"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return largestOffset(p, s) < mostOffset;
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("offsets within a tile reach {:.0f} bytes; less than {:.0f} fit",
                            largestOffset(p, s), mostOffset);
       }},
      {"usefulTileK", reads({"tileK"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return tiling(s).k <= largestTileK(p);
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return tooLarge("k", tiling(s).k, p.gemm().k, largestTileK(p));
       }},
      {"matrixInstruction", reads({"mfmaM", "mfmaN", "mfmaK"}), instructionHolds, instructionFact},
      {"matrixSteps", reads({"tileK", "mfmaK", "wavesK"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return tiling(s).k % (tiling(s).mfmaK * tiling(s).wavesK) == 0;
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format(
             "tile k={} is not a multiple of {} of the matrix instruction x {} waves", tiling(s).k,
             tiling(s).mfmaK, tiling(s).wavesK);
       }},
      {"waveTileM", reads({"tileM", "wavesM", "mfmaM"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return divides(tiling(s).m, tiling(s).wavesM, tiling(s).mfmaM);
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return notDivided("m", tiling(s).m, tiling(s).wavesM, tiling(s).mfmaM);
       }},
      {"waveTileN", reads({"tileN", "wavesN", "mfmaN"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return divides(tiling(s).n, tiling(s).wavesN, tiling(s).mfmaN);
       },
       [](const Problem &, const Schedule &s, const Target &) {
         return notDivided("n", tiling(s).n, tiling(s).wavesN, tiling(s).mfmaN);
       }},
      {"waveCount", reads({"wavesM", "wavesN", "wavesK"}), waveCountHolds,
       [](const Problem &, const Schedule &s, const Target &) {
         return fmt::format("{} waves a workgroup; accepted: 1 2 4 8 16",
                            std::get<GemmSchedule>(s).waves());
       }},
      {"usefulWaves", reads({"tileM", "tileN", "wavesM", "wavesN", "wavesK"}), usefulWavesHold,
       usefulWavesFact},
      {"gridSize", reads({"tileM", "tileN", "wavesM", "wavesN", "wavesK", "splitK"}),
       [](const Problem &p, const Schedule &s, const Target &) {
         return workItems(p, s) < double(mostWorkItems);
       },
       [](const Problem &p, const Schedule &s, const Target &) {
         return fmt::format("a grid of {:.0f} work-items; a dispatch has less than {}",
                            workItems(p, s), mostWorkItems);
       }},
  };
}

} // namespace kw
