// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The GEMM kernel: which tile a workgroup computes and where it lies in memory. OperandAccess.h
// moves the operands, GemmSteps.h walks along k in the plan's order, GemmEpilogue.h stores.

#include "codegen/kernels/GemmEpilogue.h"
#include "codegen/kernels/GemmReduction.h"
#include "codegen/kernels/GemmRows.h"
#include "codegen/kernels/GemmSteps.h"
#include "codegen/kernels/GemmStream.h"
#include "codegen/kernels/Kernels.h"
#include "codegen/kernels/OperandAccess.h"
#include "ir/plans/GemmResult.h"
#include "ir/plans/GemmSplit.h"
#include "ir/rules/Registers.h"

#include <algorithm>
#include <cassert>
#include <fmt/format.h>
#include <tuple>

using namespace mlir;

namespace kw {
namespace {

/// Buffers are at most this long, so that an offset with the top bit set is always out of range.
constexpr std::int64_t largestBuffer = std::int64_t{1} << 31;

class GemmKernel {
public:
  GemmKernel(gpu::GPUModuleOp module, const KernelRequest &request, const LaunchPlan &launch,
             const LaunchInterface &interface)
      : request(request), gemm(request.problem.gemm()),
        schedule(std::get<GemmSchedule>(request.schedule)), launch(launch), interface(interface),
        shell(module, interface,
              {launch.registers.agpr(), /*pinOrder=*/true, schedule.pipeline.wavesPerSimd,
               /*batched=*/true}),
        tiles(shell.tiles) {
    if (schedule.epilogue == EpiloguePath::lds) {
      rows = resultRows(gemm, schedule);
    }
    item.waves = launch.waves;
    item.parts = schedule.tiling.wavesK;
    item.index = tiles.laneIndex(launch.waves * request.target.waveSize);
    item.wave = tiles.waveIndex(launch.waves);
  }

  void emit() {
    findRows();
    if (launch.mapping.isStream()) {
      walkStream();
    } else if (launch.mapping.walkers > 0) {
      walk();
    } else {
      emitTile(tiles.workgroupIndex());
    }
    LLVM::ReturnOp::create(tiles.builder, tiles.loc, ValueRange{});
  }

private:
  /// A persistent workgroup: tile after tile, at least one (ir/WorkgroupMapping.h tileNumber).
  void walk() {
    auto [turn, id] = beginTurns(tiles.workgroupIndex());
    emitTile(id);
    Value all = tiles.mul(tilesM, launch.mapping.tilesN);
    Value next = tiles.add(id, launch.mapping.walkers);
    endTurns(turn, next, tiles.lessThan(next, all));
  }

  /// A new block that is run again and again, with the turn's number as argument.
  std::pair<Block *, Value> beginTurns(Value first) {
    Block *turn = tiles.blockBehind();
    LLVM::BrOp::create(tiles.builder, tiles.loc, first, turn);
    Value number = turn->addArgument(first.getType(), tiles.loc);
    tiles.builder.setInsertionPointToEnd(turn);
    item.index = tiles.again(item.index, "v");
    shell.rereadArguments();
    findRows();
    return {turn, number};
  }

  /// Behind the steps: of a turn's tile only its number is kept over them.
  void findTileAgain() {
    shell.rereadArguments();
    findRows();
    tileRow = tiles.again(tileRow, "s");
    tileColumn = tiles.again(tileColumn, "s");
    batch = batch ? tiles.again(batch, "s") : batch;
    findExtent();
  }

  void endTurns(Block *turn, Value next, Value more) {
    Block *after = tiles.blockBehind();
    LLVM::CondBrOp::create(tiles.builder, tiles.loc, more, turn, next, after, ValueRange{});
    tiles.builder.setInsertionPointToEnd(after);
  }

