// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Bounds are derived in runtime/README.md.
#include "ir/PreshuffledLayout.h"
#include "ir/StreamShares.h"
#include "runtime/Numbers.h"
#include "runtime/RandomValues.h"
#include "runtime/reference/Gemm.h"
#include "runtime/reference/GemmEpilogue.h"
#include "runtime/validation/Oracle.h"

#include <algorithm>
#include <cmath>
#include <set>
#include <tuple>

namespace kw {
namespace {

constexpr double f32Roundoff = 0x1p-24;
/// Sums of integers below this are exact in f32, and in i32.
constexpr double exactSum = 0x1p24, exactIntegerSum = 0x1p31;
constexpr double largestByte = 128; ///< magnitude of an i8

/// Roundings besides those of the k - 1 additions: the first addition to a zero accumulator, a
/// product of f32 operands, alpha.
constexpr double otherRoundings = 3;

/// The result is the sum of integers itself.
bool sumsIntegers(const Gemm &gemm) {
  return gemm.accType == ElementType::i32 && gemm.outType == ElementType::i32;
}

double relativeError(const Gemm &gemm) {
  if (sumsIntegers(gemm)) {
    return 0;
  }
  return (static_cast<double>(gemm.k) + otherRoundings) * f32Roundoff;
}

bool isInteger(double value) { return value == std::nearbyint(value); }

bool hasEpilogue(const Gemm &gemm) { return gemm.beta != 0 || !gemm.epilogue.empty(); }

/// What the epilogue reads: integers in [-range, range] for exact results. With a sum below 2^22, a
/// beta below `largestBeta` and at most one product everything stays below 2^24.
constexpr std::int64_t addedRange = 4, factorRange = 2;
constexpr double largestBeta = 0x1p18;
constexpr double sumWithEpilogue = 0x1p22;

/// Largest r so that integers in [-r, r] are exact in both types, their sum of k products is exact
/// in f32, and results rarely overflow the output; 0: no such r.
std::int64_t integerRange(const Gemm &gemm) {
  const auto k = static_cast<double>(gemm.k);
  double range = std::min(1 / unitRoundoff(gemm.aType), 1 / unitRoundoff(gemm.bType));
  const double most = sumsIntegers(gemm)  ? exactIntegerSum
                      : hasEpilogue(gemm) ? sumWithEpilogue
                                          : exactSum;
  range = std::min(range, std::sqrt(most / (k * std::max(1.0, std::fabs(gemm.alpha)))));
  range = gemm.aType == ElementType::i8 ? std::min(range, largestByte - 1) : range;
  if (gemm.outType == ElementType::f16) { // deviation of the sum: sqrt(k) r^2 / 3; 6 of them
    range = std::min(range, std::sqrt(65504.0 / (2 * std::sqrt(k))));
  }
  const bool integers =
      isInteger(gemm.alpha) && isInteger(gemm.beta) && std::fabs(gemm.beta) <= largestBeta;
  return integers ? static_cast<std::int64_t>(range) : 0;
}

/// Any bytes have an exact sum.
bool anyBytesAreExact(const Gemm &gemm) {
  return sumsIntegers(gemm) && gemm.alpha == 1 &&
         static_cast<double>(gemm.k) * largestByte * largestByte < exactIntegerSum;
}

/// Vectors along k of an operand in memory: rows of A or columns of B.
struct Vectors {
  std::int64_t base, vectorStride, kStride, count;
  auto key() const { return std::tuple(base, count); }
  bool operator<(const Vectors &other) const { return key() < other.key(); }
};

class GemmOracle final : public Oracle {
public:
  GemmOracle(const Gemm &gemm, const LaunchPlan &launch)
      : gemm(gemm), mapping(launch.mapping), tileM(launch.tileM), tileN(launch.tileN) {}

  std::vector<InputSet> inputSets(std::uint64_t seed) const override {
    return {{"random", seed, sumsIntegers(gemm)}, {"integer", seed + 1, integerRange(gemm) > 0}};
  }

