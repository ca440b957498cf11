// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The main kernel of a decode attention: a tile of packed query rows times a split of the columns
// of k and v. AttentionWork.h says which, AttentionSteps.h walks along the columns, wave by wave on
// its own; here the waves' results are put together and stored. The second launch:
// AttentionCombine.cpp.

#include "codegen/kernels/AttentionSteps.h"
#include "codegen/kernels/AttentionWork.h"
#include "codegen/kernels/Kernels.h"
#include "codegen/kernels/KvAccess.h"
#include "ir/plans/AttentionLoop.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <numbers>

using namespace mlir;

namespace kw {
namespace {

constexpr int floatBytes = 4;
constexpr int neighbours = 4; ///< of dv that a lane has in consecutive registers
constexpr int statisticsBytes = 2 * floatBytes;

class AttentionKernel {
public:
  AttentionKernel(gpu::GPUModuleOp module, const KernelRequest &request, const LaunchPlan &launch,
                  const LaunchInterface &interface)
      : request(request), op(request.problem.attention()),
        schedule(std::get<AttentionSchedule>(request.schedule)), launch(launch),
        shell(module, interface, {0, /*pinOrder=*/true, schedule.pipeline.wavesPerSimd}),
        tiles(shell.tiles), math(shell.tiles), size(schedule.tiling.mfmaM) {
    index = tiles.laneIndex(launch.waves * request.target.waveSize);
    lane = tiles.rem(index, request.target.waveSize);
    wave = tiles.waveIndex(launch.waves);
  }

  void emit() {
    AttentionWork work(shell, request, launch);
    makeLds();
    KvAccess k = access(TileOperand::k, work), v = access(TileOperand::v, work);
    AttentionSteps steps(shell, shape(k.layout(), v.layout()), work, k, v, lane, wave);
    std::vector<QueryRow> rows;
    for (int query = 0; query < schedule.tiling.rows / size; ++query) {
      rows.push_back(work.row(tiles.add(tiles.rem(lane, size), query * size)));
    }
    steps.loadQueries(rows, k.layout().slices);
    steps.prologue(graph(RegionKind::prologue));
    steps.run(graph(RegionKind::mainLoop), graph(RegionKind::diagonal));
    if (launch.waves > 1) {
      storeTogether(work, steps, v.layout().fragments);
    } else {
      storeOwn(work, steps, rows, v.layout().fragments);
    }
    LLVM::ReturnOp::create(tiles.builder, tiles.loc, ValueRange{});
  }

private:
  LoopGraph graph(RegionKind kind) const {
    const auto region = std::find_if(launch.regions.begin(), launch.regions.end(),
                                     [&](const Region &each) { return each.kind == kind; });
    return loopGraph(request.problem, request.schedule, request.target, launch, *region);
  }

  AttentionShape shape(const KvTile &k, const KvTile &v) const {
    const auto &tiling = schedule.tiling;
    AttentionShape shape;
    shape.mfma = {tiling.mfmaM, tiling.mfmaN, tiling.mfmaK};
    shape.queryFragments = tiling.rows / tiling.mfmaN;
    shape.keyFragments = k.fragments;
    shape.valueFragments = v.fragments;
    shape.stepColumns = schedule.stepColumns();
    shape.unrolled = unrolledSteps(schedule);
    shape.scale = op.scale * std::numbers::log2e;
    shape.type = op.type;
    return shape;
  }

  /// Stages of their own, so that LLVM adds no waits for loads to another; results of the waves
  /// share the first of v where they fit (AttentionLds).
  void makeLds() {
    const AttentionLds lds = attentionLds(op, schedule);
    for (int stage = 0; stage < lds.kStages; ++stage) {
      keyStages.push_back(shell.makeLds(fmt::format("k{}", stage), lds.k));
    }
    for (int stage = 0; stage < lds.vStages; ++stage) {
      valueStages.push_back(shell.makeLds(fmt::format("v{}", stage), lds.v));
    }
    results = lds.results > 0 ? shell.makeLds("results", lds.results) : valueStages.front();
  }

