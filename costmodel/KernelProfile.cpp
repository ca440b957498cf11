// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/KernelProfile.h"

#include "costmodel/Constants.h"
#include "ir/AttentionLayout.h"
#include "ir/Occupancy.h"
#include "ir/StreamShares.h"
#include "ir/ops/Operator.h"

#include <algorithm>
#include <cassert>
#include <numeric>
#include <optional>

namespace kw {
namespace {

bool isSteady(RegionKind kind) {
  return kind == RegionKind::mainLoop || kind == RegionKind::tailStep ||
         kind == RegionKind::diagonal || kind == RegionKind::softmax;
}

/// Means over the kinds of workgroup.
struct KindMeans {
  std::int64_t count = 0;  ///< workgroups, or the pieces of work of persistent ones
  Inline<double, 8> trips; ///< per region
  double usefulM = 0, usefulN = 0;
};

KindMeans meansOf(const LaunchPlan &launch) {
  KindMeans means;
  means.trips.resize(launch.regions.size(), 0.0);
  for (const WorkgroupKind &kind : launch.kinds) {
    means.count += kind.count;
  }
  for (const WorkgroupKind &kind : launch.kinds) {
    const double share = static_cast<double>(kind.count) / static_cast<double>(means.count);
    for (std::size_t i = 0; i < kind.trips.size(); ++i) {
      means.trips[i] += share * kind.trips[i];
    }
    means.usefulM += share * kind.usefulM;
    means.usefulN += share * kind.usefulN;
  }
  return means;
}

/// Adds what the regions cost in the CU.
void addRegions(LaunchProfile &profile, const LaunchPlan &launch, const KindMeans &means,
                std::span<const LoopSummary> loops) {
  for (std::size_t i = 0; i < launch.regions.size(); ++i) {
    const LoopSummary &loop = loops[i];
    const double trips = means.trips[i];
    profile.matrixCycles += trips * loop.use.matrix;
    profile.valuCycles += trips * loop.use.valu;
    profile.ldsCycles += trips * loop.use.lds;
    profile.barriers += trips * loop.barriers;
    const bool prologue = launch.regions[i].kind == RegionKind::prologue;
    const bool reduction = launch.regions[i].kind == RegionKind::reduction;
    if (!prologue && !reduction && (trips > 1 || isSteady(launch.regions[i].kind))) {
      profile.chainCycles += trips * loop.recurrence;
      if (loop.loads > 0) {
        (loop.maxAhead > 0 ? profile.prefetchedTrips : profile.chainedLoads) +=
            trips / (loop.loadDistance > 0 ? loop.loadDistance : std::max(1, loop.maxAhead));
      }
    } else {
      (prologue    ? profile.prologueCycles
       : reduction ? profile.reductionCycles
                   : profile.epilogueCycles) += trips * loop.length;
      profile.startLoads += prologue && loop.loads > 0 ? trips : 0;
    }
  }
}

/// Bytes that requests move for one row of `bytes` contiguous bytes: the average number of requests
/// that it touches, given the alignment that the pitch leaves.
double requestedBytes(std::int32_t bytes, std::int64_t pitch) {
  const double request = constants::requestBytes;
  const double alignment =
      pitch == 0 ? request
                 : static_cast<double>(std::gcd(pitch, std::int64_t{constants::requestBytes}));
  return request * std::max(1.0, 1 + (bytes - alignment) / request);
}

/// Groups of `share` tiles.
double sharedTiles(std::int64_t tiles, std::int32_t share) {
  return static_cast<double>((tiles + share - 1) / share);
}

/// Bytes of the results.
double outputBytes(const Problem &problem) {
  double bytes = 0;
  for (const Tensor &tensor : tensors(problem)) {
    double elements = tensor.role == BufferRole::output ? 1 : 0;
    for (const std::int64_t size : tensor.shape) {
      elements *= static_cast<double>(size);
    }
    bytes += movedShare(problem, tensor) * elements * bitWidth(tensor.type) / 8;
  }
  return bytes;
}

/// How tiles are cut into pieces.
struct Pieces {
  double ofTile = 1;   ///< pieces a tile, on average
  double summedUp = 1; ///< of the pieces: those that leave partial sums, where anybody does
};

Pieces piecesOf(const WorkgroupMapping &mapping) {
  if (!mapping.isStream()) {
    return {static_cast<double>(mapping.splits), 1};
  }
  const StreamCounts counts = streamCounts(mapping);
  const auto pieces = static_cast<double>(counts.pieces);
  return {pieces / static_cast<double>(mapping.tiles() * mapping.batches),
          static_cast<double>(counts.parts()) / pieces};
}

/// Steps of the longest workgroup over the mean. Where masks and lengths decide how far each walks
/// (the regions tell: masked steps); elsewhere workgroups differ by a step at most.
double longestShare(const LaunchPlan &launch, const KindMeans &means) {
  double longest = 0, mean = 0;
  bool masked = false;
  for (std::size_t i = 0; i < launch.regions.size(); ++i) {
    masked |= launch.regions[i].kind == RegionKind::diagonal;
    mean += isSteady(launch.regions[i].kind) ? means.trips[i] : 0;
  }
  for (const WorkgroupKind &kind : launch.kinds) {
    double steps = 0;
    for (std::size_t i = 0; i < launch.regions.size(); ++i) {
      steps += isSteady(launch.regions[i].kind) ? kind.trips[i] : 0;
    }
    longest = std::max(longest, steps);
  }
  return masked && mean > 0 ? longest / mean : 1;
}

struct TrafficSums {
  SharedBytes read;                           ///< of one workgroup, as requested
  double again = 0;                           ///< of one workgroup: what it reads a second time
  double uniqueRead = 0;                      ///< of the launch, each tile once
  double written = 0;                         ///< of the launch
  double stores = 0;                          ///< instructions of one workgroup
  double partialRead = 0, partialWritten = 0; ///< of the launch: sums of splits
};

bool isReadBefore(const LaunchPlan &launch, const TileTraffic &traffic) {
  return std::any_of(launch.traffic.data(), &traffic, [&](const TileTraffic &earlier) {
    return !earlier.write && earlier.operand == traffic.operand;
  });
}

TrafficSums sumTraffic(const LaunchPlan &launch, const KindMeans &means, double steps,
                       const Target &target) {
  const double usedM = launch.tileM > 0 ? std::min(1.0, means.usefulM / launch.tileM) : 1;
  const double usedN = launch.tileN > 0 ? std::min(1.0, means.usefulN / launch.tileN) : 1;
  const WorkgroupMapping &mapping = launch.mapping;
  const Pieces pieces = piecesOf(mapping);
  TrafficSums sums;
  for (const TileTraffic &traffic : launch.traffic) {
    const double used = (traffic.byTileM ? usedM : 1) * (traffic.byTileN ? usedN : 1);
    const bool partial = traffic.operand == TileOperand::partial;
    // What is not part of the loop happens once for all pieces of a tile.
    const double share = partial ? pieces.summedUp : traffic.perTrip ? 1 : 1 / pieces.ofTile;
    const double rows = share * used * traffic.rows * (traffic.perTrip ? steps : 1);
    if (partial || traffic.write) {
      const double moved = rows * traffic.bytesPerRow * static_cast<double>(means.count);
      (!partial ? sums.written : traffic.write ? sums.partialWritten : sums.partialRead) += moved;
    }
    if (partial && !traffic.write) {
      continue;
    }
    if (traffic.write) {
      // Lanes outside the result are masked, not saved.
      sums.stores += static_cast<double>(traffic.rows) * traffic.bytesPerRow /
                     (static_cast<double>(target.waveSize) * std::max(1, traffic.vectorBytes));
      continue;
    }
    const double bytes = rows * requestedBytes(traffic.bytesPerRow, traffic.pitchBytes);
    if (isReadBefore(launch, traffic)) {
      sums.again += bytes;
      continue;
    }
    (traffic.byTileM ? (traffic.byTileN ? sums.read.byBoth : sums.read.byM)
                     : (traffic.byTileN ? sums.read.byN : sums.read.byNone)) += bytes;
    const double copies = (traffic.byTileM ? static_cast<double>(mapping.tilesM) : 1.0) *
                          (traffic.byTileN ? sharedTiles(mapping.tilesN, traffic.shareN) : 1.0) *
                          (traffic.byBatch ? static_cast<double>(mapping.batches) : 1.0) *
                          pieces.ofTile;
    sums.uniqueRead += traffic.launchBytes > 0 ? static_cast<double>(traffic.launchBytes)
                                               : rows * traffic.bytesPerRow * copies;
  }
  return sums;
}

/// What each level of memory is asked for, from the reuse in front of it.
void addMemoryLevels(LaunchProfile &profile, const LaunchPlan &launch, TrafficSums sums,
                     const ProblemFacts &facts, const Target &target, TileReuse &reuse,
                     ReadsFrom source) {
  const auto workgroups = static_cast<double>(profile.workgroups);
  const bool cold = source == ReadsFrom::inputs;
  const double compulsory = cold ? facts.inputBytes : sums.uniqueRead;
  // Masked steps beyond the operands' ends move nothing.
  const double real = sums.uniqueRead > 0 ? std::min(1.0, compulsory / sums.uniqueRead) : 1;
  for (double *part :
       {&sums.read.byM, &sums.read.byN, &sums.read.byBoth, &sums.read.byNone, &sums.again}) {
    *part *= real;
  }
  profile.loadBytes =
      sums.read.byM + sums.read.byN + sums.read.byBoth + sums.read.byNone + sums.again;
  profile.writtenBytes = sums.written + sums.partialWritten;
  profile.storeInstructions = sums.stores;
  profile.l2ReadBytes = workgroups * profile.loadBytes + sums.partialRead;

  const std::int64_t residentPerXcd =
      std::max<std::int64_t>(1, std::int64_t{profile.workgroupsPerCu} * target.cus / target.xcds);
  const double l2Bytes = static_cast<double>(target.l2BytesPerXcd);
  double beyondL2 =
      workgroups * reuse(launch.mapping, target.xcds, residentPerXcd, sums.read, l2Bytes);
  if (compulsory <= l2Bytes) {
    beyondL2 = std::min(beyondL2, compulsory * target.xcds);
  }
  // What a workgroup reads again has left the L2 by then, but not the Infinity Cache.
  // Partial sums come from other XCDs.
  profile.mallReadBytes =
      std::max(compulsory, beyondL2) + workgroups * sums.again + sums.partialRead;

  const bool fits = compulsory <= static_cast<double>(target.mallBytes);
  profile.hbmReadBytes = fits && !cold ? 0 : compulsory;
  if (!fits) {
    const std::int64_t resident = std::int64_t{profile.workgroupsPerCu} * target.cus;
    const double beyondMall = workgroups * reuse(launch.mapping, 1, resident, sums.read,
                                                 static_cast<double>(target.mallBytes));
    profile.hbmReadBytes =
        std::max(compulsory, std::min(beyondMall, profile.mallReadBytes - sums.partialRead));
  }
}

/// Operand types of the matrix instructions; none: the family has no such instructions.
struct MatrixTypes {
  ElementType a = ElementType::f32, b = ElementType::f32;
};
std::optional<MatrixTypes> matrixTypes(const Problem &problem) {
  switch (problem.family()) {
  case Family::gemm:
    return MatrixTypes{problem.gemm().aType, problem.gemm().bType};
  case Family::groupedGemm:
    return MatrixTypes{problem.groupedGemm().product.aType, problem.groupedGemm().product.bType};
  case Family::attention:
    return MatrixTypes{productTypes(problem.attention()).keys,
                       productTypes(problem.attention()).queries};
  case Family::rmsnorm:
  case Family::topk:
    break;
  }
  return std::nullopt;
}

/// The wider operand decides how much a matrix instruction draws.
ElementType matrixType(const Problem &problem) {
  const auto types = matrixTypes(problem);
  if (!types) {
    return ElementType::f32;
  }
  return bitWidth(types->a) < bitWidth(types->b) ? types->b : types->a;
}

} // namespace

double sustainedMatrixFraction(ElementType type, const Target &target) {
  switch (bitWidth(type)) {
  case 16:
    return target.sustainedFraction16;
  case 8:
    return target.sustainedFraction8;
  case 6:
  case 4:
    return target.sustainedFraction4;
  default:
    return 1;
  }
}

ProblemFacts problemFacts(const Problem &problem, const Target &target) {
  const double bytes = compulsoryBytes(problem);
  ProblemFacts facts{flops(problem), bytes, bytes - outputBytes(problem), matrixType(problem), 0};
  const auto types = matrixTypes(problem);
  if (types) {
    constexpr double rounding = 1 - 1e-6; // loops are summed in single precision
    const double peak = peakFlops(target, types->a, types->b);
    const double simdClocks = target.peakClockHz * target.cus * target.simdsPerCu;
    facts.leastMatrixCycles = peak > 0 ? rounding * facts.flops / peak * simdClocks : 0;
  }
  return facts;
}

LaunchProfile profileLaunch(const LaunchPlan &launch, std::span<const LoopSummary> loops,
                            const ProblemFacts &facts, const Target &target, TileReuse &reuse,
                            ReadsFrom source) {
  assert(loops.size() == launch.regions.size() && launch.workgroups > 0);
  const KindMeans means = meansOf(launch);
  LaunchProfile profile;
  profile.workgroups = means.count;
  profile.startsOnce = launch.mapping.walkers > 0;
  if (launch.mapping.isStream()) {
    const StreamShares shares(launch.mapping);
    profile.sharers = shares.workgroups();
    profile.longestShare = static_cast<double>(shares.longest() * shares.workgroups()) /
                           static_cast<double>(shares.places() * launch.mapping.sharedSteps);
  }
  if (!launch.mapping.isStream()) {
    profile.longestShare = longestShare(launch, means);
  }
  profile.waves = launch.waves;
  profile.sustainedMatrixFraction = sustainedMatrixFraction(facts.matrixType, target);
  profile.workgroupsPerCu =
      std::max(1, workgroupsPerCu(target, launch.registers.vgpr(), launch.registers.agpr(),
                                  launch.ldsBytes, launch.waves));
  addRegions(profile, launch, means, loops);
  // Accumulators in AGPRs are moved to VGPRs first, one vector instruction each.
  profile.epilogueCycles += static_cast<double>(launch.registers.agpr()) * target.valuCycles;
  double steps = 0;
  for (std::size_t i = 0; i < launch.regions.size(); ++i) {
    steps += isSteady(launch.regions[i].kind) ? means.trips[i] : 0;
  }
  addMemoryLevels(profile, launch, sumTraffic(launch, means, steps, target), facts, target, reuse,
                  source);
  return profile;
}

} // namespace kw