  std::vector<OutputBlock> blocksOf(std::uint64_t workgroup) const override {
    if (mapping.isStream()) {
      return blocksBegunBy(workgroup, nullptr);
    }
    const auto id = static_cast<std::int64_t>(workgroup);
    const std::int64_t inBatch = id % mapping.workgroups();
    std::vector<OutputBlock> blocks;
    for (std::int64_t turn = 0; turn < turnsOf(mapping, inBatch); ++turn) {
      const std::int64_t piece = tileNumber(mapping, inBatch, turn);
      if (splitOf(mapping, piece) != 0) {
        continue; // the first split stands for the tile
      }
      blocks.push_back(blockOf(workgroup, id / mapping.workgroups(), tileOf(mapping, piece)));
    }
    return blocks;
  }

  /// Of a stream-K grid: the tiles of which all parts are done.
  std::vector<OutputBlock>
  blocksOfAll(const std::vector<std::uint64_t> &workgroups) const override {
    if (!mapping.isStream()) {
      return Oracle::blocksOfAll(workgroups);
    }
    const std::set<std::int64_t> positions = positionsOf(workgroups);
    std::vector<OutputBlock> blocks;
    for (const std::uint64_t workgroup : workgroups) {
      const std::vector<OutputBlock> own = blocksBegunBy(workgroup, &positions);
      blocks.insert(blocks.end(), own.begin(), own.end());
    }
    return blocks;
  }

  /// Parts of tiles that workgroups beside a sample would have to add up stay.
  bool finishesAll(const std::vector<std::uint64_t> &workgroups) const override {
    return !mapping.isStream() ||
           workgroups.size() == static_cast<std::size_t>(mapping.workgroups());
  }

  /// All splits of their tiles.
  std::vector<std::vector<std::uint64_t>>
  needed(const std::vector<std::uint64_t> &workgroups) const override {
    const auto perBatch = static_cast<std::uint64_t>(mapping.workgroups());
    if (mapping.isStream()) {
      return {sharingWith(workgroups)};
    }
    if (mapping.splits == 1) {
      return {workgroups};
    }
    const auto tileOfWorkgroup = [&](std::uint64_t id) {
      const TileCoordinate tile = tileOf(mapping, static_cast<std::int64_t>(id % perBatch));
      return std::tuple(id / perBatch, tile.m, tile.n);
    };
    std::set<std::tuple<std::uint64_t, std::int64_t, std::int64_t>> wanted;
    std::set<std::uint64_t> batches;
    for (const std::uint64_t id : workgroups) {
      wanted.insert(tileOfWorkgroup(id));
      batches.insert(id / perBatch);
    }
    std::vector<std::uint64_t> all;
    for (const std::uint64_t batch : batches) {
      for (std::uint64_t id = batch * perBatch; id < (batch + 1) * perBatch; ++id) {
        if (wanted.contains(tileOfWorkgroup(id))) {
          all.push_back(id);
        }
      }
    }
    return {all};
  }

  void fill(const InputSet &set, std::span<const OutputBlock> blocks,
            const TensorContents &contents) const override {
    std::set<Vectors> rows;
    std::set<Vectors> columns;
    for (const OutputBlock &block : blocks) {
      rows.insert(rowsOfA(block));
      columns.insert(columnsOfB(block));
    }
    for (const Vectors &vectors : rows) {
      fillVectors(set, 0, vectors, contents["a"]);
    }
    if (gemm.preshuffle) {
      fillPacked(set, blocks, contents["b"]);
      columns.clear();
    }
    for (const Vectors &vectors : columns) {
      fillVectors(set, 1, vectors, contents["b"]);
    }
    for (const OutputBlock &block : blocks) {
      fillInputs(set, block, contents);
    }
  }

  Expectation expect(const InputSet &set, const OutputBlock &block,
                     const TensorContents &contents) const override {
    const GemmBlock wanted{block.batch, block.row, block.col, block.rows, block.cols};
    GemmReference reference =
        referenceGemm(gemm, contents.data("a"), contents.data("b"), wanted, !set.exact);
    Expectation expectation;
    expectation.value = std::move(reference.value);
    expectation.scale = std::move(reference.magnitude);
    expectation.error = expectation.scale;
    for (double &error : expectation.error) {
      error *= relativeError(gemm);
    }
    if (hasEpilogue(gemm)) {
      finish(set, block, contents, expectation);
    }
    return expectation;
  }

