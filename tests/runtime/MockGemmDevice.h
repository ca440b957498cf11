// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device that computes the GEMM of a manifest on the CPU, in f32 and in any order of summation,
// with flaws built in on demand. It looks at the plan for tiles, as a compiled kernel would.
#pragma once

#include "ir/KernelPlan.h"
#include "runtime/Device.h"
#include "runtime/Numbers.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <vector>

namespace kw {

enum class SumOrder { forward, reverse, pairwise, slices };

class MockGemmDevice : public Device {
public:
  /// One output tile between its computation and its store.
  struct Tile {
    const Gemm &gemm;
    std::uint64_t workgroup;
    std::int64_t row, col, rows, cols; ///< rows x cols of the full tile, results outside m x n too
    std::int64_t pitch;
    std::vector<float> &sums;        ///< row-major
    std::span<std::uint8_t> a, b, c; ///< buffers
    bool integerInputs;

    float &at(std::int64_t i, std::int64_t j) const {
      return sums[static_cast<std::size_t>(i * cols + j)];
    }
  };

  SumOrder order = SumOrder::forward;
  std::int64_t skipFrom = 0, skipTo = 0; ///< k steps that tile `skipTile` leaves out
  std::uint64_t skipTile = ~std::uint64_t{0};
  std::function<void(const Tile &)> beforeStore, afterStore;
  std::function<bool(const Tile &, std::int64_t i, std::int64_t j)> storeIt;
  std::function<std::uint64_t(ElementType, float)> convert = [](ElementType type, float value) {
    return encodeNumber(type, value);
  };
  std::vector<Finding> findings;
  /// What was asked of it.
  std::vector<RunOptions> runs;
  std::vector<std::string> problems;

  std::string_view name() const override { return "mock"; }

  Expected<RunResult> run(const CodeObject &object, std::span<const BufferView> buffers,
                          const RunOptions &options) override {
    runs.push_back(options);
    problems.push_back(object.manifest.problem);
    const Problem problem = *parseProblem(object.manifest.problem);
    const Schedule schedule = *parseSchedule(object.manifest.schedule);
    const Target &target = **findTarget(object.manifest.target);
    const KernelPlan plan = makePlan(problem, schedule, target);
    const LaunchPlan &launch = plan.launches.front();
    std::vector<std::uint64_t> ids = options.workgroups.front();
    for (std::int64_t id = 0; options.workgroups.front().empty() && id < launch.workgroups; ++id) {
      ids.push_back(static_cast<std::uint64_t>(id));
    }
    for (const std::uint64_t id : ids) {
      runWorkgroup(problem.gemm(), launch, id, buffers);
    }
    RunResult result;
    result.findings = findings;
    result.seconds = 1;
    result.matrixFlops = 2e9;
    return result;
  }

private:
  static float sum(SumOrder order, const std::vector<float> &terms, std::size_t from,
                   std::size_t to) {
    float total = 0;
    switch (order) {
    case SumOrder::forward:
      for (std::size_t i = from; i < to; ++i) {
        total += terms[i];
      }
      return total;
    case SumOrder::reverse:
      for (std::size_t i = to; i-- > from;) {
        total += terms[i];
      }
      return total;
    case SumOrder::pairwise:
      if (to - from <= 2) {
        return sum(SumOrder::forward, terms, from, to);
      }
      return sum(order, terms, from, (from + to) / 2) + sum(order, terms, (from + to) / 2, to);
    case SumOrder::slices: { // four interleaved accumulators
      float parts[4] = {};
      for (std::size_t i = from; i < to; ++i) {
        parts[i % 4] += terms[i];
      }
      return (parts[0] + parts[1]) + (parts[2] + parts[3]);
    }
    }
    return total;
  }

