// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Categories of a case by the names that calibration files use.
#pragma once

#include "costmodel/Features.h"

#include <span>
#include <string>
#include <string_view>

namespace kw {

/// dtype, generator, variant, kernel, family; nullptr: there is no such category.
std::string ModelCase::*categoryNamed(std::string_view name);

/// Its values of these categories, which exist, joined by '|'.
std::string categoryKey(std::span<const std::string> names, const ModelCase &modelCase);

} // namespace kw
