// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/calibration/Refinement.h"

#include "costmodel/Constants.h"

#include <Eigen/Dense>
#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <string>

namespace kw {
namespace {

// Parts of the variance that the calibration expects. [fitted: marginal likelihood of 410 samples
// of 24 rows of one weight shape, errors of `kw calibrate --cross-validate` on gemm_gfx950.csv.gz
// of 2026-11-30, cut at 3 deviations. 19 more features (shares of terms, prefetch, occupancy, ...)
// were worth nothing]
constexpr double groupShare = 0.030, typeShare = 0.006, generatorShare = 0.051;
constexpr double variantShare = 0.097, kernelShare = 0.056;
constexpr double alikeShare = 0.230, alikeGeneratorShare = 0.108, alikeVariantShare = 0.506;
constexpr double noiseShare = 0.280;

/// Distances in a feature over which cases stay alike. [fitted: as above]
struct Length {
  std::string_view feature;
  double length;
};
constexpr std::array<Length, 8> lengths{{{"log_rows", 7.35},
                                         {"tile_m", 1.37},
                                         {"tile_n", 0.72},
                                         {"tile_k", 1.25},
                                         {"split_k", 0.42},
                                         {"rounds", 1.37},
                                         {"waves", 1.04},
                                         {"last_round_fill", 0.24}}};
constexpr double typeLength = 0.64; ///< how far two types are apart is 1 / this [fitted: as above]

/// What runs of another weight shape tell, and all runs of a machine. [prior: on the machine that
/// the calibration has learnt from nothing is left to tell (0 fits best, this costs 0.1 in log
/// likelihood of 36 rows of 12 shapes); another may be off everywhere]
constexpr double otherGroupPart = 0.05, machineShare = 0.05;

/// No expectation is surer than repeats of one measurement are. [measured: costmodel.md 1.2: 3%]
constexpr double leastDeviation = 0.015;

/// Degrees of freedom of the noise. [prior: a run that is off by 20 deviations counts an eightieth
/// of one that fits; 3 to 6 differ by 0.01% in what is left]
constexpr double freedom = 4;
constexpr int reweightings = 12;

/// What the covariance reads of a case.
struct Point {
  std::string family, type, group, generator, variant, kernel;
  std::array<double, lengths.size()> place{}; ///< features in units of their lengths
  double deviation = 0;                       ///< of what isn't shared
  double shared = 0;                          ///< Correction::shared
};

std::array<std::size_t, lengths.size()> featureIndices() {
  std::array<std::size_t, lengths.size()> indices{};
  std::ranges::transform(lengths, indices.begin(), [](const Length &length) {
    assert(featureIndex(length.feature) < featureNames().size());
    return featureIndex(length.feature);
  });
  return indices;
}

Point pointOf(const ExpectedCase &expectedCase) {
  static const auto indices = featureIndices();
  const auto &[c, expected] = expectedCase;
  Point point{c.family, c.dtype, c.group, c.generator, c.variant, c.kernel};
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const double value = indices[i] < c.features.size() ? c.features[indices[i]] : unknownFeature;
    point.place[i] = std::isnan(value) ? 0 : value / lengths[i].length; // unknowns are alike
  }
  const double all = std::max(expected.halfWidth80 / constants::deviationsOf80, leastDeviation);
  point.shared = std::min(expected.shared, 0.99 * all);
  point.deviation = std::sqrt(all * all - point.shared * point.shared);
  return point;
}

double share(const Point &a, const Point &b) {
  const bool sameType = a.type == b.type, sameGenerator = a.generator == b.generator;
  const bool sameVariant = sameGenerator && a.variant == b.variant;
  const bool sameKernel = sameType && sameGenerator && !a.kernel.empty() && a.kernel == b.kernel;
  double apart = sameType ? 0 : 1 / (typeLength * typeLength);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    const double d = a.place[i] - b.place[i];
    apart += d * d;
  }
  const double rows = a.place[0] - b.place[0];
  const double alike = std::exp(-apart / 2), nearRows = std::exp(-rows * rows / 2);
  double sum = groupShare + alikeShare * alike;
  sum += sameType ? typeShare : 0;
  sum += sameGenerator ? generatorShare + alikeGeneratorShare * alike : 0;
  sum += sameVariant ? variantShare + alikeVariantShare * alike : 0;
  sum += sameKernel ? kernelShare * nearRows : 0;
  const bool sameGroup = !a.group.empty() && a.group == b.group;
  return machineShare + (sameGroup ? 1 : otherGroupPart) * sum;
}

