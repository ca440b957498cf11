// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A recursive descent parser that evaluates while it reads.
#include "ir/Expression.h"

#include "ir/support/TextList.h"

#include <algorithm>
#include <array>
#include <fmt/format.h>
#include <limits>
#include <optional>

namespace kw {
namespace {

using Int = std::int64_t;

/// nullopt: overflow.
using Binary = std::optional<Int> (*)(Int, Int);

std::optional<Int> add(Int a, Int b) {
  Int result = 0;
  return __builtin_add_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}
std::optional<Int> subtract(Int a, Int b) {
  Int result = 0;
  return __builtin_sub_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}
std::optional<Int> multiply(Int a, Int b) {
  Int result = 0;
  return __builtin_mul_overflow(a, b, &result) ? std::nullopt : std::optional(result);
}
bool divisionOverflows(Int a, Int b) { return a == std::numeric_limits<Int>::min() && b == -1; }
/// Rounds towards minus infinity; b is not 0.
std::optional<Int> floorDivide(Int a, Int b) {
  if (divisionOverflows(a, b)) {
    return std::nullopt;
  }
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0) ? 1 : 0);
}
/// The sign of b, as in Python.
std::optional<Int> modulo(Int a, Int b) {
  if (divisionOverflows(a, b)) {
    return 0;
  }
  const Int rest = a % b;
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}
std::optional<Int> ceilDivide(Int a, Int b) {
  const auto quotient = floorDivide(a, b);
  return quotient && a % b != 0 ? *quotient + 1 : quotient;
}
std::optional<Int> smaller(Int a, Int b) { return std::min(a, b); }
std::optional<Int> larger(Int a, Int b) { return std::max(a, b); }

std::optional<Int> equal(Int a, Int b) { return a == b; }
std::optional<Int> different(Int a, Int b) { return a != b; }
std::optional<Int> less(Int a, Int b) { return a < b; }
std::optional<Int> lessEqual(Int a, Int b) { return a <= b; }
std::optional<Int> greater(Int a, Int b) { return a > b; }
std::optional<Int> greaterEqual(Int a, Int b) { return a >= b; }

struct Operation {
  std::string_view text;
  Binary apply;
  bool divides = false;
};
// Longer texts before their prefixes.
constexpr auto comparisons = std::to_array<Operation>({{"==", equal},
                                                       {"!=", different},
                                                       {"<=", lessEqual},
                                                       {">=", greaterEqual},
                                                       {"<", less},
                                                       {">", greater}});
constexpr auto sums = std::to_array<Operation>({{"+", add}, {"-", subtract}});
constexpr auto products =
    std::to_array<Operation>({{"*", multiply}, {"/", floorDivide, true}, {"%", modulo, true}});
constexpr auto functions =
    std::to_array<Operation>({{"min", smaller}, {"max", larger}, {"ceildiv", ceilDivide, true}});

bool isLetter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_'; }
bool isDigit(char c) { return c >= '0' && c <= '9'; }

class Evaluator {
public:
  Evaluator(std::string_view text, const SizeValues &sizes) : text(text), sizes(sizes) {}

  Expected<Int> run() {
    const Int value = disjunction();
    if (!error && !atEnd()) {
      complain("unexpected " + quoted(text.substr(at)));
    }
    if (error) {
      return badInput(*error);
    }
    return value;
  }

private:
  Int disjunction() {
    Int value = conjunction();
    while (takeWord("or")) {
      const Int right = skippedIf(value != 0, &Evaluator::conjunction);
      value = value != 0 || right != 0;
    }
    return value;
  }

  Int conjunction() {
    Int value = negation();
    while (takeWord("and")) {
      const Int right = skippedIf(value == 0, &Evaluator::negation);
      value = value != 0 && right != 0;
    }
    return value;
  }

  Int negation() {
    if (takeWord("not")) {
      return nested(&Evaluator::negation) == 0;
    }
    return comparison();
  }

  Int comparison() {
    const Int value = sum();
    const Operation *operation = take(comparisons);
    if (!operation) {
      return value;
    }
    const Int result = apply(*operation, value, sum());
    if (take(comparisons)) {
      complain("comparisons do not chain; accepted: `and` between two of them");
    }
    return result;
  }

  Int sum() { return chain(sums, &Evaluator::product); }
  Int product() { return chain(products, &Evaluator::sign); }

  Int sign() {
    if (take(std::span(sums).subspan(1))) {
      return apply(sums[1], 0, nested(&Evaluator::sign));
    }
    return primary();
  }

