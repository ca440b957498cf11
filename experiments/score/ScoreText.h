// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The document of `kw score` as a table to read.
#pragma once

#include "experiments/support/Json.h"

#include <string>

namespace kw {

/// Errors by type, bucket, family and generator, beside the baselines.
std::string scoreText(const Json &score);

} // namespace kw