  KvAccess access(TileOperand which, AttentionWork &work) {
    const bool isK = which == TileOperand::k;
    const KvTile tile = kvTile(op, schedule, which);
    const std::string_view name = isK ? "k" : "v";
    KvSource source;
    source.base = work.keyBase(name, tile.elementBytes);
    source.pitchBytes = tiles.mul(shell.argument(isK ? "k_s" : "v_s"), tile.elementBytes);
    source.element = tiles.elementType(op.kvType);
    return KvAccess(shell, tile, source, lane, wave, isK ? keyStages : valueStages);
  }

  /// Four neighbours of dv at register 4 * `run` of fragment `fragment`: their first element.
  Value elementOf(int fragment, int run) {
    const int groups = request.target.waveSize / size;
    Value within = tiles.mul(tiles.div(lane, size), neighbours);
    return tiles.add(within, fragment * size + run * neighbours * groups);
  }
  int runs() const { return size * size / request.target.waveSize / neighbours; }

  // ---- One wave ---------------------------------------------------------------------------------

  void storeOwn(AttentionWork &work, AttentionSteps &steps, const std::vector<QueryRow> &rows,
                int valueFragments) {
    for (std::size_t query = 0; query < rows.size(); ++query) {
      const RowStatistics statistics = steps.statistics(static_cast<int>(query));
      for (int fragment = 0; fragment < valueFragments; ++fragment) {
        for (int run = 0; run < runs(); ++run) {
          Value all = steps.result(static_cast<int>(query), fragment);
          work.storeResult(rows[query], elementOf(fragment, run),
                           math.part(all, run * neighbours, neighbours), statistics);
        }
      }
      work.storeStatistics(rows[query], statistics, tiles.lessThan(lane, tiles.constant(size)));
    }
  }

  // ---- Several waves: the plan's reduction
  // --------------------------------------------------------

  /// After this wave's LDS accesses and loads to LDS: everybody's.
  void meet() {
    tiles.wait(0, 0);
    tiles.barrier();
  }

  Value readStatistics(Value lanes, std::int64_t at) {
    return tiles.readLds(tiles.vectorType(2, tiles.builder.getF32Type()), results, {lanes},
                         {static_cast<std::int32_t>(at)});
  }

  /// Maximum and sum of all waves for the row at `rowBytes` of the statistics.
  RowStatistics together(const WaveResults &layout, Value rowBytes) {
    std::vector<RowStatistics> each;
    Value largest;
    for (int other = 0; other < launch.waves; ++other) {
      Value both = readStatistics(
          rowBytes, layout.statisticsAt() + std::int64_t(other) * layout.rows * statisticsBytes);
      each.push_back({math.element(both, 0), math.element(both, 1)});
      largest = largest ? math.maximum(largest, each.back().maximum) : each.back().maximum;
    }
    Value sum;
    for (const RowStatistics &one : each) {
      Value weighted = math.mul(one.sum, math.exp2(math.sub(one.maximum, largest)));
      sum = sum ? math.add(sum, weighted) : weighted;
    }
    return {largest, sum};
  }

