// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A comma-separated table with a header line, plain or gzip-compressed. Cells may be quoted; a
// quote within is doubled. No cell spans lines.
#pragma once

#include "ir/support/Expected.h"

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

class TextTable {
public:
  /// Bad input: no file, damaged compression, no header. A line with another number of cells than
  /// the header is kept; `damage` says so.
  static Expected<TextTable> read(const std::string &file);
  static Expected<TextTable> parse(std::string text, const std::string &name);

  const std::string &name() const { return fileName; }
  std::size_t rows() const { return lines.size(); }
  const std::vector<std::string> &header() const { return columns; }
  std::optional<std::size_t> column(std::string_view name) const;
  /// All cells of a data row, counted from 0; as many as the header has.
  std::vector<std::string> cells(std::size_t row) const;
  /// Line in the file, counted from 1, of a data row.
  std::size_t lineNumber(std::size_t row) const { return lines[row].number; }
  /// What is wrong with a row as text; empty: nothing.
  std::string damage(std::size_t row) const;

private:
  std::string_view line(std::size_t row) const {
    return std::string_view(text).substr(lines[row].at, lines[row].size);
  }

  std::string fileName, text;
  std::vector<std::string> columns;
  struct Line {
    std::size_t at = 0, size = 0; ///< in `text`
    std::size_t number = 0;       ///< in the file, from 1
  };
  std::vector<Line> lines;
};

/// Cells of one line.
std::vector<std::string> splitCells(std::string_view line);

/// The cell as a number; nullopt: empty, not a number or not finite.
std::optional<double> numberIn(std::string_view cell);

} // namespace kw
