// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// A device that computes the attention of a manifest on the CPU in f32, workgroup by workgroup,
// with a running maximum and weights rounded for the second product, and with flaws on demand.
// Splits leave partial results in the manifest's workspaces; the second launch puts them together.
#pragma once

#include "ir/KernelPlan.h"
#include "runtime/Device.h"
#include "runtime/Numbers.h"
#include "runtime/reference/Attention.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <map>
#include <string>
#include <vector>

namespace kw {

class MockAttentionDevice : public Device {
public:
  std::int64_t step = 32;         ///< columns between two looks at the maximum
  bool reversed = false;          ///< columns of a split from the last to the first
  std::int64_t hiddenShift = 0;   ///< added to the number of visible columns
  bool topLeft = false;           ///< causal mask aligned at the other corner
  std::int64_t droppedSplit = -1; ///< its columns are left out
  bool swappedHeads = false;      ///< q of another head of the group
  bool headsModulo = false;       ///< head of k and v by remainder
  bool noRescale = false;         ///< what is accumulated keeps the old maximum
  bool noScale = false;
  bool combineForgetsMaximum = false;
  bool lseOfTwo = false; ///< logarithm to base 2
  bool nanInEmptyRows = false;
  std::int64_t unwrittenRow = -1;
  std::int64_t swappedColumns = -1; ///< v of this column and the next change places
  std::vector<RunOptions> runs;

  std::string_view name() const override { return "mock"; }

  Expected<RunResult> run(const CodeObject &object, std::span<const BufferView> buffers,
                          const RunOptions &options) override {
    runs.push_back(options);
    problem = *parseProblem(object.manifest.problem);
    op = problem.attention();
    plan = makePlan(problem, *parseSchedule(object.manifest.schedule), **findTarget("gfx950"));
    data.clear();
    for (const BufferView &view : buffers) {
      data[std::string(view.name)] = view.bytes.data();
    }
    splits = plan.launches[0].mapping.tilesN / (op.b * op.hkv);
    for (const std::uint64_t id : idsOf(options, 0)) {
      runMain(static_cast<std::int64_t>(id));
    }
    if (plan.launches.size() > 1) {
      for (const std::uint64_t id : idsOf(options, 1)) {
        runCombine(static_cast<std::int64_t>(id));
      }
    }
    return RunResult();
  }

private:
  struct State {
    float maximum = -std::numeric_limits<float>::infinity(), sum = 0;
    std::vector<float> values;
  };

  std::vector<std::uint64_t> idsOf(const RunOptions &options, std::size_t launch) const {
    std::vector<std::uint64_t> ids = options.workgroups[launch];
    for (std::int64_t id = 0;
         options.workgroups[launch].empty() && id < plan.launches[launch].workgroups; ++id) {
      ids.push_back(static_cast<std::uint64_t>(id));
    }
    return ids;
  }

  float load(const char *tensor, ElementType type, std::int64_t at) const {
    return static_cast<float>(decodeNumber(type, loadBits(type, data.at(tensor), at)));
  }
  std::int64_t place(std::int64_t heads, std::int64_t sequence, std::int64_t width,
                     std::int64_t batch, std::int64_t head, std::int64_t row) const {
    const AttentionStrides strides = attentionStrides(op.layout, heads, sequence, width);
    return batch * strides.batch + head * strides.head + row * strides.sequence;
  }

  std::int64_t visible(std::int64_t row) const {
    if (op.mask == MaskKind::none) {
      return op.skv + std::min<std::int64_t>(hiddenShift, 0);
    }
    const std::int64_t seen = topLeft ? std::min(row + 1, op.skv) : visibleColumns(op, row);
    return std::clamp<std::int64_t>(seen + hiddenShift, 0, op.skv);
  }

  /// Columns [first, last) into the state.
  void addStep(State &state, std::int64_t batch, std::int64_t head, std::int64_t row,
               std::int64_t first, std::int64_t last) const {
    const std::int64_t group = op.group();
    const std::int64_t keyHead = headsModulo ? head % op.hkv : head / group;
    const std::int64_t queryHead = swappedHeads && group > 1 ? head ^ 1 : head;
    const std::int64_t q = place(op.hq, op.sq, op.d, batch, queryHead, row);
    const float factor = static_cast<float>((noScale ? 1 : op.scale) / std::log(2.0));
    std::vector<float> scores;
    float maximum = state.maximum;
    for (std::int64_t j = first; j < last; ++j) {
      const std::int64_t k = place(op.hkv, op.skv, op.d, batch, keyHead, j);
      float sum = 0;
      for (std::int64_t i = 0; i < op.d; ++i) {
        sum += load("q", op.type, q + i) * load("k", op.kvType, k + i);
      }
      scores.push_back(sum * factor);
      maximum = std::max(maximum, scores.back());
    }
    if (maximum == -std::numeric_limits<float>::infinity()) {
      return;
    }
    const float rescale = noRescale ? 1 : std::exp2(state.maximum - maximum);
    state.maximum = maximum;
    state.sum *= rescale;
    for (float &value : state.values) {
      value *= rescale;
    }
    for (std::int64_t j = first; j < last; ++j) {
      const float weight = std::exp2(scores[static_cast<std::size_t>(j - first)] - maximum);
      state.sum += weight;
      const float rounded = static_cast<float>(roundTo(op.kvType, weight));
      const bool swapped = swappedColumns >= 0 && swappedColumns + 1 < op.skv;
      const std::int64_t from = swapped && j == swappedColumns       ? j + 1
                                : swapped && j == swappedColumns + 1 ? j - 1
                                                                     : j;
      const std::int64_t v = place(op.hkv, op.skv, op.dv, batch, keyHead, from);
      for (std::int64_t i = 0; i < op.dv; ++i) {
        state.values[static_cast<std::size_t>(i)] += rounded * load("v", op.kvType, v + i);
      }
    }
  }

