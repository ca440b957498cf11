// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/calibrate/ResidualFit.h"

#include "experiments/score/ScoreReport.h"
#include "experiments/support/Files.h"
#include "experiments/support/Program.h"

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fmt/format.h>

// KW_FIT_SCRIPT is the script's path, a string; CMake rebuilds this when the script changes.
__asm__(".section .rodata\n"
        ".global kwFitScriptBegin\n"
        "kwFitScriptBegin:\n"
        ".incbin \"" KW_FIT_SCRIPT "\"\n"
        ".global kwFitScriptEnd\n"
        "kwFitScriptEnd:\n"
        ".previous\n");

extern "C" const char kwFitScriptBegin[], kwFitScriptEnd[];

namespace kw {
namespace {

namespace fs = std::filesystem;

/// A folder of its own that ends with this.
class ScratchFolder {
public:
  ScratchFolder() {
    std::string pattern = (fs::temp_directory_path() / "kw-calibrate-XXXXXX").string();
    path = mkdtemp(pattern.data()) ? pattern : std::string();
  }
  ~ScratchFolder() {
    std::error_code ignored;
    fs::remove_all(path, ignored);
  }
  ScratchFolder(const ScratchFolder &) = delete;

  fs::path path; ///< empty: couldn't be made
};

/// Runs the script over the rows; it leaves its result in `out`.
Expected<void> runScript(const fs::path &folder, const char *what, const fs::path &out,
                         std::span<const ScoredRow> rows, std::span<const TextTable> tables,
                         const std::string &python, const std::string &leftOut = {}) {
  if (folder.empty()) {
    return failed(
        fmt::format("{}: no folder can be made there", fs::temp_directory_path().string()));
  }
  const fs::path script = folder / "fit.py", features = folder / "features.csv";
  if (auto written = writeFile(script, std::string_view(kwFitScriptBegin, kwFitScriptEnd));
      !written) {
    return written;
  }
  if (auto written = writeFeatures(features.string(), rows, tables); !written) {
    return written;
  }
  std::vector<std::string> command{python,  script.string(), what, "--features", features.string(),
                                   "--out", out.string()};
  if (!leftOut.empty()) {
    command.insert(command.end(), {"--left-out", leftOut});
  }
  if (auto ran = runProgram(command); !ran) {
    return failed(fmt::format("{}; fitting needs a Python with numpy, pandas and lightgbm "
                              "(--python, experiments/requirements.txt)",
                              ran.error().message));
  }
  return {};
}

} // namespace

Expected<Json> fitResiduals(std::span<const ScoredRow> rows, std::span<const TextTable> tables,
                            const std::string &python) {
  const ScratchFolder folder;
  const fs::path out = folder.path / "families.json";
  if (auto ran = runScript(folder.path, "fit", out, rows, tables, python); !ran) {
    return tl::unexpected(ran.error());
  }
  const auto text = readText(out);
  if (!text) {
    return tl::unexpected(text.error());
  }
  Json families = Json::parse(*text, nullptr, false);
  return families.is_object() ? Expected<Json>(std::move(families))
                              : failed("the fit wrote something that isn't JSON");
}

Expected<void> crossValidate(std::vector<ScoredRow> &rows, std::span<const TextTable> tables,
                             const std::string &python, const std::string &leftOut) {
  const ScratchFolder folder;
  const fs::path out = folder.path / "predictions.csv";
  if (auto ran = runScript(folder.path, "cross", out, rows, tables, python, leftOut); !ran) {
    return ran;
  }
  const auto predictions = TextTable::read(out.string());
  if (!predictions) {
    return tl::unexpected(predictions.error());
  }
  // The features' table has no line for rows that aren't modelled.
  std::vector<ScoredRow *> lines;
  for (ScoredRow &row : rows) {
    if (row.modelCase) {
      lines.push_back(&row);
    }
  }
  std::vector<ScoredRow> predicted;
  for (std::size_t i = 0; i < predictions->rows(); ++i) {
    const std::vector<std::string> cells = predictions->cells(i);
    const auto line = numberIn(cells[0]), log = numberIn(cells[1]), width = numberIn(cells[2]);
    const auto boosted = cells.size() > 3 ? numberIn(cells[3]) : std::nullopt;
    if (!line || !log || !width || *line < 0 || *line >= double(lines.size())) {
      return failed("the cross-validation wrote a line that isn't one");
    }
    ScoredRow &row = predicted.emplace_back(*lines[std::size_t(*line)]);
    row.predictedUs = row.modelCase->analytic.timeUs * std::exp(*log);
    row.lowUs = row.predictedUs * std::exp(-*width);
    row.highUs = row.predictedUs * std::exp(*width);
    row.boostedUs = boosted ? std::optional(std::exp(*boosted)) : std::nullopt;
  }
  rows = std::move(predicted);
  return rows.empty() ? badInput(fmt::format("{}: no rows to judge, or none to learn from",
                                             leftOut.empty() ? "--cross-validate" : leftOut))
                      : Expected<void>();
}

} // namespace kw