  double tolerance() const override {
    const double error = relativeError(gemm);
    return error + unitRoundoff(gemm.outType) * (1 + error);
  }

  double workPerWorkgroup() const override {
    const double ofTile = 2.0 * tileM * tileN * static_cast<double>(gemm.k);
    if (mapping.isStream()) {
      return ofTile * static_cast<double>(StreamShares(mapping).longest()) / mapping.sharedSteps;
    }
    return ofTile * static_cast<double>(turnsOf(mapping, 0));
  }

  std::vector<std::vector<Problem>> neighbours() const override {
    // Rows more and fewer, and a single one; with strides that leave gaps, where guards allow, and
    // with one more product in the batch. Where m is contiguous a kernel may want whole vectors.
    constexpr std::int64_t gap = 64; // elements: keeps every alignment that matters
    constexpr std::int64_t vector = 16;
    return {{withRows(gemm.m - 1, 0), withRows(gemm.m - vector, 0)},
            {withRows(gemm.m + 1, gap, 1), withRows(gemm.m + 1, 0, 1),
             withRows(gemm.m + vector, gap, 1), withRows(gemm.m + vector, 0, 1)},
            {withRows(1, gap), withRows(1, 0), withRows(vector, gap), withRows(vector, 0)}};
  }

private:
  OutputBlock blockOf(std::uint64_t workgroup, std::int64_t batch,
                      const TileCoordinate &tile) const {
    OutputBlock block;
    block.tensor = "c";
    block.workgroup = workgroup;
    block.batch = batch;
    block.row = tile.m * tileM;
    block.col = tile.n * tileN;
    block.rows = std::clamp<std::int64_t>(gemm.m - block.row, 0, tileM);
    block.cols = std::clamp<std::int64_t>(gemm.n - block.col, 0, tileN);
    return block;
  }

  /// Tiles whose first part is the workgroup's, of which `positions` (null: any) have all parts.
  std::vector<OutputBlock> blocksBegunBy(std::uint64_t workgroup,
                                         const std::set<std::int64_t> *positions) const {
    const StreamShares shares(mapping);
    std::vector<OutputBlock> blocks;
    for (const StreamShares::Part &part :
         shares.partsOf(shares.positionOf(static_cast<std::int64_t>(workgroup)))) {
      const StreamShares::Owners owners = shares.ownersOf(part.place);
      bool done = part.firstStep == 0;
      for (std::int64_t owner = owners.first; done && positions && owner <= owners.last; ++owner) {
        done = positions->contains(owner);
      }
      if (done) {
        blocks.push_back(blockOf(workgroup, shares.batchOf(part.place), shares.tileAt(part.place)));
      }
    }
    return blocks;
  }

  std::set<std::int64_t> positionsOf(const std::vector<std::uint64_t> &workgroups) const {
    const StreamShares shares(mapping);
    std::set<std::int64_t> positions;
    for (const std::uint64_t workgroup : workgroups) {
      positions.insert(shares.positionOf(static_cast<std::int64_t>(workgroup)));
    }
    return positions;
  }

  /// With all that have a part of one of their tiles.
  std::vector<std::uint64_t> sharingWith(const std::vector<std::uint64_t> &workgroups) const {
    const StreamShares shares(mapping);
    std::set<std::int64_t> positions;
    for (const std::int64_t position : positionsOf(workgroups)) {
      for (const StreamShares::Part &part : shares.partsOf(position)) {
        const StreamShares::Owners owners = shares.ownersOf(part.place);
        for (std::int64_t owner = owners.first; owner <= owners.last; ++owner) {
          positions.insert(owner);
        }
      }
    }
    std::vector<std::uint64_t> all;
    for (std::int64_t id = 0; id < mapping.workgroups(); ++id) {
      if (positions.contains(shares.positionOf(id))) {
        all.push_back(static_cast<std::uint64_t>(id));
      }
    }
    return all;
  }

