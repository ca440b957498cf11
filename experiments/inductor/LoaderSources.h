// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The files of the Python package `kernelwright`, carried in the program so that a bundle is
// complete wherever it is written. The table is made by EmbedLoader.cmake.
#pragma once

#include <span>
#include <string_view>

namespace kw {

struct LoaderSource {
  std::string_view path; ///< in the bundle: "kernelwright/bundle.py"
  std::string_view text;
};

std::span<const LoaderSource> loaderSources();

} // namespace kw