  void runMain(std::int64_t id) {
    const LaunchPlan &launch = plan.launches[0];
    const TileCoordinate tile = tileOf(launch.mapping, id);
    const std::int64_t keyHead = tile.n / splits, split = tile.n % splits;
    const std::int64_t steps = (op.skv + step - 1) / step;
    const std::int64_t first = steps * split / splits, last = steps * (split + 1) / splits;
    for (std::int64_t packed = tile.m * launch.tileM;
         packed < std::min((tile.m + 1) * launch.tileM, op.packedRows()); ++packed) {
      const std::int64_t batch = keyHead / op.hkv, row = packed / op.group();
      const std::int64_t head = keyHead % op.hkv * op.group() + packed % op.group();
      State state;
      state.values.assign(static_cast<std::size_t>(op.dv), 0);
      for (std::int64_t i = first; i < last && split != droppedSplit; ++i) {
        const std::int64_t at = reversed ? first + last - 1 - i : i;
        const std::int64_t end = std::min((at + 1) * step, visible(row));
        if (at * step < end) {
          addStep(state, batch, head, row, at * step, end);
        }
      }
      if (splits == 1) {
        store(state, batch, head, row);
      } else {
        keep(state, split, keyHead * op.packedRows() + packed);
      }
    }
  }

  void keep(const State &state, std::int64_t split, std::int64_t row) {
    const std::int64_t at = split * op.b * op.hq * op.sq + row;
    std::memcpy(data["partial"] + at * op.dv * 4, state.values.data(), state.values.size() * 4);
    std::memcpy(data["statistics"] + at * 8, &state.maximum, 4);
    std::memcpy(data["statistics"] + at * 8 + 4, &state.sum, 4);
  }

  void runCombine(std::int64_t id) {
    const std::int64_t rows = plan.launches[1].tileM;
    for (std::int64_t row = id * rows; row < std::min((id + 1) * rows, op.b * op.hq * op.sq);
         ++row) {
      const std::int64_t keyHead = row / op.packedRows(), packed = row % op.packedRows();
      std::vector<State> parts(static_cast<std::size_t>(splits));
      State all;
      all.values.assign(static_cast<std::size_t>(op.dv), 0);
      for (std::int64_t split = 0; split < splits; ++split) {
        State &part = parts[static_cast<std::size_t>(split)];
        const std::int64_t at = split * op.b * op.hq * op.sq + row;
        part.values.resize(static_cast<std::size_t>(op.dv));
        std::memcpy(part.values.data(), data["partial"] + at * op.dv * 4, part.values.size() * 4);
        std::memcpy(&part.maximum, data["statistics"] + at * 8, 4);
        std::memcpy(&part.sum, data["statistics"] + at * 8 + 4, 4);
        all.maximum = std::max(all.maximum, part.maximum);
      }
      for (const State &part : parts) {
        if (part.sum == 0) {
          continue;
        }
        const float weight = combineForgetsMaximum ? 1 : std::exp2(part.maximum - all.maximum);
        all.sum += weight * part.sum;
        for (std::size_t i = 0; i < all.values.size(); ++i) {
          all.values[i] += weight * part.values[i];
        }
      }
      store(all, keyHead / op.hkv, keyHead % op.hkv * op.group() + packed % op.group(),
            packed / op.group());
    }
  }

  void store(const State &state, std::int64_t batch, std::int64_t head, std::int64_t row) {
    if (row == unwrittenRow) {
      return;
    }
    const std::int64_t o = place(op.hq, op.sq, op.dv, batch, head, row);
    const bool empty = state.sum == 0 && !nanInEmptyRows;
    const float reciprocal = empty ? 0 : 1 / state.sum;
    for (std::int64_t i = 0; i < op.dv; ++i) {
      storeBits(op.outType, data["o"], o + i,
                encodeNumber(op.outType, state.values[static_cast<std::size_t>(i)] * reciprocal));
    }
    if (op.lse) {
      const float ln2 = lseOfTwo ? 1 : std::log(2.0F);
      const float lse = empty ? -std::numeric_limits<float>::infinity()
                              : (state.maximum + std::log2(state.sum)) * ln2;
      std::memcpy(data["lse"] + ((batch * op.hq + head) * op.sq + row) * 4, &lse, 4);
    }
  }

  Problem problem;
  Attention op;
  KernelPlan plan;
  std::int64_t splits = 1;
  std::map<std::string, std::uint8_t *, std::less<>> data;
};

} // namespace kw