  /// A workgroup of a stream-K grid: pieces of tiles until its share is done. Results are those of
  /// its own steps (a whole tile), or the sums of all parts where it is the last to leave one.
  void walkStream() {
    OpBuilder &builder = tiles.builder;
    const StreamShare share = stream().share();
    auto [turn, step] = beginTurns(share.begin);
    const StreamPiece piece = stream().pieceAt(step, share.end);
    findPiece(piece);
    OperandAccess a = operand(TileOperand::a);
    OperandAccess b = operand(TileOperand::b);
    std::vector<Value> results = runSteps(a, b);
    Block *next = tiles.blockBehind(), *parts = tiles.blockBehind(), *finish = tiles.blockBehind();
    for (Value result : results) {
      finish->addArgument(result.getType(), tiles.loc);
    }
    Value isPart = tiles.lessThan(piece.steps, tiles.constant(launch.mapping.sharedSteps));
    LLVM::CondBrOp::create(builder, tiles.loc, isPart, parts, ValueRange{}, finish, results);
    builder.setInsertionPointToEnd(parts);
    const StreamPlace place = findPart(step, next);
    std::vector<Value> sums = reduceParts(shell, schedule, item, place, vgprsForParts(), results);
    LLVM::BrOp::create(builder, tiles.loc, sums, finish);
    builder.setInsertionPointToEnd(finish);
    const bool agpr = schedule.accumulator == AccumulatorFile::agpr;
    for (auto [result, argument] : llvm::zip(results, finish->getArguments())) {
      result = agpr ? tiles.pinAccumulator(argument, agpr) : argument;
    }
    findTileAgain();
    storeResult(a.layout(), b.layout(), results, /*slices=*/{});
    LLVM::BrOp::create(builder, tiles.loc, ValueRange{}, next);
    builder.setInsertionPointToEnd(next);
    leaveRows(); // all waves meet, whether they stored or not
    Value following = tiles.add(step, piece.steps);
    endTurns(turn, following, tiles.lessThan(following, share.end));
  }

  StreamWalk stream() {
    return {tiles, launch.mapping, tilesM, tiles.narrow(shell.argument("batch"))};
  }

  /// Computed anew: a workgroup has two parts at most.
  StreamPlace findPart(Value step, Block *next) {
    shell.rereadArguments();
    findRows();
    StreamWalk walk = stream();
    Value place = tiles.div(tiles.again(step, "s"), launch.mapping.sharedSteps);
    auto [first, last] = walk.ownersOf(place);
    return {first, walk.share().position, last, next};
  }

  /// What the rule of registers grants beside addresses and accumulators.
  int vgprsForParts() const {
    const RegisterUse &use = launch.registers;
    const int waves = residentWaves(schedule, request.target);
    return registerBudget(use, waves, request.target).vgpr - use.addresses -
           (use.accumulatorsInAgpr ? 0 : use.accumulators);
  }

  void emitTile(Value id) {
    findTile(id);
    OperandAccess a = operand(TileOperand::a);
    OperandAccess b = operand(TileOperand::b);
    std::vector<Value> results = runSteps(a, b);
    if (launch.mapping.walkers > 0) {
      findTileAgain();
    }
    Value slices;
    if (schedule.tiling.wavesK > 1) {
      slices = shell.makeLds("slices", sliceBytes(schedule));
      results = reduceSlices(shell, schedule, item, slices, results);
    }
    if (split) {
      Value row = tiles.add(tiles.mul(tiles.batchIndex(), tilesM), tileRow);
      Value number = tiles.add(tiles.mul(row, launch.mapping.tilesN), tileColumn);
      results = reduceSplits(shell, schedule, item, {number, split}, results);
    }
    storeResult(a.layout(), b.layout(), results, slices);
    leaveRows();
  }

  /// The next tile's loads overwrite what went through LDS on its way to the result.
  void leaveRows() {
    if (launch.mapping.walkers > 0 && rowsOverLoop()) {
      tiles.wait(-1, 0);
      tiles.barrier();
    }
  }

  /// The products of this tile, or of this part of it.
  std::vector<Value> runSteps(OperandAccess &a, OperandAccess &b) {
    GemmSteps steps(shell, shape(a.layout(), b.layout()), a, b);
    for (const Region &region : launch.regions) {
      if (region.role != 0) {
        forGroup(region.role, [&] { steps.prologue(graph(region)); });
      } else if (region.kind == RegionKind::prologue) {
        steps.prologue(graph(region));
      } else if (region.kind == RegionKind::mainLoop) {
        // A short first step is the same operations with masks: `run` peels it.
        steps.run(graph(region));
      }
    }
    if (launch.mapping.walkers > 0 || rowsOverLoop()) {
      // The next tile's loads, or rows of the result, overwrite LDS: every wave has read it, ahead
      // of steps behind the last one too, and loads for those, which bring zeros, have landed.
      // Stores may be on their way.
      tiles.wait(0, 0);
      tiles.barrier();
    }
    return steps.all();
  }

  bool rowsOverLoop() const { return rows && rows->place == RowsPlace::loop; }