  /// A tensor that the epilogue reads: old contents of c, or of step `step`.
  struct Input {
    std::string name;
    bool oneRow = false, factor = false;
    std::size_t step = 0;
  };

  /// The names as in ir/ops/Gemm.cpp.
  std::vector<Input> epilogueInputs() const {
    std::vector<Input> inputs;
    const char *auxiliary = "aux";
    for (std::size_t step = 0; step < gemm.epilogue.size(); ++step) {
      const EpilogueKind kind = gemm.epilogue[step].kind;
      if (kind == EpilogueKind::bias) {
        inputs.push_back({"bias", true, false, step});
      } else if (kind == EpilogueKind::mul || kind == EpilogueKind::add) {
        inputs.push_back({auxiliary, false, kind == EpilogueKind::mul, step});
        auxiliary = "aux2";
      }
    }
    return inputs;
  }

  RandomSource sourceOf(const InputSet &set, const Input &input) const {
    RandomSource source;
    source.seed = ~(set.seed * 8 + input.step);
    if (set.exact) {
      source.kind = RandomSource::Kind::integers;
      source.range = input.factor ? factorRange : addedRange;
    }
    return source;
  }

  /// c is overwritten by the kernel: its old contents are computed again from this.
  static constexpr std::size_t stepOfC = 7; // beyond the steps with a tensor
  Input oldC() const { return {"c", false, false, stepOfC}; }

  void fillInputs(const InputSet &set, const OutputBlock &block,
                  const TensorContents &contents) const {
    std::vector<Input> inputs = epilogueInputs();
    if (gemm.beta != 0) {
      inputs.push_back(oldC());
    }
    for (const Input &input : inputs) {
      const TensorContents::Entry &to = contents[input.name];
      for (std::int64_t row = 0; row < (input.oneRow ? 1 : block.rows); ++row) {
        fillRandom(sourceOf(set, input), to.tensor.type, to.bytes.data(),
                   elementOf(to, input, block, row), block.cols);
      }
    }
  }

  /// First element of a row of the block.
  static std::int64_t elementOf(const TensorContents::Entry &entry, const Input &input,
                                const OutputBlock &block, std::int64_t row) {
    return input.oneRow ? block.col : entry.element(block.batch, block.row + row, block.col);
  }

  std::vector<double> valuesOf(const InputSet &set, const Input &input, const OutputBlock &block,
                               const TensorContents &contents) const {
    const TensorContents::Entry &entry = contents[input.name];
    const RandomSource source = sourceOf(set, input);
    std::vector<double> values;
    for (std::int64_t row = 0; row < (input.oneRow ? 1 : block.rows); ++row) {
      const std::int64_t first = elementOf(entry, input, block, row);
      for (std::int64_t col = 0; col < block.cols; ++col) {
        values.push_back(
            roundTo(entry.tensor.type, source.value(static_cast<std::uint64_t>(first + col))));
      }
    }
    return values;
  }

  void finish(const InputSet &set, const OutputBlock &block, const TensorContents &contents,
              Expectation &expectation) const {
    EpilogueInputs inputs;
    if (gemm.beta != 0) {
      inputs.c = valuesOf(set, oldC(), block, contents);
    }
    inputs.aux.resize(gemm.epilogue.size());
    for (const Input &input : epilogueInputs()) {
      inputs.aux[input.step] = valuesOf(set, input, block, contents);
    }
    expectation.error.resize(expectation.value.size(), 0);
    applyEpilogue(gemm, inputs, block.cols, set.exact, expectation.value, expectation.error);
    // Of the reported deviation: the bound is relativeError of it, and it is at least the value.
    expectation.scale.resize(expectation.value.size());
    for (std::size_t i = 0; i < expectation.value.size(); ++i) {
      expectation.scale[i] =
          std::max(expectation.error[i] / relativeError(gemm), std::fabs(expectation.value[i]));
    }
    if (set.exact && std::ranges::all_of(expectation.error, [](double e) { return e == 0; })) {
      expectation.error.clear();
      expectation.scale.clear();
    }
  }

