// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// `kw tune --schedule S`: the user's schedules instead of a search.
#pragma once

#include "search/Strategy.h"

#include <algorithm>
#include <utility>

namespace kw {

/// Its name in runs and documents, where no strategy of the search may be named the same.
inline constexpr std::string_view givenStrategy = "given";

/// Asks for schedules in the order given.
class GivenSchedules final : public Strategy {
public:
  explicit GivenSchedules(std::vector<Schedule> schedules) : schedules(std::move(schedules)) {}

  std::vector<Schedule> ask(std::size_t n) override {
    const auto first = schedules.begin() + static_cast<std::ptrdiff_t>(next);
    const std::size_t count = std::min(n, schedules.size() - next);
    next += count;
    return {first, first + static_cast<std::ptrdiff_t>(count)};
  }
  void tell(const Trial &) override {}
  std::uint64_t estimated() const override { return next; }

private:
  std::vector<Schedule> schedules;
  std::size_t next = 0;
};

} // namespace kw
