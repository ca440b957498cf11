// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// --matrix-sums, of the commands that run kernels.
#pragma once

#include "runtime/emulator/Emulator.h"

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace kw {

/// "ordered" (default) or "grouped", into `to`, which must outlive `app`.
inline void addMatrixSums(CLI::App &app, MatrixSums &to) {
  static const std::map<std::string, MatrixSums> names{{"ordered", MatrixSums::inOrder},
                                                       {"grouped", MatrixSums::grouped}};
  app.add_option_function<std::string>(
         "--matrix-sums", [&to](const std::string &text) { to = names.at(text); },
         "how emulated matrix instructions add: ordered (default) along k, or grouped as CDNA3 is "
         "known to")
      ->check([](const std::string &text) {
        return names.contains(text) ? std::string() : "'" + text + "': expected ordered or grouped";
      });
}

} // namespace kw
