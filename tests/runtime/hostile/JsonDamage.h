// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <random>

namespace kw::test {

/// Changes one node of the tree: another value, another type, gone, doubled, nested deeply.
void damageJson(nlohmann::json &json, std::mt19937_64 &random);

/// File names that a manifest may not write to; `damageJson` puts them in.
inline constexpr const char *escapes[] = {"../kw-hostile-escape", "/tmp/kw-hostile-escape",
                                          "a/../../kw-hostile-escape"};

} // namespace kw::test
