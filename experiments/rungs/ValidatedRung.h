// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What `kw validate` and `kw launch` say of a run: findings as JSON.
#pragma once

#include "experiments/support/Json.h"
#include "runtime/Validator.h"

#include <string_view>

namespace kw {

Json findingsJson(std::span<const Finding> findings);

/// What `kw validate` prints.
Json validationJson(std::string_view problem, std::string_view device,
                    const Validation &validation);

/// One line: the first finding, or how far the result is off.
std::string whyInvalid(const Validation &validation);

} // namespace kw
