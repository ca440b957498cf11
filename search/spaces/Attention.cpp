// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Axes of attention. Where kernels for a few queries are made (decode), waves divide the columns;
// else they may also divide the rows and share k and v. What usually wins stands first: it has the
// lower rank, which decides between equal estimates. Splits have multiples of three between the
// powers of two, so that few heads fill the CUs in whole rounds.
#include "ir/AttentionLayout.h"
#include "ir/plans/AttentionInterface.h"
#include "search/spaces/Spaces.h"

namespace kw {

std::vector<Axis> attentionAxes(const Problem &problem, const Target &) {
  AxisList axes(Family::attention);
  const auto direct = static_cast<std::int64_t>(OperandPath::direct);
  const auto throughRegisters = static_cast<std::int64_t>(OperandPath::lds);
  const auto fragments = static_cast<std::int64_t>(OperandPath::registers);
  const std::vector<std::int64_t> layouts{static_cast<std::int64_t>(LdsLayout::swizzle),
                                          static_cast<std::int64_t>(LdsLayout::padding),
                                          static_cast<std::int64_t>(LdsLayout::plain)};
  const Attention &op = problem.attention();
  const bool shares = !isDecode(op);
  const bool narrow = bitWidth(productTypes(op).keys) == 8;
  axes.add("rows", shares ? std::vector<std::int64_t>{256, 128, 64, 32, 16}
                          : std::vector<std::int64_t>{16, 32, 64, 128});
  axes.add("columns", {32, 64, 128});
  axes.add("waves", {4, 2, 1, 8, 16});
  axes.add("mfmaM", {16, 32});
  axes.add("mfmaN", {16, 32});
  axes.add("mfmaK",
           narrow ? std::vector<std::int64_t>{128, 64, 32, 16} : std::vector<std::int64_t>{32, 16});
  axes.add("kPath", {fragments, direct, throughRegisters});
  axes.add("vPath", {direct, throughRegisters});
  axes.add("kLayout", layouts);
  axes.add("vLayout", layouts);
  axes.add("kVector", {16});
  axes.add("vVector", {16});
  axes.add("stages", {2, 3, 4});
  axes.add("prefetch", {1, 2, 0});
  axes.add("splitKV", {1, 2, 3, 4, 6, 8, 12, 16, 24, 32, 48, 64, 96, 128, 256});
  axes.addNames("combine");
  axes.add("xcdRemap", {1, 0});
  axes.add("wavesPerSimd", {0});
  axes.add("rowWaves",
           shares ? std::vector<std::int64_t>{8, 4, 2, 1} : std::vector<std::int64_t>{1});
  axes.add("lazyRescale", shares ? std::vector<std::int64_t>{1, 0} : std::vector<std::int64_t>{0});
  return axes.take();
}

} // namespace kw