  Vectors rowsOfA(const OutputBlock &block) const {
    const std::int64_t rowStride = gemm.aTransposed ? 1 : gemm.lda;
    const std::int64_t kStride = gemm.aTransposed ? gemm.lda : 1;
    return {block.batch * gemm.sa + block.row * rowStride, rowStride, kStride, block.rows};
  }

  Vectors columnsOfB(const OutputBlock &block) const {
    const std::int64_t colStride = gemm.bTransposed ? gemm.ldb : 1;
    const std::int64_t kStride = gemm.bTransposed ? 1 : gemm.ldb;
    return {block.batch * gemm.sb + block.col * colStride, colStride, kStride, block.cols};
  }

  RandomSource sourceOf(const InputSet &set, std::uint64_t operand) const {
    RandomSource source;
    source.seed = 2 * set.seed + operand;
    if (set.exact) {
      source.kind = RandomSource::Kind::integers;
      source.range = integerRange(gemm);
    }
    if (anyBytesAreExact(gemm) && set.name == "random") {
      source.kind = RandomSource::Kind::bytes;
    }
    return source;
  }

  /// The packed columns of b that the blocks need.
  void fillPacked(const InputSet &set, std::span<const OutputBlock> blocks,
                  const TensorContents::Entry &to) const {
    const RandomSource source = sourceOf(set, 1);
    const PreshuffledLayout layout = preshuffledLayout(gemm);
    std::set<std::pair<std::int64_t, std::int64_t>> done; ///< base and column
    for (const OutputBlock &block : blocks) {
      for (std::int64_t column = block.col; column < block.col + block.cols; ++column) {
        const std::int64_t base = block.batch * gemm.sb;
        if (!done.emplace(base, column).second) {
          continue;
        }
        for (std::int64_t k = 0; k < gemm.k; k += layout.packElements()) {
          fillRandom(source, to.tensor.type, to.bytes.data(), base + layout.index(column, k),
                     layout.packElements());
        }
      }
    }
  }

  void fillVectors(const InputSet &set, std::uint64_t operand, const Vectors &vectors,
                   const TensorContents::Entry &to) const {
    const RandomSource source = sourceOf(set, operand);
    const ElementType type = to.tensor.type;
    const bool alongK = vectors.kStride == 1;
    const std::int64_t lines = alongK ? vectors.count : gemm.k;
    const std::int64_t pitch = alongK ? vectors.vectorStride : vectors.kStride;
    for (std::int64_t line = 0; line < lines; ++line) {
      fillRandom(source, type, to.bytes.data(), vectors.base + line * pitch,
                 alongK ? gemm.k : vectors.count);
    }
  }

  Problem withRows(std::int64_t m, std::int64_t gap, std::int64_t moreProducts = 0) const {
    Gemm other = gemm;
    other.batch += moreProducts;
    other.m = std::max<std::int64_t>(m, 1);
    // Rows of the matrices as they lie in memory keep their pitch or get a wider one.
    other.lda += gap + (gemm.aTransposed ? std::max<std::int64_t>(other.m - gemm.m, 0) : 0);
    other.ldb += gemm.preshuffle ? 0 : gap;
    other.ldc += gap;
    const bool broadcastA = gemm.batch > 1 && gemm.sa == 0;
    const bool broadcastB = gemm.batch > 1 && gemm.sb == 0;
    other.sa = broadcastA ? 0 : other.lda * (gemm.aTransposed ? other.k : other.m);
    other.sb = broadcastB        ? 0
               : gemm.preshuffle ? preshuffledLayout(gemm).elements()
                                 : other.ldb * (gemm.bTransposed ? other.n : other.k);
    other.sc = other.ldc * other.m;
    return {other};
  }

  Gemm gemm;
  WorkgroupMapping mapping;
  std::int64_t tileM, tileN;
};

} // namespace

Expected<std::unique_ptr<Oracle>> makeGemmOracle(const Gemm &gemm, const LaunchPlan &launch) {
  if (Expected<void> covered = checkReferenceCovers(gemm); !covered) {
    return tl::unexpected<Error>(covered.error());
  }
  return std::make_unique<GemmOracle>(gemm, launch);
}

} // namespace kw
