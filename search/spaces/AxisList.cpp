// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "search/spaces/Spaces.h"

#include <algorithm>
#include <cassert>
#include <numeric>

namespace kw {

int AxisList::find(std::string_view decision) const {
  const std::span<const Decision> all = decisions(kind);
  const auto at = std::ranges::find(all, decision, &Decision::name);
  assert(at != all.end() && "no decision of that name");
  return static_cast<int>(at - all.begin());
}

void AxisList::add(std::string_view decision, std::vector<std::int64_t> values) {
  axes.push_back({find(decision), std::move(values)});
}

void AxisList::addNames(std::string_view decision) {
  const int index = find(decision);
  std::vector<std::int64_t> values(decisions(kind)[static_cast<std::size_t>(index)].names.size());
  std::iota(values.begin(), values.end(), 0);
  axes.push_back({index, std::move(values)});
}

std::vector<std::int64_t> vectorWidths(std::int64_t alignment, int elementBytes, int direct) {
  constexpr std::int64_t widest = 16;
  const std::int64_t best = std::gcd(alignment, widest);
  std::vector<std::int64_t> widths{best};
  for (std::int64_t width : {best / 2, std::int64_t(direct)}) {
    const bool narrower = width < best && width >= elementBytes;
    // Half of full width only doubles the instructions.
    const bool useful = width == direct || best < widest;
    if (narrower && useful && std::ranges::find(widths, width) == widths.end()) {
      widths.push_back(width);
    }
  }
  return widths;
}

} // namespace kw