  /// Only the waves of one group of a ping-pong schedule: the first half of them leads.
  void forGroup(int role, llvm::function_ref<void()> body) {
    OpBuilder &builder = tiles.builder;
    Value leads = tiles.lessThan(item.wave, tiles.constant(item.waves / 2));
    Block *inside = tiles.blockBehind(), *after = tiles.blockBehind();
    LLVM::CondBrOp::create(builder, tiles.loc, leads, role == 1 ? inside : after,
                           role == 1 ? after : inside);
    builder.setInsertionPointToEnd(inside);
    body();
    LLVM::BrOp::create(builder, tiles.loc, ValueRange{}, after);
    builder.setInsertionPointToEnd(after);
  }

  LoopGraph graph(const Region &region) const {
    return loopGraph(request.problem, request.schedule, request.target, launch, region);
  }

  void findTile(Value id) {
    const WorkgroupMapping &mapping = launch.mapping;
    std::tie(tileRow, tileColumn) =
        tiles.tileOf(id, tilesM, mapping.tilesN, mapping.xcds, mapping.groupM, mapping.splits);
    if (mapping.splits > 1) {
      split = tiles.splitOf(id, tilesM, mapping.tilesN, mapping.xcds, mapping.splits);
      firstStep = tiles.mul(split, splitSteps(gemm, schedule));
    }
    findExtent();
  }

  void findPiece(const StreamPiece &piece) {
    tileRow = piece.row;
    tileColumn = piece.column;
    batch = piece.batch;
    firstStep = piece.firstStep;
    pieceSteps = piece.steps;
    findExtent();
  }

  Value batchIndex() { return batch ? batch : tiles.batchIndex(); }

  void findRows() {
    m = tiles.narrow(shell.argument("m"));
    tilesM = tiles.div(tiles.add(m, schedule.tiling.m - 1), schedule.tiling.m);
  }

  void findExtent() {
    firstRow = tiles.mul(tileRow, schedule.tiling.m);
    firstColumn = tiles.mul(tileColumn, schedule.tiling.n);
    presentRows = tiles.umin(tiles.sub(m, firstRow), tiles.constant(schedule.tiling.m));
    if (gemm.n % schedule.tiling.n != 0) {
      presentColumns = tiles.umin(tiles.sub(tiles.constant(gemm.n), firstColumn),
                                  tiles.constant(schedule.tiling.n));
    }
  }

  Value allColumns() { return presentColumns ? presentColumns : tiles.constant(schedule.tiling.n); }

  /// (rows - 1) * pitch + extent elements, in bytes.
  Value spanBytes(Value rows, Value pitch, Value extent, int elementBytes) {
    Value before = tiles.mul(tiles.widen(tiles.add(rows, -1)), tiles.widen(pitch));
    Value elements = tiles.add(before, tiles.widen(extent));
    Value bytes = tiles.mul(elements, elementBytes);
    return tiles.narrow(tiles.umin(bytes, tiles.wideConstant(largestBuffer)));
  }

  /// Of element (row, column) of the batch's matrix.
  Value elementPointer(std::string_view buffer, Value row, Value pitch, Value column,
                       int elementBytes) {
    Value batchStride = shell.argument(fmt::format("s{}", buffer));
    return elementPointer(buffer, row, pitch, column, elementBytes, batchStride);
  }
  Value elementPointer(std::string_view buffer, Value row, Value pitch, Value column,
                       int elementBytes, Value batchStride) {
    Value elements = tiles.mul(tiles.widen(row), tiles.widen(pitch));
    elements = tiles.add(elements, tiles.widen(column));
    elements = tiles.add(elements, tiles.mul(tiles.widen(batchIndex()), batchStride));
    return tiles.advance(shell.argument(buffer), tiles.mul(elements, elementBytes));
  }

  /// Packed weights from the block of the tile's first column on.
  void findPacked(const PreshuffledLayout &packed, OperandSource &source) {
    Value block = tiles.div(firstColumn, PreshuffledLayout::columns);
    Value pitch = tiles.constant(packed.pitchBytes() / packed.elementBytes);
    source.base = elementPointer("b", block, pitch, tiles.constant(0), packed.elementBytes);
    Value blocks = tiles.sub(tiles.constant(packed.blocksN()), block);
    Value bytes = tiles.mul(tiles.widen(blocks), packed.pitchBytes());
    source.bytes = tiles.narrow(tiles.umin(bytes, tiles.wideConstant(largestBuffer)));
  }

