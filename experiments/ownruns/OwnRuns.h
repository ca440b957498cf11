// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The user's own runs: what `kw measure` and `kw import` left in the store, as the cost model
// learns from it (costmodel/calibration/Refinement.h).
#pragma once

#include "costmodel/calibration/Refinement.h"
#include "costmodel/foreign/ForeignModel.h"
#include "experiments/store/Store.h"

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

namespace kw {

struct OwnRunsRequest {
  const Target *target = nullptr;
  std::string device; ///< runs of this device alone; empty: of all
  /// Identities (`identityOf`, import/ImportedTimings.h) of runs that don't count: a table's own
  /// rows, when it is scored.
  std::set<std::string> without;
};

/// The runs of a store that fit a request. Left out are those of other targets, of kernels that
/// aren't told, with flags. A run is modelled when it is first chosen: a store may hold a whole
/// published table. Not for several threads at the same time.
class OwnRuns {
public:
  /// `calibration` gives the constants of the analytic estimates; it has to outlive this.
  static Expected<OwnRuns> read(Store &store, const Calibration &calibration,
                                const OwnRunsRequest &request);

  std::size_t size() const { return pending.size(); }
  std::size_t size(const std::string &family) const;

  /// Up to `most` runs of a family of operators: those of the group (ModelCase::group) and then the
  /// latest of others. What can't be modelled is skipped: schedules that are no longer legal.
  std::vector<OwnRun> choose(const std::string &family, const std::string &group, std::size_t most);

private:
  /// A run as the store tells it.
  struct Pending {
    Json value;
    bool published = false; ///< of a published table, not of a schedule
    std::string family, group;
    bool modelled = false;
    std::optional<OwnRun> run; ///< once modelled; nullopt: can't be
  };

  OwnRuns(const Calibration &calibration, const Target &target);
  static std::optional<Pending> pendingOf(const StoredTiming &timing,
                                          const OwnRunsRequest &request);
  const std::optional<OwnRun> &model(Pending &pending);

  const Target *target;
  Target calibrated;
  std::unique_ptr<ForeignModel> foreign;
  std::vector<Pending> pending; ///< oldest first
};

/// A calibration with runs on top. Of a family with more runs than a Refinement can take, those of
/// the case's own group count first. Not for several threads at the same time.
class OwnRunsCalibration final : public Calibration {
public:
  OwnRunsCalibration(const Calibration &base, OwnRuns runs) : base(base), runs(std::move(runs)) {}

  Target calibrated(const Target &target) const override { return base.calibrated(target); }
  Correction correct(const ModelCase &modelCase) const override {
    return refinementOf(modelCase).calibration.correct(modelCase);
  }
  /// How many runs `correct` learns from.
  std::size_t countFor(const ModelCase &modelCase) const { return refinementOf(modelCase).count; }

private:
  struct Refined {
    std::size_t count;
    Refinement calibration;
  };
  const Refined &refinementOf(const ModelCase &modelCase) const;

  const Calibration &base;
  mutable OwnRuns runs;
  mutable std::map<std::pair<std::string, std::string>, std::unique_ptr<Refined>> refinements;
};

} // namespace kw
