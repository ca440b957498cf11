// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Version of bundle.json and kernels.json; the Python loader's SCHEMA_VERSION.
#pragma once

namespace kw {

inline constexpr int bundleVersion = 1;

} // namespace kw