  OperandAccess operand(TileOperand which) {
    const bool isA = which == TileOperand::a;
    const OperandTile tile = operandTile(gemm, schedule, which);
    const std::string_view name = isA ? "a" : "b";
    Value pitch = shell.argument(isA ? "lda" : "ldb");
    Value first = isA ? firstRow : firstColumn;
    Value present = isA ? presentRows : presentColumns; // null: all
    Value zero = tiles.constant(0);
    Value k = tiles.constant(gemm.k);
    OperandSource source;
    source.pitchBytes = tiles.mul(pitch, tile.elementBytes());
    source.present = present;
    if (tile.layout.path == OperandPath::registers) {
      findPacked(tile.packed, source);
    } else if (tile.layout.rowsAlongK) {
      source.base = elementPointer(name, zero, pitch, first, tile.elementBytes());
      source.bytes = spanBytes(k, pitch, isA ? presentRows : allColumns(), tile.elementBytes());
    } else {
      source.base = elementPointer(name, first, pitch, zero, tile.elementBytes());
      source.bytes = spanBytes(isA ? presentRows : allColumns(), pitch, k, tile.elementBytes());
    }
    std::vector<int> waveIndex;
    for (int wave = 0; wave < item.waves; ++wave) {
      waveIndex.push_back(isA ? waveRow(wave) : waveColumn(wave));
    }
    return OperandAccess(
        shell, tile, source, item, waveIndex, stageAddresses(which),
        tiles.fragmentType(isA ? gemm.aType : gemm.bType,
                           tile.fragmentRows * tile.fragmentK / request.target.waveSize));
  }

  /// LLVM lays LDS out by size, largest first, then by name; a's names come before b's.
  std::vector<std::int64_t> stageAddresses(TileOperand which) const {
    const OperandTile tileA = operandTile(gemm, schedule, TileOperand::a);
    const OperandTile tileB = operandTile(gemm, schedule, TileOperand::b);
    const int stages = schedule.pipeline.stages * tileA.halves;
    const std::int64_t a = tileA.halfBytes(), b = tileB.halfBytes();
    const bool isA = which == TileOperand::a;
    const bool isFirst = isA ? a >= b : b > a;
    std::vector<std::int64_t> addresses;
    for (int stage = 0; stage < stages; ++stage) {
      addresses.push_back(isA ? (isFirst ? 0 : stages * b) + stage * a
                              : (isFirst ? 0 : stages * a) + stage * b);
    }
    return addresses;
  }

  int waveRow(int wave) const { return wave / schedule.tiling.wavesN % schedule.tiling.wavesM; }
  int waveColumn(int wave) const { return wave % schedule.tiling.wavesN; }

  GemmShape shape(const OperandTile &a, const OperandTile &b) {
    const auto &tiling = schedule.tiling;
    GemmShape shape;
    shape.steps = splitSteps(gemm, schedule);
    shape.tileK = tiling.k;
    shape.firstSize = kRange(gemm, tiling.k, 0).size;
    shape.firstK = firstStep ? tiles.mul(firstStep, tiling.k) : Value();
    shape.leastSteps = splitRange(gemm, schedule, schedule.split.k - 1).count;
    if (pieceSteps) {
      endWithPiece(shape);
    } else if (shape.leastSteps < shape.steps) {
      Value rest = tiles.sub(tiles.constant(kSteps(gemm, tiling.k)), firstStep);
      shape.presentSteps = tiles.umin(rest, tiles.constant(shape.steps));
    }
    shape.stages = schedule.pipeline.stages;
    shape.rows = a.fragments;
    shape.columns = b.fragments;
    shape.mfma = {tiling.mfmaM, tiling.mfmaN, tiling.mfmaK};
    shape.swapped = swapsOperands(schedule.epilogue);
    shape.agpr = schedule.accumulator == AccumulatorFile::agpr;
    shape.accumulator = gemm.accType;
    shape.accumulatorElements = tiling.mfmaM * tiling.mfmaN / request.target.waveSize;
    return shape;
  }