double covariance(const Point &a, const Point &b) {
  if (a.family != b.family) {
    return 0;
  }
  return a.deviation * b.deviation * share(a, b) +
         (a.generator == b.generator ? a.shared * b.shared : 0);
}

double noiseOf(const Point &point) { return noiseShare * point.deviation * point.deviation; }

} // namespace

struct ErrorProcess::State {
  std::vector<Point> points;
  Eigen::LLT<Eigen::MatrixXd> factor; ///< of covariance + noise
  Eigen::VectorXd weights;            ///< (covariance + noise)^-1 errors

  void fit(const Eigen::VectorXd &errors);
  void solve(Eigen::MatrixXd covariance, const Eigen::VectorXd &noise,
             const Eigen::VectorXd &errors) {
    covariance.diagonal() += noise;
    factor.compute(covariance);
    weights = factor.solve(errors);
  }
};

/// Student-t noise as a scale mixture, by expectation and maximisation: each run's noise grows with
/// the square of what is expected to be left of it.
void ErrorProcess::State::fit(const Eigen::VectorXd &errors) {
  const Eigen::Index count = errors.size();
  Eigen::MatrixXd prior(count, count);
  Eigen::VectorXd least(count);
  for (Eigen::Index i = 0; i < count; ++i) {
    least[i] = noiseOf(points[i]);
    for (Eigen::Index j = 0; j <= i; ++j) {
      prior(i, j) = prior(j, i) = covariance(points[i], points[j]);
    }
  }
  Eigen::VectorXd noise = least;
  for (int step = 0; step < reweightings; ++step) {
    solve(prior, noise, errors);
    const Eigen::MatrixXd lower = factor.matrixL().solve(Eigen::MatrixXd::Identity(count, count));
    for (Eigen::Index i = 0; i < count; ++i) {
      const double left = noise[i] * weights[i];
      const double variance = noise[i] - noise[i] * noise[i] * lower.col(i).squaredNorm();
      const double surprise = (left * left + variance) / least[i];
      noise[i] = least[i] * std::max(1.0, (freedom + surprise) / (freedom + 1));
    }
  }
  solve(prior, noise, errors);
}

ErrorProcess::ErrorProcess(std::span<const ExpectedCase> runs, std::span<const double> measuredUs) {
  assert(runs.size() == measuredUs.size());
  if (runs.empty()) {
    return;
  }
  state = std::make_unique<State>();
  Eigen::VectorXd errors(static_cast<Eigen::Index>(runs.size()));
  for (std::size_t i = 0; i < runs.size(); ++i) {
    state->points.push_back(pointOf(runs[i]));
    errors[Eigen::Index(i)] =
        std::log(measuredUs[i] / runs[i].modelCase.analytic.timeUs) - runs[i].expected.log;
  }
  state->fit(errors);
}

ErrorProcess::~ErrorProcess() = default;
ErrorProcess::ErrorProcess(ErrorProcess &&) noexcept = default;

Correction ErrorProcess::refine(const ExpectedCase &query) const {
  Correction correction = query.expected;
  if (!state) {
    return correction;
  }
  const Point point = pointOf(query);
  Eigen::VectorXd common(state->weights.size());
  for (Eigen::Index i = 0; i < common.size(); ++i) {
    common[i] = covariance(point, state->points[i]);
  }
  correction.log += common.dot(state->weights);
  // The interval shrinks by the part of the variance that the runs explain.
  const double all = covariance(point, point) + noiseOf(point);
  const double explained = common.dot(state->factor.solve(common));
  correction.halfWidth80 *= std::sqrt(std::clamp(1 - explained / all, 1.0 / 16, 1.0));
  correction.shared = 0;
  return correction;
}

namespace {

ErrorProcess processOf(const Calibration &base, std::span<const OwnRun> runs) {
  runs = runs.last(std::min(runs.size(), Refinement::mostRuns));
  std::vector<ExpectedCase> cases;
  std::vector<double> times;
  for (const OwnRun &run : runs) {
    cases.push_back({run.modelCase, base.correct(run.modelCase)});
    times.push_back(run.measuredUs);
  }
  return ErrorProcess(cases, times);
}

} // namespace

Refinement::Refinement(const Calibration &base, std::span<const OwnRun> runs)
    : base(base), process(processOf(base, runs)) {}

} // namespace kw
