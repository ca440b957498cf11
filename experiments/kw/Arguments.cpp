// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "experiments/kw/Arguments.h"

#include "experiments/support/Files.h"
#include "experiments/support/ProblemFiles.h"

#include <charconv>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sstream>

namespace kw {

Expected<Problem> problemOf(const std::vector<std::string> &words) {
  if (words.empty()) {
    return badInput("PROBLEM is missing; for example: gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk");
  }
  return readProblem(fmt::format("{}", fmt::join(words, " ")));
}

Expected<std::vector<Problem>> problemsOf(const std::vector<std::string> &words) {
  std::vector<std::vector<std::string>> groups;
  std::istringstream stream(fmt::format("{}", fmt::join(words, " ")));
  for (std::string word; stream >> word;) {
    if (groups.empty() || word.find('=') == std::string::npos) {
      groups.emplace_back();
    }
    groups.back().push_back(word);
  }
  std::vector<Problem> problems;
  for (const std::vector<std::string> &group : groups) {
    Expected<Problem> problem = problemOf(group);
    if (!problem) {
      return tl::unexpected(problem.error());
    }
    problems.push_back(std::move(*problem));
  }
  return problems;
}

Expected<std::vector<Problem>> readSuite(const std::string &file) {
  const Expected<std::vector<TextLine>> lines = readLines(file);
  if (!lines) {
    return tl::unexpected(lines.error());
  }
  std::vector<Problem> problems;
  for (const TextLine &line : *lines) {
    Expected<Problem> problem = readProblem(line.text);
    if (!problem) {
      return tl::unexpected(Error{problem.error().kind, fmt::format("{}:{}: {}", file, line.number,
                                                                    problem.error().message)});
    }
    problems.push_back(std::move(*problem));
  }
  if (problems.empty()) {
    return badInput(fmt::format("{}: there is no problem in it; one a line is expected", file));
  }
  return problems;
}

namespace {

/// A check that the whole text is a `Number` between two others.
template <typename Number> OptionCheck within(const char *kind, Number lowest, Number highest) {
  return [=](const std::string &text) -> std::string {
    Number number{};
    const char *end = text.data() + text.size();
    const auto [rest, code] = std::from_chars(text.data(), end, number);
    // A nan is neither above nor below.
    if (code == std::errc() && rest == end && number >= lowest && number <= highest) {
      return "";
    }
    return fmt::format("'{}': expected a {} from {} to {}", text, kind, lowest, highest);
  };
}

} // namespace

std::string notEmpty(const std::string &text) { return text.empty() ? "must not be empty" : ""; }

OptionCheck wholeNumber(std::int64_t lowest, std::int64_t highest) {
  return within("whole number", lowest, highest);
}

OptionCheck numberWithin(double lowest, double highest) {
  return within("number", lowest, highest);
}

} // namespace kw
