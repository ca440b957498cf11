// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/Estimate.h"

#include <cassert>

namespace kw {
namespace {

constexpr std::array<std::string_view, termCount> termNames{
    "launch", "prologue",  "matrix",  "lds",        "vector_alu", "issue",     "l2",       "mall",
    "hbm",    "in_flight", "barrier", "last_round", "epilogue",   "reduction", "residual",
};

} // namespace

std::string_view name(Term term) {
  const auto index = static_cast<std::size_t>(term);
  assert(index < termCount && "a term of the list");
  return termNames[index];
}

} // namespace kw
