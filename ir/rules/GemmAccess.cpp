// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules on how an operand's tile is fetched: alignment, access width, path.
#include "ir/rules/GemmRules.h"

#include <fmt/format.h>
#include <numeric>

namespace kw {
namespace {

using namespace gemmrules;

// ---- Alignment ----

struct Rows {
  std::int64_t extent = 0, leading = 0, batchStride = 0; ///< elements; stride 0: no batch
  std::string_view extentName, leadingName, strideName;
};
template <Which which> Rows rowsOf(const Gemm &g) {
  if (which == Which::a) {
    return {g.aKContiguous() ? g.k : g.m, g.lda, g.batch > 1 ? g.sa : 0,
            g.aKContiguous() ? "k" : "m", "lda", "sa"};
  }
  return {g.bKContiguous() ? g.k : g.n, g.ldb, g.batch > 1 ? g.sb : 0,
          g.bKContiguous() ? "k" : "n", "ldb", "sb"};
}

template <Which which> int elementBits(const Problem &p) {
  return bitWidth(which == Which::a ? p.gemm().aType : p.gemm().bType);
}

/// Bytes that divide every row's start and its end: a vector of them is all inside or all outside.
template <Which which> std::int64_t alignment(const Problem &p) {
  const Rows rows = rowsOf<which>(p.gemm());
  return std::gcd(std::gcd(rows.extent, rows.leading), rows.batchStride) * elementBits<which>(p) /
         8;
}

/// Packed weights have an alignment of their own.
template <Which which> bool isPacked(const Problem &p) {
  return which == Which::b && p.gemm().preshuffle;
}

template <Which which> bool alignmentHolds(const Problem &p, const Schedule &s, const Target &) {
  return isPacked<which>(p) || alignment<which>(p) % operand<which>(s).vectorBytes == 0;
}

template <Which which>
std::string alignmentFact(const Problem &p, const Schedule &s, const Target &) {
  const Rows rows = rowsOf<which>(p.gemm());
  const std::string batch =
      rows.batchStride != 0 ? fmt::format(", {}={}", rows.strideName, rows.batchStride) : "";
  return fmt::format("{} bytes a lane of {}, but {}={} and {}={}{} align rows to {} bytes",
                     operand<which>(s).vectorBytes, label<which>, rows.extentName, rows.extent,
                     rows.leadingName, rows.leading, batch, std::gcd(alignment<which>(p), 16));
}

// ---- Access width ----

/// Direct loads of 16 bytes are a capability, of 4 every target has. [gfx950.md 1]
bool widthExists(const GemmSchedule::Operand &operand, int elementBits, const Target &t) {
  const int bytes = operand.vectorBytes;
  if (bytes * 8 < elementBits) {
    return false;
  }
  if (operand.path == OperandPath::registers) {
    return bytes == PreshuffledLayout::packBytes;
  }
  if (operand.path == OperandPath::direct) {
    return bytes == 4 || (bytes == 16 && t.directToLds16);
  }
  return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

template <Which which> bool widthHolds(const Problem &p, const Schedule &s, const Target &t) {
  return widthExists(operand<which>(s), elementBits<which>(p), t);
}

template <Which which> std::string widthFact(const Problem &p, const Schedule &s, const Target &t) {
  if (operand<which>(s).vectorBytes * 8 < elementBits<which>(p)) {
    return fmt::format("{} bytes a lane of {}, less than an element of {} bytes",
                       operand<which>(s).vectorBytes, label<which>, elementBits<which>(p) / 8);
  }
  if (operand<which>(s).path == OperandPath::registers) {
    return fmt::format("{} bytes a lane of {}; packed weights are loaded 16 at a time",
                       operand<which>(s).vectorBytes, label<which>);
  }
  const bool direct = operand<which>(s).path == OperandPath::direct;
  const std::string_view exist = !direct ? "1, 2, 4, 8 and 16" : t.directToLds16 ? "4 and 16" : "4";
  return fmt::format("{} bytes a lane of {}; loads {} take {} on {}", operand<which>(s).vectorBytes,
                     label<which>, direct ? "straight to LDS" : "to registers", exist, t.name);
}

template <Which which> bool rowPieceHolds(const Problem &p, const Schedule &s, const Target &) {
  const OperandTile tile = tileOf<which>(p, s);
  return isPacked<which>(p) || tile.layout.rowBytes % tile.vectorBytes == 0;
}

template <Which which>
std::string rowPieceFact(const Problem &p, const Schedule &s, const Target &) {
  const OperandTile tile = tileOf<which>(p, s);
  return fmt::format("a row of {} in the tile has {} bytes, not a multiple of {}", label<which>,
                     tile.layout.rowBytes, tile.vectorBytes);
}

// ---- Packed weights ----

bool pathFitsPacking(const Problem &p, const Schedule &s, const Target &) {
  return (gemmOf(s).b.path == OperandPath::registers) == p.gemm().preshuffle;
}

std::string packingFact(const Problem &p, const Schedule &, const Target &) {
  return p.gemm().preshuffle ? "packed weights go straight to registers"
                             : "b=registers takes weights that were packed once (preshuffle=1)";
}

/// A step is made of whole blocks, and a lane's part of a fragment is one pack or two.
bool packedStepHolds(const Problem &p, const Schedule &s, const Target &) {
  const auto &tile = gemmOf(s).tiling;
  const PreshuffledLayout layout = preshuffledLayout(p.gemm());
  constexpr int lanes = 64;
  const int pack = lanes * layout.packElements(), fragment = tile.mfmaN * tile.mfmaK;
  return !p.gemm().preshuffle ||
         (tile.k % layout.blockK() == 0 && (fragment == pack || fragment == 2 * pack));
}

std::string packedStepFact(const Problem &p, const Schedule &s, const Target &) {
  const auto &tile = gemmOf(s).tiling;
  const PreshuffledLayout layout = preshuffledLayout(p.gemm());
  return fmt::format("packed weights come in blocks of {} along k, {} a lane; tile k={} and mfma "
                     "{}x{} along n and k don't fit",
                     layout.blockK(), layout.packElements(), tile.k, tile.mfmaN, tile.mfmaK);
}

} // namespace

std::vector<Rule> gemmAccessRules() {
  using enum Which;
  return {
      {"alignmentA", reads({"aVector"}), alignmentHolds<a>, alignmentFact<a>},
      {"rowPieceA", reads({"tileM", "tileK", "aVector"}), rowPieceHolds<a>, rowPieceFact<a>},
      {"widthA", reads({"aPath", "aVector"}), widthHolds<a>, widthFact<a>},
      {"alignmentB", reads({"bVector"}), alignmentHolds<b>, alignmentFact<b>},
      {"rowPieceB", reads({"tileN", "tileK", "bVector"}), rowPieceHolds<b>, rowPieceFact<b>},
      {"widthB", reads({"bPath", "bVector"}), widthHolds<b>, widthFact<b>},
      {"registersA", reads({"aPath"}),
       [](const Problem &, const Schedule &s, const Target &) {
         return gemmOf(s).a.path != OperandPath::registers;
       },
       [](const Problem &, const Schedule &, const Target &) {
         return std::string("a=registers: only b is packed for that");
       }},
      {"registersB", reads({"bPath"}), pathFitsPacking, packingFact},
      {"packedStep", reads({"tileK", "mfmaN", "mfmaK"}), packedStepHolds, packedStepFact},
  };
}

} // namespace kw
