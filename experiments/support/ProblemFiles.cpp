// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/support/ProblemFiles.h"

#include "experiments/support/Files.h"

namespace kw {

namespace {

/// Reads `file` into `take`, unless the problem names none.
template <typename Take> Expected<void> takeFile(const std::string &file, Take take) {
  if (file.empty()) {
    return {};
  }
  const Expected<std::string> text = readText(file);
  if (!text) {
    return badInput(text.error().message);
  }
  Expected<void> taken = take(*text);
  return taken ? taken : badInput(file + ": " + taken.error().message);
}

} // namespace

Expected<Problem> readProblem(std::string_view text) {
  Expected<Problem> problem = parseProblem(text);
  if (!problem) {
    return problem;
  }
  Expected<void> read;
  if (auto *grouped = std::get_if<GroupedGemm>(&problem->op)) {
    read = takeFile(grouped->routingFile,
                    [&](std::string_view rows) { return readGroupRows(*grouped, rows); });
  }
  if (auto *attention = std::get_if<Attention>(&problem->op)) {
    read = takeFile(attention->varlenFile, [&](std::string_view lengths) {
      return readSequenceLengths(*attention, lengths);
    });
    if (read) {
      read = takeFile(attention->maskFile, [&](std::string_view documents) {
        return readDocuments(*attention, documents);
      });
    }
  }
  return read ? problem : Expected<Problem>(tl::unexpected(read.error()));
}

} // namespace kw
