// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Regularised evolution (the oldest die, not the worst) over decisions, with the model as a
// prefilter: of several legal children the one with the best forecast is asked. Results that were
// told are the fitness, and they correct the model: a forecast is the estimate times what was told
// over what was estimated for schedules nearby. Half of the children are asked unchosen. So a good
// model helps and a bad one does not trap the search. A failed trial is a dead end. The first
// generation are the best by model of a uniform sample.
#include "search/SparseShuffle.h"
#include "search/strategies/Strategies.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <optional>
#include <random>
#include <unordered_set>

namespace kw {
namespace {

constexpr std::size_t populationSize = 48;
constexpr std::size_t firstGeneration = 24; ///< told before anybody breeds
constexpr std::size_t sampleSize = 512;     ///< from which the first generation is chosen
constexpr std::size_t tournament = 6;       ///< members that compete to be a parent
constexpr std::size_t litter = 12;          ///< legal children among which the model chooses
constexpr std::uint64_t freeOneIn = 2;      ///< children that are asked without the model's choice
constexpr int mostAttempts = 400;           ///< to make a litter, most of them illegal
constexpr std::uint64_t mutationsUpTo = 3;  ///< decisions changed at a time
constexpr std::uint64_t crossoverOneIn = 3;

// The correction at a schedule: mean of log(told / estimated) over the results told, weighted with
// exp(-(decisions that differ) / reach), drawn towards none by a result of weight `caution`.
constexpr double reach = 1.5;
constexpr double caution = 0.05;

class Evolutionary final : public Strategy {
public:
  explicit Evolutionary(const StrategyContext &context)
      : space(context.space), model(space.problem(), context.target), random(context.seed),
        ranks(space.size(), context.seed + 1), all(decisions(space.kind())) {}

  std::vector<Schedule> ask(std::size_t n) override {
    std::vector<Schedule> asked;
    while (asked.size() < n) {
      const auto schedule = next();
      if (!schedule) {
        break;
      }
      known.insert(print(*schedule));
      asked.push_back(*schedule);
    }
    return asked;
  }

  void tell(const Trial &trial) override {
    // What failed must not breed, but its age counts: infinite time does both.
    const bool good = trial.state == TrialState::ok && trial.timeUs && *trial.timeUs > 0;
    population.push_back(
        {trial.schedule, good ? *trial.timeUs : std::numeric_limits<double>::infinity()});
    if (good && space.kind() == kindOf(trial.schedule)) {
      told.push_back({trial.schedule, std::log(*trial.timeUs / estimate(trial.schedule))});
    }
    if (population.size() > populationSize) {
      population.pop_front();
    }
  }

  std::uint64_t estimated() const override { return estimates; }

private:
  struct Member {
    Schedule schedule;
    double timeUs;
  };
  struct Residual {
    Schedule schedule;
    double logRatio; ///< log(told / estimated)
  };

  std::optional<Schedule> next() {
    if (population.size() >= firstGeneration) {
      if (auto child = bestChild()) {
        return child;
      }
    }
    if (!founders) {
      chooseFounders();
    }
    while (!founders->empty()) {
      const Schedule schedule = founders->front();
      founders->pop_front();
      if (isNew(schedule)) {
        return schedule;
      }
    }
    return drawn();
  }

  /// A legal schedule at random that was not asked yet.
  std::optional<Schedule> drawn() {
    while (const auto rank = ranks.next()) {
      const Schedule schedule = space.at(*rank);
      if (isNew(schedule)) {
        return schedule;
      }
    }
    return std::nullopt;
  }

  void chooseFounders() {
    std::vector<Member> sample;
    for (std::size_t i = 0; i < sampleSize; ++i) {
      const auto rank = ranks.next();
      if (!rank) {
        break;
      }
      const Schedule schedule = space.at(*rank);
      sample.push_back({schedule, estimate(schedule)});
    }
    std::ranges::stable_sort(sample, {}, &Member::timeUs);
    founders.emplace();
    for (Member &member : sample) {
      founders->push_back(std::move(member.schedule));
    }
  }

  std::optional<Schedule> bestChild() {
    std::optional<Schedule> best;
    double bestUs = std::numeric_limits<double>::infinity();
    std::size_t made = 0;
    const std::size_t wanted = uniformBelow(random, freeOneIn) == 0 ? 1 : litter;
    for (int attempt = 0; attempt < mostAttempts && made < wanted; ++attempt) {
      const Schedule child = breed();
      if (!isNew(child) || !space.contains(child)) {
        continue;
      }
      ++made;
      const double us = estimate(child) * correction(child);
      if (!best || us < bestUs) {
        best = child;
        bestUs = us;
      }
    }
    return best;
  }

  Schedule breed() {
    Schedule child = parent();
    if (uniformBelow(random, crossoverOneIn) == 0) {
      cross(child, parent());
    }
    for (std::uint64_t i = uniformBelow(random, mutationsUpTo) + 1; i > 0; --i) {
      const Axis &axis = space.axes()[uniformBelow(random, space.axes().size())];
      decisionOf(axis).set(child, axis.values[uniformBelow(random, axis.values.size())]);
    }
    return child;
  }

  const Schedule &parent() {
    const Member *best = nullptr;
    for (std::size_t i = 0; i < tournament; ++i) {
      const Member &member = population[uniformBelow(random, population.size())];
      best = !best || member.timeUs < best->timeUs ? &member : best;
    }
    return best->schedule;
  }

  /// Each key of the text from one parent or the other: parts of a key belong together.
  void cross(Schedule &child, const Schedule &other) {
    bool fromOther = false;
    for (std::size_t i = 0; i < all.size(); ++i) {
      if (i == 0 || all[i].key != all[i - 1].key) {
        fromOther = uniformBelow(random, 2) == 0;
      }
      if (fromOther) {
        all[i].set(child, all[i].get(other));
      }
    }
  }

  double correction(const Schedule &schedule) const {
    double sum = 0, weights = caution;
    for (const Residual &each : told) {
      const auto differs = [&](const Decision &decision) {
        return decision.get(each.schedule) != decision.get(schedule);
      };
      const double weight = std::exp(-double(std::ranges::count_if(all, differs)) / reach);
      sum += weight * each.logRatio;
      weights += weight;
    }
    return std::exp(sum / weights);
  }

  const Decision &decisionOf(const Axis &axis) const {
    return all[static_cast<std::size_t>(axis.decision)];
  }

  bool isNew(const Schedule &schedule) const { return !known.contains(print(schedule)); }

  double estimate(const Schedule &schedule) {
    ++estimates;
    return model.timeUs(schedule);
  }

  const Space space; // shares its state
  CostModel model;
  std::mt19937_64 random;
  SparseShuffle ranks;
  std::span<const Decision> all;
  std::optional<std::deque<Schedule>> founders;
  std::deque<Member> population; ///< oldest first
  std::vector<Residual> told;
  std::unordered_set<std::string> known;
  std::uint64_t estimates = 0;
};

} // namespace

std::unique_ptr<Strategy> makeEvolutionary(const StrategyContext &context) {
  return std::make_unique<Evolutionary>(context);
}

} // namespace kw
