// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/kw/Output.h"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fmt/format.h>
#include <unistd.h>

namespace kw {

namespace {

/// Names from foreign files may hold anything; a terminal must not obey them.
std::string printable(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const auto code = static_cast<unsigned char>(c);
    const bool isControl = (code < 0x20 && c != '\n' && c != '\t') || code == 0x7f;
    result += isControl ? fmt::format("\\x{:02x}", code) : std::string(1, c);
  }
  return result;
}

Expected<void> write(std::string_view text) {
  if (std::fwrite(text.data(), 1, text.size(), stdout) != text.size() || std::fflush(stdout) != 0) {
    return failed(fmt::format("stdout: {}", std::strerror(errno)));
  }
  return {};
}

} // namespace

Expected<void> printText(std::string_view text) { return write(printable(text)); }

Expected<void> printDocument(const Json &json) { return write(printJson(json, 1) + "\n"); }

Expected<void> print(const CommonOptions &common, const Json &json, std::string_view text) {
  return common.json ? printDocument(json) : printText(text);
}

void printError(const Error &error, bool json) {
  // Messages of LLVM may have several lines; what is printed is one.
  std::string message = error.message;
  std::replace(message.begin(), message.end(), '\n', ' ');
  fmt::print(stderr, "kw: {}\n", printable(message));
  if (json) {
    constexpr std::string_view kinds[] = {"bad_input", "nothing_legal", "failed"};
    const Json document = {
        {"error", {{"kind", kinds[static_cast<std::size_t>(error.kind)]}, {"message", message}}}};
    (void)printDocument(document); // stdout may be what failed
  }
}

Progress::Progress(bool quiet) : quiet(quiet), terminal(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (pending) {
    fmt::print(stderr, "\r\033[K");
  }
}

void Progress::operator()(const std::string &status) {
  if (quiet) {
    return;
  }
  if (terminal) {
    fmt::print(stderr, "\r\033[K{}", status);
    std::fflush(stderr);
    pending = true;
  } else {
    fmt::print(stderr, "{}\n", status);
  }
}

void Progress::onTerminal(const std::string &status) {
  if (terminal) {
    (*this)(status);
  }
}

void Progress::note(const std::string &line) {
  if (quiet) {
    return;
  }
  fmt::print(stderr, "{}{}\n", pending ? "\r\033[K" : "", line);
  pending = false;
}

std::string table(const std::vector<std::vector<std::string>> &rows) {
  std::vector<std::size_t> widths;
  for (const std::vector<std::string> &row : rows) {
    widths.resize(std::max(widths.size(), row.size()), 0);
    for (std::size_t i = 0; i < row.size(); ++i) {
      widths[i] = std::max(widths[i], row[i].size());
    }
  }
  std::string text;
  for (const std::vector<std::string> &row : rows) {
    std::string line;
    for (std::size_t i = 0; i < row.size(); ++i) {
      line += i + 1 < row.size() ? fmt::format("{:<{}}  ", row[i], widths[i]) : row[i];
    }
    text += line + "\n";
  }
  return text;
}

} // namespace kw
