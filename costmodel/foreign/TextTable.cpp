// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/TextTable.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <fmt/format.h>
#include <memory>
#include <zlib.h>

namespace kw {
namespace {

/// zlib reads plain files as they are.
Expected<std::string> contents(const std::string &file) {
  const std::unique_ptr<gzFile_s, int (*)(gzFile)> in(gzopen(file.c_str(), "rb"), gzclose);
  if (!in) {
    return badInput(fmt::format("{}: cannot be read", file));
  }
  std::string text;
  std::array<char, 1 << 16> buffer;
  int count = 0;
  while ((count = gzread(in.get(), buffer.data(), buffer.size())) > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(count));
  }
  int code = Z_OK;
  const char *message = gzerror(in.get(), &code);
  if (count < 0 || (code != Z_OK && code != Z_STREAM_END)) {
    return badInput(fmt::format("{}: damaged: {}", file, message));
  }
  return text;
}

} // namespace

std::vector<std::string> splitCells(std::string_view line) {
  std::vector<std::string> cells(1);
  bool quoted = false;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == '"') {
      const bool doubled = quoted && i + 1 < line.size() && line[i + 1] == '"';
      doubled ? (cells.back() += '"', ++i) : quoted = !quoted;
    } else if (line[i] == ',' && !quoted) {
      cells.emplace_back();
    } else {
      cells.back() += line[i];
    }
  }
  return cells;
}

std::optional<double> numberIn(std::string_view cell) {
  double value = 0;
  const char *end = cell.data() + cell.size();
  const auto [stopped, error] = std::from_chars(cell.data(), end, value);
  if (cell.empty() || error != std::errc{} || stopped != end || !std::isfinite(value)) {
    return std::nullopt;
  }
  return value;
}

Expected<TextTable> TextTable::read(const std::string &file) {
  Expected<std::string> text = contents(file);
  if (!text) {
    return tl::unexpected(text.error());
  }
  return parse(std::move(*text), file);
}

Expected<TextTable> TextTable::parse(std::string text, const std::string &name) {
  TextTable table;
  table.fileName = name;
  table.text = std::move(text);
  std::string_view rest = table.text;
  for (std::size_t number = 1; !rest.empty(); ++number) {
    const std::size_t end = std::min(rest.find('\n'), rest.size());
    std::string_view line = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 1, rest.size()));
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    if (line.empty()) {
      continue;
    }
    if (table.columns.empty()) {
      table.columns = splitCells(line.starts_with("\xef\xbb\xbf") ? line.substr(3) : line);
    } else {
      table.lines.push_back(
          {static_cast<std::size_t>(line.data() - table.text.data()), line.size(), number});
    }
  }
  if (table.columns.empty()) {
    return badInput(fmt::format("{}: no header line", name));
  }
  return table;
}

std::optional<std::size_t> TextTable::column(std::string_view name) const {
  const auto at = std::ranges::find(columns, name);
  return at == columns.end() ? std::nullopt
                             : std::optional(static_cast<std::size_t>(at - columns.begin()));
}

std::vector<std::string> TextTable::cells(std::size_t row) const {
  std::vector<std::string> cells = splitCells(line(row));
  cells.resize(columns.size());
  return cells;
}

std::string TextTable::damage(std::size_t row) const {
  const std::size_t count = splitCells(line(row)).size();
  return count == columns.size()
             ? std::string()
             : fmt::format("{} cells where the header has {}", count, columns.size());
}

} // namespace kw
