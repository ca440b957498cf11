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
  std::int64_t extent = 0, leading = 0; ///< elements
  std::string_view extentName, leadingName;
};
template <Which which> Rows rowsOf(const Gemm &g) {
  if (which == Which::a) {
    return {g.k, g.lda, "k", "lda"};
  }
  return g.bKContiguous() ? Rows{g.k, g.ldb, "k", "ldb"} : Rows{g.n, g.ldb, "n", "ldb"};
}

/// Bytes that divide every row's start and its end: a vector of them is all inside or all outside.
template <Which which> std::int64_t alignment(const Problem &p) {
  const Rows rows = rowsOf<which>(p.gemm());
  const int elementBits = bitWidth(which == Which::a ? p.gemm().aType : p.gemm().bType);
  return std::gcd(rows.extent, rows.leading) * elementBits / 8;
}

template <Which which> bool alignmentHolds(const Problem &p, const Schedule &s, const Target &) {
  return alignment<which>(p) % operand<which>(s).vectorBytes == 0;
}

template <Which which>
std::string alignmentFact(const Problem &p, const Schedule &s, const Target &) {
  const Rows rows = rowsOf<which>(p.gemm());
  return fmt::format("{} bytes a lane of {}, but {}={} and {}={} align rows to {} bytes",
                     operand<which>(s).vectorBytes, label<which>, rows.extentName, rows.extent,
                     rows.leadingName, rows.leading, std::gcd(alignment<which>(p), 16));
}

// ---- Access width ----

/// Direct loads of 16 bytes are a capability, of 4 every target has. [gfx950.md 1]
bool widthExists(const GemmSchedule::Operand &operand, const Target &t) {
  const int bytes = operand.vectorBytes;
  if (operand.path == OperandPath::direct) {
    return bytes == 4 || (bytes == 16 && t.directToLds16);
  }
  return bytes == 2 || bytes == 4 || bytes == 8 || bytes == 16;
}

template <Which which> bool widthHolds(const Problem &, const Schedule &s, const Target &t) {
  return widthExists(operand<which>(s), t);
}

template <Which which> std::string widthFact(const Problem &, const Schedule &s, const Target &t) {
  const bool direct = operand<which>(s).path == OperandPath::direct;
  const std::string_view exist = !direct ? "2, 4, 8 and 16" : t.directToLds16 ? "4 and 16" : "4";
  return fmt::format("{} bytes a lane of {}; loads {} take {} on {}", operand<which>(s).vectorBytes,
                     label<which>, direct ? "straight to LDS" : "to registers", exist, t.name);
}

template <Which which> bool rowPieceHolds(const Problem &p, const Schedule &s, const Target &) {
  const OperandTile tile = tileOf<which>(p, s);
  return tile.layout.rowBytes % tile.vectorBytes == 0;
}

template <Which which>
std::string rowPieceFact(const Problem &p, const Schedule &s, const Target &) {
  const OperandTile tile = tileOf<which>(p, s);
  return fmt::format("a row of {} in the tile has {} bytes, not a multiple of {}", label<which>,
                     tile.layout.rowBytes, tile.vectorBytes);
}

} // namespace

std::vector<Rule> gemmAccessRules() {
  using enum Which;
  return {
      {"alignmentA", reads({"aVector"}), alignmentHolds<a>, alignmentFact<a>},
      {"rowPieceA", reads({"tileK", "aVector"}), rowPieceHolds<a>, rowPieceFact<a>},
      {"widthA", reads({"aPath", "aVector"}), widthHolds<a>, widthFact<a>},
      {"alignmentB", reads({"bVector"}), alignmentHolds<b>, alignmentFact<b>},
      {"rowPieceB", reads({"tileN", "tileK", "bVector"}), rowPieceHolds<b>, rowPieceFact<b>},
      {"widthB", reads({"bPath", "bVector"}), widthHolds<b>, widthFact<b>},
  };
}

} // namespace kw
