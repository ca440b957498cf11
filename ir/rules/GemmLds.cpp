// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Rules on the operands' tiles in LDS.
#include "ir/ResultRows.h"
#include "ir/plans/GemmSplit.h"
#include "ir/rules/GemmRules.h"

#include <algorithm>
#include <fmt/format.h>

namespace kw {
namespace {

using namespace gemmrules;

// ---- LDS layout ----

constexpr int swizzlePeriod = 32; ///< rows after which every mask repeats
constexpr int directChunk = 1024; ///< bytes between pads on the direct path

/// Rows along k of 6-bit elements are read 12 bytes at a time, which must lie together.
template <Which which> bool wholeReadsHold(const Problem &p, const Schedule &s, const Target &) {
  const Gemm &g = p.gemm();
  const bool kContiguous = which == Which::a ? g.aKContiguous() : g.bKContiguous() || g.preshuffle;
  const auto &decided = operand<which>(s);
  return kContiguous || bitWidth(which == Which::a ? g.aType : g.bType) != 6 ||
         decided.layout == LdsLayout::plain ||
         (decided.layout == LdsLayout::padding && decided.path == OperandPath::lds);
}

/// A swizzle that moves nothing and a padding that adds nothing are the plain layout again.
template <Which which> bool layoutHolds(const Problem &p, const Schedule &s, const Target &) {
  const OperandTile tile = tileOf<which>(p, s);
  if (tile.layout.path == OperandPath::registers) {
    return tile.layout.layout == GemmSchedule::Operand().layout;
  }
  switch (tile.layout.layout) {
  case LdsLayout::plain:
    return true;
  case LdsLayout::swizzle:
    for (int row = 0; row < std::min(tile.rows, swizzlePeriod); ++row) {
      if (tile.layout.granuleMask(row) != 0) {
        return true;
      }
    }
    return false;
  case LdsLayout::padding:
    return tile.layout.path == OperandPath::lds ||
           std::int64_t(tile.rows) * tile.layout.rowBytes > directChunk;
  }
  return true;
}

template <Which which> std::string layoutFact(const Problem &p, const Schedule &s, const Target &) {
  const OperandTile tile = tileOf<which>(p, s);
  if (tile.layout.path == OperandPath::registers) {
    return fmt::format("{} does not go through LDS: its layout there is left at its default",
                       label<which>);
  }
  return fmt::format("{} of {} changes nothing for {} rows of {} bytes",
                     tile.layout.layout == LdsLayout::swizzle ? "swizzle" : "padding", label<which>,
                     tile.rows, tile.layout.rowBytes);
}

template <Which which>
std::string wholeReadsFact(const Problem &, const Schedule &, const Target &) {
  return fmt::format("6-bit elements of {} with rows along k are read 12 bytes at a time, which "
                     "this layout moves apart; plain, or padding on the lds path, doesn't",
                     label<which>);
}

// ---- Capacity ----

std::int64_t stageBytes(const Problem &p, const Schedule &s) {
  return operandTile(p.gemm(), gemmOf(s), TileOperand::a).stageBytes() +
         operandTile(p.gemm(), gemmOf(s), TileOperand::b).stageBytes();
}
/// Where results go through LDS and the loop's is too small for that.
std::int64_t rowBytes(const Problem &p, const Schedule &s) {
  return gemmOf(s).epilogue == EpiloguePath::lds ? resultRows(p.gemm(), gemmOf(s)).ownBytes() : 0;
}
std::int64_t ldsBytes(const Problem &p, const Schedule &s) {
  return stageBytes(p, s) * gemmOf(s).pipeline.stages + sliceBytes(gemmOf(s)) + rowBytes(p, s);
}

std::string ldsFact(const Problem &p, const Schedule &s, const Target &t) {
  return fmt::format("LDS {} > {} bytes with {} stages of {}{}{}", ldsBytes(p, s), t.ldsBytes,
                     gemmOf(s).pipeline.stages, stageBytes(p, s),
                     sliceBytes(gemmOf(s)) > 0 ? ", and sums of the waves along k" : "",
                     rowBytes(p, s) > 0 ? ", and rows of the result" : "");
}

} // namespace

std::vector<Rule> gemmLdsRules() {
  using enum Which;
  return {
      {"layoutA", reads({"tileM", "tileK", "aPath", "aLayout"}), layoutHolds<a>, layoutFact<a>},
      {"layoutB", reads({"tileN", "tileK", "bPath", "bLayout"}), layoutHolds<b>, layoutFact<b>},
      {"wholeReadsA", reads({"aPath", "aLayout"}), wholeReadsHold<a>, wholeReadsFact<a>},
      {"wholeReadsB", reads({"bPath", "bLayout"}), wholeReadsHold<b>, wholeReadsFact<b>},
      {"ldsCapacity",
       reads({"tileM", "tileN", "tileK", "wavesM", "wavesN", "wavesK", "mfmaM", "mfmaN", "aPath",
              "bPath", "aLayout", "bLayout", "aVector", "bVector", "epilogue", "stages"}),
       [](const Problem &p, const Schedule &s, const Target &t) {
         return ldsBytes(p, s) <= t.ldsBytes;
       },
       ldsFact},
  };
}

} // namespace kw
