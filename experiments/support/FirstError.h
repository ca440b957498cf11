// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One check for several results that do not depend on each other.
#pragma once

#include "ir/support/Expected.h"

namespace kw {

/// The error of the first that failed, or nullptr. Only for results that outlive the pointer.
template <typename... T> const Error *firstError(const Expected<T> &...results) {
  const Error *first = nullptr;
  ((first = first != nullptr || results ? first : &results.error()), ...);
  return first;
}

} // namespace kw
