# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#
# Run as a script: writes OUTPUT, a C++ table of the package's files.
#   cmake -DPACKAGE=DIR -DFILES=a.py,ops/b.py -DOUTPUT=FILE -P EmbedLoader.cmake
string(REPLACE "," ";" files "${FILES}")
set(rows "")
foreach(file IN LISTS files)
  file(READ "${PACKAGE}/${file}" text)
  string(APPEND rows "    {\"kernelwright/${file}\", R\"KW(${text})KW\"},\n")
endforeach()
file(WRITE "${OUTPUT}" "// Made by EmbedLoader.cmake.
#include \"experiments/inductor/LoaderSources.h\"

namespace kw {
std::span<const LoaderSource> loaderSources() {
  static constexpr LoaderSource sources[] = {
${rows}  };
  return sources;
}
} // namespace kw
")