  /// Rows of A or columns of B, f32, k contiguous.
  static std::vector<float> gather(ElementType type, std::span<std::uint8_t> data,
                                   std::int64_t first, std::int64_t count, std::int64_t limit,
                                   std::int64_t stride, std::int64_t kStride, std::int64_t k) {
    std::vector<float> values(static_cast<std::size_t>(count * k), 0.0F);
    for (std::int64_t v = 0; v < std::min(count, limit - first); ++v) {
      for (std::int64_t i = 0; i < k; ++i) {
        const std::int64_t at = (first + v) * stride + i * kStride;
        values[static_cast<std::size_t>(v * k + i)] =
            static_cast<float>(decodeNumber(type, loadBits(type, data.data(), at)));
      }
    }
    return values;
  }

  void runWorkgroup(const Gemm &g, const LaunchPlan &launch, std::uint64_t id,
                    std::span<const BufferView> buffers) {
    const std::int64_t perBatch = launch.mapping.workgroups();
    const auto batch = static_cast<std::int64_t>(id) / perBatch;
    const TileCoordinate tile = tileOf(launch.mapping, static_cast<std::int64_t>(id) % perBatch);
    const std::int64_t row = tile.m * launch.tileM;
    const std::int64_t col = tile.n * launch.tileN;
    const auto fromBatch = [&](int buffer, std::int64_t stride, ElementType type) {
      return buffers[static_cast<std::size_t>(buffer)].bytes.subspan(
          static_cast<std::size_t>(batch * stride * bitWidth(type) / 8));
    };
    const std::span<std::uint8_t> inputA = fromBatch(0, g.sa, g.aType);
    const std::span<std::uint8_t> inputB = fromBatch(1, g.sb, g.bType);
    const std::vector<float> a = gather(g.aType, inputA, row, launch.tileM, g.m,
                                        g.aTransposed ? 1 : g.lda, g.aTransposed ? g.lda : 1, g.k);
    const std::vector<float> b = gather(g.bType, inputB, col, launch.tileN, g.n,
                                        g.bTransposed ? g.ldb : 1, g.bTransposed ? 1 : g.ldb, g.k);
    std::vector<float> sums(static_cast<std::size_t>(launch.tileM * launch.tileN));
    const bool integers =
        std::all_of(a.begin(), a.end(), [](float value) { return value == std::nearbyint(value); });
    const Tile work{g,
                    id,
                    row,
                    col,
                    launch.tileM,
                    launch.tileN,
                    g.ldc,
                    sums,
                    inputA,
                    inputB,
                    fromBatch(2, g.sc, g.outType),
                    integers};
    multiply(work, a, b);
    if (beforeStore) {
      beforeStore(work);
    }
    store(work);
    if (afterStore) {
      afterStore(work);
    }
  }

  void multiply(const Tile &tile, const std::vector<float> &a, const std::vector<float> &b) const {
    const std::int64_t k = tile.gemm.k;
    std::vector<float> terms(static_cast<std::size_t>(k));
    for (std::int64_t i = 0; i < tile.rows; ++i) {
      for (std::int64_t j = 0; j < tile.cols; ++j) {
        for (std::int64_t l = 0; l < k; ++l) {
          const bool skipped = tile.workgroup == skipTile && l >= skipFrom && l < skipTo;
          terms[static_cast<std::size_t>(l)] = skipped ? 0.0F
                                                       : a[static_cast<std::size_t>(i * k + l)] *
                                                             b[static_cast<std::size_t>(j * k + l)];
        }
        tile.at(i, j) = static_cast<float>(tile.gemm.alpha) * sum(order, terms, 0, terms.size());
      }
    }
  }

  void store(const Tile &tile) const {
    const Gemm &g = tile.gemm;
    for (std::int64_t i = 0; i < std::min(tile.rows, g.m - tile.row); ++i) {
      for (std::int64_t j = 0; j < std::min(tile.cols, g.n - tile.col); ++j) {
        if (!storeIt || storeIt(tile, i, j)) {
          storeBits(g.outType, tile.c.data(), (tile.row + i) * g.ldc + tile.col + j,
                    convert(g.outType, tile.at(i, j)));
        }
      }
    }
  }
};

} // namespace kw
