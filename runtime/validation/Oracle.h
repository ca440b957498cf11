// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// What one family contributes to the proof: inputs, the elements that a workgroup must write, what
// they must be and how exactly. One file per family beside this one, listed in Oracle.cpp.
#pragma once

#include "ir/KernelPlan.h"
#include "ir/Problem.h"
#include "ir/support/Expected.h"

#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace kw {

/// `exact`: small integers, chosen so that every sum is exact in f32, in any order.
struct InputSet {
  std::string_view name;
  std::uint64_t seed = 0;
  bool exact = false;
};

/// A rectangle of an output that a workgroup must write. `row` and `col` count the last two
/// dimensions of the tensor, `batch` the one or two before.
struct OutputBlock {
  std::string_view tensor;
  std::uint64_t workgroup = 0;
  std::int64_t batch = 0, row = 0, col = 0, rows = 0, cols = 0;
};

/// What the elements of a block must be, row-major. A result is right if it is the rounding, to the
/// output's type, of a number within `error` of `value`.
struct Expectation {
  std::vector<double> value;
  std::vector<double> error; ///< empty: exact
  std::vector<double> scale; ///< of a relative error; empty: |value|
};

/// The tensors of a problem in host memory.
class TensorContents {
public:
  struct Entry {
    Tensor tensor;
    std::span<std::uint8_t> bytes;

    std::int64_t element(std::int64_t batch, std::int64_t row, std::int64_t col) const;
  };
  void add(Tensor tensor, std::span<std::uint8_t> bytes);
  const Entry &operator[](std::string_view name) const; ///< asserts that it exists
  /// Null if the problem has no such tensor.
  std::uint8_t *data(std::string_view name) const;

private:
  std::map<std::string, Entry, std::less<>> entries;
};

class Oracle {
public:
  virtual ~Oracle() = default;

  /// The random set first, then exact ones, which neighbouring sizes are tried with too.
  virtual std::vector<InputSet> inputSets(std::uint64_t seed) const = 0;

  /// What a workgroup of the main launch must write, from the plan's mapping.
  virtual std::vector<OutputBlock> blocksOf(std::uint64_t workgroup) const = 0;

  /// Workgroups of every launch that must run so that all results that `workgroups` of the main
  /// launch take part in come out whole: the other splits of their tiles, and who adds them up. A
  /// list a launch, ascending and without repetition; what is missing runs whole. `blocksOf` of the
  /// first list gives each block once.
  virtual std::vector<std::vector<std::uint64_t>>
  needed(const std::vector<std::uint64_t> &workgroups) const {
    return {workgroups};
  }

  /// What these workgroups, as `needed` lists them, must write together.
  virtual std::vector<OutputBlock> blocksOfAll(const std::vector<std::uint64_t> &workgroups) const;

  /// False: workgroups that run leave something for others that don't, so workspaces don't come
  /// back as they were.
  virtual bool finishesAll(const std::vector<std::uint64_t> & /*workgroups*/) const { return true; }

  /// Writes the inputs that these blocks depend on; the rest stays as it is.
  virtual void fill(const InputSet &set, std::span<const OutputBlock> blocks,
                    const TensorContents &contents) const = 0;

  /// After a run: results that other results depend on may be read from `contents`.
  virtual Expectation expect(const InputSet &set, const OutputBlock &block,
                             const TensorContents &contents) const = 0;

  /// Bound on |result - reference| / scale for the random set.
  virtual double tolerance() const = 0;

  /// Arithmetic of one workgroup, in operations that cost an emulator as much as one of a matrix
  /// instruction.
  virtual double workPerWorkgroup() const = 0;

  /// Problems with the same compiled part and other run-time sizes, near the edges of what a kernel
  /// may assume. In each list the first that the kernel's guards admit is tried.
  virtual std::vector<std::vector<Problem>> neighbours() const = 0;
};

/// Fails if the reference does not cover the problem.
Expected<std::unique_ptr<Oracle>> makeOracle(const Problem &problem, const KernelPlan &plan);

Expected<std::unique_ptr<Oracle>> makeGemmOracle(const Gemm &gemm, const LaunchPlan &launch);
Expected<std::unique_ptr<Oracle>> makeRmsNormOracle(const RmsNorm &norm, const LaunchPlan &launch);
Expected<std::unique_ptr<Oracle>> makeAttentionOracle(const Attention &attention,
                                                      const KernelPlan &plan);

} // namespace kw