  /// Leaves this wave's results, weighted by its maximum, in LDS.
  void leaveResults(const WaveResults &layout, AttentionSteps &steps, int valueFragments) {
    const int queryFragments = schedule.tiling.rows / size;
    Value ownStatistics = tiles.mul(wave, layout.rows * statisticsBytes);
    std::vector<RowStatistics> own;
    std::vector<Value> rowBytes;
    for (int query = 0; query < queryFragments; ++query) {
      own.push_back(steps.statistics(query));
      Value row = tiles.add(tiles.rem(lane, size), query * size);
      rowBytes.push_back(tiles.mul(row, statisticsBytes));
    }
    meet(); // nobody reads v any more
    for (int query = 0; query < queryFragments; ++query) {
      tiles.storeLds(math.vector({own[query].maximum, own[query].sum}), results,
                     tiles.add(rowBytes[query], ownStatistics),
                     static_cast<std::int32_t>(layout.statisticsAt()));
    }
    meet();
    for (int query = 0; query < queryFragments; ++query) {
      const RowStatistics all = together(layout, rowBytes[query]);
      tiles.storeLds(math.vector({all.maximum, all.sum}), results,
                     tiles.add(rowBytes[query], ownStatistics),
                     static_cast<std::int32_t>(layout.totalsAt()));
      Value weight = math.splat(math.exp2(math.sub(own[query].maximum, all.maximum)), neighbours);
      Value row = tiles.add(tiles.rem(lane, size), query * size);
      Value at = tiles.add(tiles.mul(row, layout.rowBytes()), tiles.mul(wave, layout.waveBytes()));
      at = tiles.add(at, tiles.mul(elementOf(0, 0), floatBytes));
      for (int fragment = 0; fragment < valueFragments; ++fragment) {
        for (int run = 0; run < runs(); ++run) {
          Value part = math.part(steps.result(query, fragment), run * neighbours, neighbours);
          const int element = fragment * size + run * neighbours * (request.target.waveSize / size);
          tiles.storeLds(math.mul(part, weight), results, at, element * floatBytes);
        }
      }
    }
    meet();
  }

  /// Then every lane adds the waves' results for four neighbours of a row at a time, in the order
  /// of the waves.
  void storeTogether(AttentionWork &work, AttentionSteps &steps, int valueFragments) {
    const WaveResults layout = waveResults(op, schedule);
    leaveResults(layout, steps, valueFragments);
    const int workItems = launch.waves * request.target.waveSize;
    const int perRow = layout.dv / neighbours;
    const int total = layout.rows * perRow;
    Type type = tiles.vectorType(neighbours, tiles.builder.getF32Type());
    for (int first = 0; first < total; first += workItems) {
      Value vector = tiles.add(index, first);
      Value useful = tiles.lessThan(vector, tiles.constant(total));
      vector = tiles.umin(vector, tiles.constant(total - 1)); // lanes behind repeat the last
      Value within = tiles.div(vector, perRow);
      Value element = tiles.mul(tiles.rem(vector, perRow), neighbours);
      Value at = tiles.add(tiles.mul(within, layout.rowBytes()), tiles.mul(element, floatBytes));
      Value sum;
      for (int other = 0; other < launch.waves; ++other) {
        Value part = tiles.readLds(type, results, {at},
                                   {static_cast<std::int32_t>(other * layout.waveBytes())});
        sum = sum ? math.add(sum, part) : part;
      }
      Value own = tiles.add(tiles.mul(wave, layout.rows * statisticsBytes),
                            tiles.mul(within, statisticsBytes));
      Value both = readStatistics(own, layout.totalsAt());
      const RowStatistics statistics{math.element(both, 0), math.element(both, 1)};
      QueryRow row = work.row(within);
      row.exists = LLVM::AndOp::create(tiles.builder, tiles.loc, row.exists, useful);
      work.storeResult(row, element, sum, statistics);
      work.storeStatistics(row, statistics, tiles.lessThan(element, tiles.constant(1)));
    }
  }

  const KernelRequest &request;
  const Attention &op;
  const AttentionSchedule &schedule;
  const LaunchPlan &launch;
  KernelShell shell;
  TileBuilder &tiles;
  FloatMath math;
  int size; ///< of the matrix instruction
  Value index, lane, wave;
  std::vector<Value> keyStages, valueStages;
  Value results; ///< LDS
};

} // namespace

void emitAttention(gpu::GPUModuleOp module, const KernelRequest &request) {
  const KernelPlan plan = makePlan(request.problem, request.schedule, request.target);
  const KernelInterface interface =
      kernelInterface(request.problem, request.schedule, request.target);
  AttentionKernel(module, request, plan.launches[0], interface.launches[0]).emit();
  if (plan.launches.size() > 1) {
    emitAttentionCombine(module, request, plan.launches[1], interface.launches[1]);
  }
}

} // namespace kw
