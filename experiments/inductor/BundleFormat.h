// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What bundle.json and kernels.json say of themselves. The version is the Python loader's
// SCHEMA_VERSION.
#pragma once

#include <string>
#include <string_view>

namespace kw {

inline constexpr int bundleVersion = 1;

inline constexpr const char *bundleProducer = "kernelwright";

inline constexpr const char *lookupFile = "lookup_table.json";

/// Versions of Triton whose LDS and registers the rows of the lookup table are proven and predicted
/// for. [ir/generators/README.md]
inline constexpr const char *tritonRange = ">=3.6,<=3.9";

/// Versions of torch that take the bundle: those of its template hashes, or any with the table.
inline std::string torchRange(std::string_view boundTorch) {
  return boundTorch.empty() ? ">=2.11" : "==" + std::string(boundTorch);
}

} // namespace kw
