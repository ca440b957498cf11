// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Generator.h"

#include "ir/support/TextList.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace kw {
namespace {

constexpr std::array<std::string_view, 2> generatorNames{"kw", "triton"};

// Both in the order of the alternatives of `Schedule`.
constexpr std::array<ScheduleKind, std::variant_size_v<Schedule>> kinds{
    Family::gemm,      Family::rmsnorm,     ScheduleKind(Family::gemm, Generator::triton),
    Family::attention, Family::groupedGemm, Family::topk,
};
constexpr std::array<std::string_view, kinds.size()> formats{
    "gemm.1", "rmsnorm.1", "triton.gemm.1", "attention.1", "grouped_gemm.1", "topk.1",
};

} // namespace

std::string_view name(Generator generator) {
  return generatorNames.at(static_cast<std::size_t>(generator));
}

Expected<Generator> parseGenerator(std::string_view text) {
  const auto at = std::ranges::find(generatorNames, text);
  if (at == generatorNames.end()) {
    return badInput("generator " + quoted(text) +
                    " is not available; accepted: " + joined(generatorNames, " "));
  }
  return static_cast<Generator>(at - generatorNames.begin());
}

ScheduleKind kindOf(const Schedule &schedule) { return kinds[schedule.index()]; }

std::size_t indexOf(ScheduleKind kind) {
  const auto at = std::ranges::find(kinds, kind);
  assert(at != kinds.end() && "no schedule of that family and generator");
  return static_cast<std::size_t>(at - kinds.begin());
}

std::string_view formatOf(ScheduleKind kind) { return formats[indexOf(kind)]; }

std::span<const ScheduleKind> scheduleKinds() { return kinds; }

Expected<ScheduleKind> findKind(Family family, Generator generator) {
  std::vector<std::string_view> families;
  for (ScheduleKind kind : kinds) {
    if (kind == ScheduleKind(family, generator)) {
      return kind;
    }
    if (kind.generator == generator) {
      families.push_back(name(kind.family));
    }
  }
  return badInput("generator " + std::string(name(generator)) + " makes no " +
                  std::string(name(family)) + "; accepted: " + joined(families, " "));
}

} // namespace kw
