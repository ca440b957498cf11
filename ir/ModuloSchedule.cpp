// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "ir/ModuloSchedule.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <numeric>

namespace kw {
namespace {

constexpr int quantum = 4; ///< shader clocks; one issue slot of a SIMD
constexpr int pipes = 5;

constexpr int quanta(double clocks) { return static_cast<int>(std::ceil(clocks / quantum)); }

using PipeQuanta = std::array<int, pipes>;

PipeQuanta quantaOf(const ResourceUse &use) {
  return {quanta(use.matrix), quanta(use.valu), quanta(use.lds), quanta(use.vectorMemory),
          quanta(use.issue)};
}

/// One row per pipe, one entry per quantum of the interval.
class ReservationTable {
public:
  explicit ReservationTable(int length) : length(length) {
    busy.assign(static_cast<std::size_t>(pipes) * length, 0);
  }

  /// 0: free at `slot`; else how far to move on (forwards) before it can be free.
  int conflict(const PipeQuanta &use, int slot) const {
    for (int pipe = 0; pipe < pipes; ++pipe) {
      for (int i = use[pipe] - 1; i >= 0; --i) {
        if (busy[index(pipe, slot + i)]) {
          return i + 1;
        }
      }
    }
    return 0;
  }

  void reserve(const PipeQuanta &use, int slot, bool on) {
    for (int pipe = 0; pipe < pipes; ++pipe) {
      for (int i = 0; i < use[pipe]; ++i) {
        busy[index(pipe, slot + i)] = on;
      }
    }
  }

private:
  std::size_t index(int pipe, int slot) const {
    const int wrapped = slot < length ? slot : slot - length;
    return static_cast<std::size_t>(pipe) * length + wrapped;
  }

  int length;
  std::vector<std::uint8_t> busy;
};

class Scheduler {
public:
  Scheduler(std::span<const ResourceUse> uses, std::span<const LoopArc> arcs)
      : arcs(arcs), into(uses.size(), arcs, &LoopArc::to), outOf(uses.size(), arcs, &LoopArc::from),
        nextOf(uses.size(), arcs, &LoopArc::from, 1) {
    for (const ResourceUse &use : uses) {
      needs.push_back(quantaOf(use));
    }
    slots.assign(uses.size(), 0);
  }

  /// The interval below which a pipe would be overbooked, quanta.
  int lowestInterval() const {
    PipeQuanta sum{};
    int longest = 1;
    for (const PipeQuanta &need : needs) {
      for (int pipe = 0; pipe < pipes; ++pipe) {
        sum[pipe] += need[pipe];
        longest = std::max(longest, need[pipe]);
      }
    }
    return std::max(longest, *std::max_element(sum.begin(), sum.end()));
  }

  bool place(int interval, const std::vector<bool> &late) {
    ReservationTable table(interval);
    const int count = static_cast<int>(needs.size());
    for (int vertex = 0; vertex < count; ++vertex) {
      if (!placeEarly(table, interval, vertex)) {
        return false;
      }
    }
    // From the back: a vertex that moved makes room for those before it.
    for (int vertex = count - 1; vertex >= 0; --vertex) {
      if (late[vertex]) {
        moveLate(table, interval, vertex);
      }
    }
    return true;
  }

  std::vector<int> slots; ///< quanta

private:
  bool placeEarly(ReservationTable &table, int interval, int vertex) {
    int slot = 0;
    for (const int arc : into.at(vertex)) {
      slot = std::max(slot, slots[arcs[arc].from] + quanta(arcs[arc].edge.latency));
    }
    while (slot < interval) {
      const int step = table.conflict(needs[vertex], slot);
      if (step == 0) {
        table.reserve(needs[vertex], slot, true);
        slots[vertex] = slot;
        return true;
      }
      slot += step;
    }
    return false;
  }

  void moveLate(ReservationTable &table, int interval, int vertex) {
    int latest = interval - 1;
    for (const int arc : outOf.at(vertex)) {
      latest = std::min(latest, slots[arcs[arc].to] - quanta(arcs[arc].edge.latency));
    }
    for (const int arc : nextOf.at(vertex)) { // of the next iteration
      latest = std::min(latest, slots[arcs[arc].to] + interval - quanta(arcs[arc].edge.latency));
    }
    table.reserve(needs[vertex], slots[vertex], false);
    int slot = std::max(latest, slots[vertex]);
    while (slot > slots[vertex] && table.conflict(needs[vertex], slot) != 0) {
      --slot;
    }
    slots[vertex] = slot;
    table.reserve(needs[vertex], slot, true);
  }

  std::span<const LoopArc> arcs;
  ArcIndex into, outOf, nextOf;
  std::vector<PipeQuanta> needs;
};

} // namespace

ModuloSchedule moduloSchedule(std::span<const ResourceUse> uses, std::span<const LoopArc> arcs,
                              const std::vector<bool> &late) {
  Scheduler scheduler(uses, arcs);
  // Exposed latencies lengthen an iteration beyond the pipes' bound: try a few percent more.
  int interval = scheduler.lowestInterval();
  while (!scheduler.place(interval, late)) {
    interval += std::max(8, interval / 16);
  }
  ModuloSchedule schedule;
  schedule.interval = interval * quantum;
  for (const int slot : scheduler.slots) {
    schedule.slots.push_back(slot * quantum);
  }
  return schedule;
}

std::vector<int> orderBySlots(std::span<const int> slots) {
  std::vector<int> order(slots.size());
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return slots[a] < slots[b]; });
  return order;
}

} // namespace kw
