// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/validation/Oracle.h"

#include <cassert>

namespace kw {

std::int64_t TensorContents::Entry::element(std::int64_t batch, std::int64_t row,
                                            std::int64_t col) const {
  const std::vector<std::int64_t> &strides = tensor.strides;
  const std::size_t rank = strides.size();
  std::int64_t at = col * strides[rank - 1];
  if (rank > 1) {
    at += row * strides[rank - 2];
  }
  if (rank > 3) { // `batch` counts both outer dimensions
    at += batch / tensor.shape[rank - 3] * strides[rank - 4];
    batch %= tensor.shape[rank - 3];
  }
  if (rank > 2) {
    at += batch * strides[rank - 3];
  }
  return at;
}

void TensorContents::add(Tensor tensor, std::span<std::uint8_t> bytes) {
  std::string name = tensor.name;
  entries.insert_or_assign(std::move(name), Entry{std::move(tensor), bytes});
}

const TensorContents::Entry &TensorContents::operator[](std::string_view name) const {
  const auto found = entries.find(name);
  assert(found != entries.end() && "a tensor of the problem");
  return found->second;
}

std::uint8_t *TensorContents::data(std::string_view name) const {
  const auto found = entries.find(name);
  return found == entries.end() ? nullptr : found->second.bytes.data();
}

std::vector<OutputBlock> Oracle::blocksOfAll(const std::vector<std::uint64_t> &workgroups) const {
  std::vector<OutputBlock> blocks;
  for (const std::uint64_t workgroup : workgroups) {
    const std::vector<OutputBlock> own = blocksOf(workgroup);
    blocks.insert(blocks.end(), own.begin(), own.end());
  }
  return blocks;
}

Expected<std::unique_ptr<Oracle>> makeOracle(const Problem &problem, const KernelPlan &plan) {
  switch (problem.family()) {
  case Family::gemm:
    return makeGemmOracle(problem.gemm(), plan.launches.front());
  case Family::rmsnorm:
    return makeRmsNormOracle(problem.rmsnorm(), plan.launches.front());
  case Family::attention:
    return makeAttentionOracle(problem.attention(), plan);
  case Family::groupedGemm:
  case Family::topk:
    break;
  }
  return failed("validation does not cover this family yet");
}

} // namespace kw