  Int primary() {
    skipSpace();
    if (at < text.size() && isDigit(text[at])) {
      return number();
    }
    if (at < text.size() && isLetter(text[at])) {
      return nameOrCall();
    }
    if (takeCharacter('(')) {
      const Int value = nested(&Evaluator::disjunction);
      expect(')');
      return value;
    }
    complain("a number, a name or '(' is missing");
    return 0;
  }

  Int number() {
    const std::size_t begin = at;
    while (at < text.size() && isDigit(text[at])) {
      ++at;
    }
    const auto value = parseInteger(text.substr(begin, at - begin));
    if (!value) {
      complain("overflow");
    }
    return value.value_or(0);
  }

  Int nameOrCall() {
    const std::string_view name = word();
    if (takeCharacter('(')) {
      return call(name);
    }
    for (const auto &[known, value] : sizes) {
      if (known == name) {
        return value;
      }
    }
    complain("unknown name " + quoted(name) + "; accepted: " + knownNames());
    return 0;
  }

  Int call(std::string_view name) {
    const auto function = std::ranges::find(functions, name, &Operation::text);
    if (function == functions.end()) {
      complain("unknown function " + quoted(name) + "; accepted: min max ceildiv");
      return 0;
    }
    const Int left = nested(&Evaluator::disjunction);
    expect(',');
    const Int right = nested(&Evaluator::disjunction);
    expect(')');
    return apply(*function, left, right);
  }

  // ---- Pieces ----

  Int chain(std::span<const Operation> operations, Int (Evaluator::*operand)()) {
    Int value = (this->*operand)();
    while (const Operation *operation = take(operations)) {
      value = apply(*operation, value, (this->*operand)());
    }
    return value;
  }

  /// The right side of `and` and `or` is read but must not fail where the left side decides.
  Int skippedIf(bool decided, Int (Evaluator::*operand)()) {
    skipped += decided ? 1 : 0;
    const Int value = (this->*operand)();
    skipped -= decided ? 1 : 0;
    return value;
  }

  /// Bounds the recursion: foreign text must not exhaust the stack.
  Int nested(Int (Evaluator::*rule)()) {
    constexpr int deepest = 64;
    if (depth == deepest) {
      complain("nested too deeply");
    }
    if (error) {
      return 0;
    }
    ++depth;
    const Int value = (this->*rule)();
    --depth;
    return value;
  }

  Int apply(const Operation &operation, Int left, Int right) {
    if (error || skipped > 0) {
      return 0;
    }
    if (operation.divides && right == 0) {
      complain("division by zero");
      return 0;
    }
    const auto value = operation.apply(left, right);
    if (!value) {
      complain("overflow");
    }
    return value.value_or(0);
  }

  const Operation *take(std::span<const Operation> operations) {
    skipSpace();
    for (const Operation &operation : operations) {
      if (!error && text.substr(at).starts_with(operation.text)) {
        at += operation.text.size();
        return &operation;
      }
    }
    return nullptr;
  }

  std::string_view word() {
    const std::size_t begin = at;
    while (at < text.size() && (isLetter(text[at]) || isDigit(text[at]))) {
      ++at;
    }
    return text.substr(begin, at - begin);
  }

  bool takeWord(std::string_view wanted) {
    skipSpace();
    const std::size_t begin = at;
    if (!error && word() == wanted) {
      return true;
    }
    at = begin;
    return false;
  }

  bool takeCharacter(char wanted) {
    skipSpace();
    if (error || at >= text.size() || text[at] != wanted) {
      return false;
    }
    ++at;
    return true;
  }

  void expect(char wanted) {
    if (!takeCharacter(wanted)) {
      complain(fmt::format("'{}' is missing", wanted));
    }
  }

  void skipSpace() {
    while (at < text.size() && (text[at] == ' ' || text[at] == '\t')) {
      ++at;
    }
  }

  bool atEnd() {
    skipSpace();
    return at == text.size();
  }

  std::string knownNames() const {
    std::vector<std::string_view> names;
    for (const auto &[known, value] : sizes) {
      names.emplace_back(known);
    }
    return joined(names, " ");
  }

  void complain(const std::string &message) {
    if (!error) {
      error = fmt::format("expression {}, column {}: {}", quoted(text), at + 1, message);
    }
  }

  std::string_view text;
  const SizeValues &sizes;
  std::size_t at = 0;
  int depth = 0;
  int skipped = 0;
  std::optional<std::string> error;
};

} // namespace

Expected<std::int64_t> evaluate(std::string_view expression, const SizeValues &sizes) {
  return Evaluator(expression, sizes).run();
}

} // namespace kw