  void endWithPiece(GemmShape &shape) {
    shape.leastSteps = 1;
    shape.presentSteps = pieceSteps;
    shape.endsThere = true;
    if (shape.firstSize < shape.tileK) {
      Value atBegin = tiles.lessThan(firstStep, tiles.constant(1));
      Value begin = tiles.add(shape.firstK, shape.firstSize - shape.tileK);
      shape.beginOfFirst = tiles.select(atBegin, tiles.constant(0), begin);
      shape.sizeOfFirst =
          tiles.select(atBegin, tiles.constant(shape.firstSize), tiles.constant(shape.tileK));
    }
  }

  /// The tile of a matrix of the result's shape.
  ResultMatrix resultMatrix(std::string_view name, ElementType type, Value pitch,
                            Value batchStride) {
    const int elementBytes = bitWidth(type) / 8;
    return {elementPointer(name, firstRow, pitch, firstColumn, elementBytes, batchStride),
            spanBytes(presentRows, pitch, allColumns(), elementBytes),
            tiles.mul(pitch, elementBytes), type};
  }
  ResultMatrix result() {
    return resultMatrix("c", gemm.outType, shell.argument("ldc"), shell.argument("sc"));
  }

  ResultMatrix resultInput(const ResultInput &input) {
    const std::string_view buffer = name(input.operand);
    if (input.operand == TileOperand::c) {
      return result();
    }
    if (!input.oneRow) {
      Value batchStride = tiles.mul(tiles.widen(m), input.pitch);
      return resultMatrix(buffer, input.type, tiles.constant(input.pitch), batchStride);
    }
    const int elementBytes = bitWidth(input.type) / 8;
    Value zero = tiles.constant(0);
    return {elementPointer(buffer, zero, zero, firstColumn, elementBytes, tiles.widen(zero)),
            tiles.mul(allColumns(), elementBytes), Value(), input.type};
  }

  void storeResult(const OperandTile &a, const OperandTile &b, const std::vector<Value> &results,
                   Value slices) {
    ResultTarget target;
    target.result = result();
    target.columns = presentColumns;
    for (const ResultInput &input : resultInputs(gemm)) {
      target.inputs.push_back(resultInput(input));
    }
    ResultFragments fragments;
    fragments.size = schedule.tiling.mfmaM;
    fragments.rows = a.fragments;
    fragments.columns = b.fragments;
    fragments.swapped = swapsOperands(schedule.epilogue);
    fragments.exchanged = schedule.epilogue == EpiloguePath::permlane;
    for (int wave = 0; wave < item.waves; ++wave) {
      fragments.firstRow.push_back(waveRow(wave) * a.waveRows);
      fragments.firstColumn.push_back(waveColumn(wave) * b.waveRows);
    }
    // Read from AGPRs behind the stores of the fragment before it: left to itself LLVM copies all
    // of them to VGPRs first, and spilled where there are as many accumulators as VGPRs.
    const bool inAgprs = schedule.accumulator == AccumulatorFile::agpr && !split && !slices;
    const auto accumulator = [&](int row, int column) {
      Value fragment = results[static_cast<std::size_t>(row * b.fragments + column)];
      return inAgprs ? tiles.again(fragment, "a") : fragment;
    };
    if (!rows) {
      emitResult(shell, gemm, target, fragments, item, accumulator);
      return;
    }
    Value lds = rows->place == RowsPlace::loop     ? shell.wholeLds()
                : rows->place == RowsPlace::slices ? slices
                                                   : shell.makeLds("rows", rows->ownBytes());
    emitRows(shell, gemm, target, fragments, *rows, lds, item, accumulator);
  }

  const KernelRequest &request;
  const Gemm &gemm;
  const GemmSchedule &schedule;
  const LaunchPlan &launch;
  const LaunchInterface &interface;
  KernelShell shell;
  TileBuilder &tiles;
  WorkItem item;
  std::optional<ResultRows> rows; ///< of a result that goes through LDS
  Value split, firstStep;         ///< of k; null: one workgroup does all steps
  Value pieceSteps;               ///< of a stream-K grid
  Value batch;                    ///< null: the workgroup's index along y
  Value tileRow, tileColumn;
  Value m, tilesM, firstRow, firstColumn;
  Value presentRows, presentColumns; ///< of the output tile; columns null: all exist
};

} // namespace

void emitGemm(gpu::GPUModuleOp module, const KernelRequest &request) {
  const KernelPlan plan = makePlan(request.problem, request.schedule, request.target);
  const KernelInterface interface =
      kernelInterface(request.problem, request.schedule, request.target);
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    GemmKernel(module, request, plan.launches[i], interface.launches[i]).emit();
  }
}

} // namespace kw
