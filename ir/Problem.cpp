// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/Problem.h"

#include "ir/ops/Operator.h"
#include "ir/support/TextList.h"

#include <algorithm>
#include <array>
#include <cassert>

namespace kw {
namespace {

/// In the order of `Family`.
const std::array<const Operator *, 5> &operators() {
  static const std::array<const Operator *, 5> all{&gemmOperator(), &rmsNormOperator(),
                                                   &attentionOperator(), &groupedGemmOperator(),
                                                   &topKOperator()};
  return all;
}

const Operator &operatorOf(Family family) {
  const Operator &row = *operators().at(static_cast<std::size_t>(family));
  assert(row.family == family && "rows in the order of Family");
  return row;
}

std::string familyNames() {
  std::vector<std::string_view> names;
  for (const Operator *row : operators()) {
    names.push_back(row->name);
  }
  return joined(names, " ");
}

Expected<const Operator *> findOperator(std::string_view word) {
  for (const Operator *row : operators()) {
    if (row->name == word) {
      return row;
    }
  }
  return badInput("unknown family " + quoted(word) + "; accepted: " + familyNames());
}

void checkTensorSizes(const Problem &problem, KeyValues &values) {
  for (const Tensor &tensor : tensors(problem)) {
    double last = 0; // offset of the last element; a double does not overflow
    for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
      last += static_cast<double>(tensor.shape[i] - 1) * static_cast<double>(tensor.strides[i]);
    }
    if (last * bitWidth(tensor.type) / 8 >= static_cast<double>(largestTensorBytes)) {
      values.complain("the sizes give a tensor \"" + tensor.name +
                      "\" of more than 2^50 bytes; accepted: smaller sizes or strides");
    }
  }
}

std::string printWith(const Problem &problem, bool compiledOnly) {
  const Operator &row = operatorOf(problem.family());
  KeyPrinter printer(' ');
  row.print(problem, printer, compiledOnly);
  return std::string(row.name) + " " + printer.text();
}

/// Each element that a walk over the tensor touches, once: a stride of 0 repeats the same.
double uniqueBytes(const Tensor &tensor) {
  double elements = 1;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    elements *= tensor.strides[i] == 0 ? 1.0 : static_cast<double>(tensor.shape[i]);
  }
  return elements * bitWidth(tensor.type) / 8;
}

} // namespace

std::string_view name(Family family) { return operatorOf(family).name; }

Expected<Problem> parseProblem(std::string_view text) {
  const std::vector<std::string_view> items = words(text);
  if (items.empty()) {
    return badInput("empty problem; accepted: FAMILY key=value ... with a family of " +
                    familyNames());
  }
  const auto row = findOperator(items.front());
  if (!row) {
    return tl::unexpected(row.error());
  }
  KeyValues values((*row)->name, std::span(items).subspan(1), (*row)->keys);
  if (values.complaint()) {
    return tl::unexpected(*values.complaint());
  }
  const Problem problem = (*row)->read(values);
  if (!values.complaint()) {
    checkTensorSizes(problem, values);
  }
  if (values.complaint()) {
    return tl::unexpected(*values.complaint());
  }
  return problem;
}

std::string print(const Problem &problem) { return printWith(problem, false); }

std::string printCompiledPart(const Problem &problem) { return printWith(problem, true); }

double flops(const Problem &problem) { return operatorOf(problem.family()).flops(problem); }

double movedShare(const Problem &problem, const Tensor &tensor) {
  const auto share = operatorOf(problem.family()).usedShare;
  return share ? share(problem, tensor) : 1;
}

double compulsoryBytes(const Problem &problem) {
  double bytes = 0;
  for (const Tensor &tensor : tensors(problem)) {
    bytes += movedShare(problem, tensor) * uniqueBytes(tensor) * (tensor.accumulates ? 2 : 1);
  }
  return bytes;
}

std::vector<Tensor> tensors(const Problem &problem) {
  return operatorOf(problem.family()).tensors(problem);
}

std::int64_t spanBytes(const Tensor &tensor) {
  std::int64_t last = 0;
  for (std::size_t i = 0; i < tensor.shape.size(); ++i) {
    last += (tensor.shape[i] - 1) * tensor.strides[i];
  }
  return bytesOf(tensor.type, last + 1);
}

} // namespace kw
