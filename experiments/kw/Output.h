// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What the program prints: one JSON document or readable text on stdout, all else on stderr.
#pragma once

#include "experiments/kw/Command.h"
#include "experiments/support/Json.h"

#include <string>
#include <string_view>

namespace kw {

/// The document and a line end. An error when stdout cannot take it (full disk).
Expected<void> printDocument(const Json &json);
/// The same for readable text.
Expected<void> printText(std::string_view text);
/// The document with --json, else the text.
Expected<void> print(const CommonOptions &common, const Json &json, std::string_view text);

/// "kw: MESSAGE" on stderr; with `json` also {"error": {kind, message}} on stdout.
void printError(const Error &error, bool json);

/// Where long work is: a status line that replaces itself on a terminal, plain lines elsewhere.
class Progress {
public:
  explicit Progress(bool quiet);
  ~Progress();
  void operator()(const std::string &status);
  /// One of so many that elsewhere than on a terminal they would only be in the way.
  void onTerminal(const std::string &status);
  /// A line that stays.
  void note(const std::string &line);

private:
  bool quiet, terminal;
  bool pending = false; ///< a status line stands without line end
};

/// Columns padded to their widest cell; the first row is the heading.
std::string table(const std::vector<std::vector<std::string>> &rows);

} // namespace kw
