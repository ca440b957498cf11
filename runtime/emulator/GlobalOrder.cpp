// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/GlobalOrder.h"

#include "runtime/emulator/Workgroup.h"

#include <algorithm>
#include <cstring>
#include <fmt/core.h>
#include <thread>

namespace kw::detail {

namespace {

using Stamps = GlobalMemory::Stamps;
using Allocation = GlobalMemory::Allocation;
using Record = AccessLog::Record;

/// Which bytes of its dword a stamp is about. Two odd parts are not compared.
constexpr std::uint8_t partMasks[] = {15, 3, 12, 1, 2, 4, 8};
constexpr unsigned whole = 0, oddPart = std::size(partMasks);

unsigned partOf(unsigned mask) {
  const auto *found = std::find(std::begin(partMasks), std::end(partMasks), mask);
  return static_cast<unsigned>(found - std::begin(partMasks));
}
bool overlap(unsigned a, unsigned b) {
  if (a == oddPart || b == oddPart) {
    return a == whole || b == whole;
  }
  return (partMasks[a] & partMasks[b]) != 0;
}

/// record << 9 | lane << 3 | part; 0: nobody.
std::uint32_t makeStamp(std::uint32_t record, int lane, unsigned part) {
  return record << 9 | static_cast<std::uint32_t>(std::max(lane, 0)) << 3 | part;
}

struct Dword {
  std::uint64_t index;
  unsigned part;
  std::uint64_t from, to; ///< bytes of the access in it
};
template <class F> void forEachDword(std::uint64_t offset, unsigned count, F f) {
  const std::uint64_t end = offset + count;
  for (std::uint64_t index = offset / 4; 4 * index < end; ++index) {
    const std::uint64_t from = std::max(offset, 4 * index), to = std::min(end, 4 * index + 4);
    const unsigned mask = ((1u << (to - from)) - 1) << (from - 4 * index);
    f(Dword{index, mask == 15 ? whole : partOf(mask), from, to});
  }
}

std::string placeOf(const LaunchContext &context, std::uint64_t group) {
  const auto &grid = context.launch.grid;
  return fmt::format("({}, {}, {})", group % grid[0], group / grid[0] % grid[1],
                     group / grid[0] / grid[1]);
}

/// The newest interval of the wave whose accesses are all complete.
std::uint32_t completed(const Wave &wave) {
  std::uint32_t first = wave.order.clock;
  for (std::size_t i = 0; i < wave.vmem.size(); ++i) {
    const std::uint32_t clock = wave.vmem.at(i).clock;
    if (clock != 0) {
      first = std::min(first, clock);
      break;
    }
  }
  for (const Outstanding &entry : wave.smem) {
    first = entry.clock != 0 ? std::min(first, entry.clock) : first;
  }
  return first - 1;
}

/// What a release of the wave carries. The releasing access itself is alone in its interval.
ClockRef snapshot(Wave &wave) {
  WaveOrder &order = wave.order;
  order.tick();
  const std::uint32_t done = completed(wave);
  auto result = std::make_shared<VectorClock>(order.known);
  result->raise(order.uid, {order.clock, done + 1 == order.clock ? order.clock : done, 0});
  return result;
}

std::uint32_t recordOf(Wave &wave, const Op &op, const GlobalUse &use, std::uint32_t under = 0) {
  WaveOrder &order = wave.order;
  Workgroup &group = *wave.group;
  Record record{.group = static_cast<std::uint32_t>(group.linear),
                .op = op.index,
                .under = under,
                .wave = static_cast<std::uint8_t>(wave.id),
                .writes = use.writes,
                .through = use.through,
                .atomic = use.atomic,
                .rmw = use.rmw};
  const bool communicates = group.context.kernel->communicates;
  if (communicates && order.store != ~0u && order.store != op.index) {
    order.tick();
  }
  WaveOrder::Recent &recent = order.recent[(op.index + under) % order.recent.size()];
  if (use.releases && communicates) {
    if (wave.issuing.released == 0) {
      wave.issuing.released = group.context.log->addReleased(snapshot(wave));
      recent.op = ~0u;
    }
    record.released = wave.issuing.released;
  }
  order.touched = true;
  order.store = use.writes ? op.index : ~0u;
  wave.issuing.clock = order.clock;
  if (recent.op == op.index && recent.clock == order.clock && recent.under == under) {
    return recent.record;
  }
  record.clock = order.clock;
  recent = {op.index, order.clock, group.context.log->add(*group.records, record), under};
  return recent.record;
}

enum class Relation { ordered, unordered, invisible, stale };

Relation relate(const Wave &wave, const GlobalUse &use, const Record &before) {
  const Workgroup &group = *wave.group;
  if (before.group == group.linear &&
      (before.wave == wave.id || before.clock <= group.barrierClock[before.wave])) {
    return Relation::ordered;
  }
  if (!group.context.kernel->communicates) {
    return Relation::unordered;
  }
  const std::uint64_t uid = std::uint64_t{before.group} * maxGroupWaves + before.wave;
  const bool needsBack = before.writes && !before.through && before.group != group.linear;
  const auto covers = [&](const Reach &reach) {
    return before.clock <= (needsBack ? reach.back : reach.through);
  };
  const Reach *seen = wave.order.seen.find(uid);
  if (!seen || before.clock > seen->issued) {
    return Relation::unordered;
  }
  if (!covers(*seen)) {
    return Relation::invisible;
  }
  if (use.writes || use.atomic || !before.writes || before.group == group.linear) {
    return Relation::ordered;
  }
  const Reach *acquired = wave.order.acquired.find(uid);
  return acquired && covers(*acquired) ? Relation::ordered : Relation::stale;
}

const char *explain(Relation relation) {
  switch (relation) {
  case Relation::invisible:
    return "released before an s_waitcnt (and buffer_wbl2 or sc1) had made it visible";
  case Relation::stale:
    return "and no buffer_inv since: a cache may hold the old value";
  default:
    return "with nothing that orders the two";
  }
}

/// The record of the last store beneath a float atomic that finds `stamp`; 0: none, or unknown.
std::uint32_t storeUnder(const AccessLog &log, std::uint32_t stamp) {
  const Record &before = log.at(stamp >> 9);
  return before.rmw ? before.under : before.atomic ? 0 : stamp >> 9;
}

/// "was written by workgroup (1, 0, 0) wave 2 lane 3 at 0x40 (...)"; no lane if it is negative.
std::string describeBefore(const LaunchContext &context, const Record &before, int lane) {
  const KernelCode &kernel = *context.kernel;
  return fmt::format("was {} by workgroup {} wave {}{} at {:#x} ({})",
                     before.writes ? "written" : "read", placeOf(context, before.group),
                     before.wave, lane < 0 ? std::string() : fmt::format(" lane {}", lane),
                     kernel.offsets[before.op] - kernel.offsets[kernel.entryOp],
                     kernel.text[before.op]);
}

/// Compares with an earlier access to some of the same bytes.
void compare(Wave &wave, const Op &op, const GlobalUse &use, int lane, const Allocation &allocation,
             const Dword &dword, std::uint32_t stamp) {
  const AccessLog &log = *wave.group->context.log;
  const bool isUnder = use.rmw && log.at(stamp >> 9).under != 0;
  const Record &before = log.at(isUnder ? log.at(stamp >> 9).under : stamp >> 9);
  if (use.atomic && before.atomic) {
    return;
  }
  if (use.rmw && !before.writes) {
    return; // an ordinary load may be the first guess of a compare-and-swap loop
  }
  const Relation relation = relate(wave, use, before);
  if (relation == Relation::ordered) {
    return;
  }
  const int beforeLane = isUnder ? -1 : static_cast<int>(stamp >> 3 & 63);
  std::string text =
      fmt::format("offset {} of '{}' is {} here and {}, {}", dword.from, allocation.name,
                  use.writes ? "written" : "read",
                  describeBefore(wave.group->context, before, beforeLane), explain(relation));
  if (before.rmw && !use.writes) {
    wave.order.guesses.try_emplace(allocation.base + 4 * dword.index,
                                   WaveOrder::Guess{op.index, lane, std::move(text)});
    return;
  }
  wave.report(FindingKind::globalRace, op, lane, std::move(text));
}

/// An atomic continues the release that it finds; it takes part in it if it returns.
std::uint32_t meet(Wave &wave, const GlobalUse &use, std::uint32_t record, std::uint32_t stamp) {
  AccessLog &log = *wave.group->context.log;
  const Record &earlier = log.at(stamp >> 9), &now = log.at(record);
  const bool isSame = earlier.group == now.group && earlier.wave == now.wave &&
                      earlier.clock == now.clock && earlier.op == now.op;
  if (use.rmw && isSame) {
    return stamp >> 9; // another lane of the instruction has met it
  }
  const ClockRef &before = log.released(earlier);
  if (!before) {
    return record;
  }
  if (use.acquires) {
    auto joined = std::make_shared<VectorClock>(*before);
    if (wave.issuing.acquired) {
      joined->join(*wave.issuing.acquired);
    }
    wave.issuing.acquired = std::move(joined);
  }
  if (!use.rmw || record == 0) {
    return record;
  }
  Record own = log.at(record);
  const ClockRef &mine = log.released(own);
  auto joined = std::make_shared<VectorClock>(*before);
  if (mine) {
    joined->join(*mine);
  }
  own.released = log.addReleased(std::move(joined));
  return log.add(*wave.group->records, own);
}

} // namespace

GlobalUse GlobalUse::of(const Op &op) {
  GlobalUse use;
  const bool scalar = op.kind == Kind::smem;
  // Whatever is cached non-temporally, or wider than an atomic can be, is data.
  const bool coherent = scalar ? op.cachePolicy & cachePolicy::sc0
                               : (op.cachePolicy & (cachePolicy::sc0 | cachePolicy::sc1)) &&
                                     !(op.cachePolicy & cachePolicy::nt) && op.accessBytes <= 8;
  use.rmw = op.access == Access::atomic;
  use.writes = use.rmw || op.access == Access::store;
  use.reads = op.access != Access::store;
  use.atomic = use.rmw || coherent || (scalar && use.writes);
  use.through = use.atomic || (op.cachePolicy & cachePolicy::sc1);
  use.releases = use.writes && use.atomic && !op.floatAtomic;
  use.acquires = use.rmw ? op.glc && !op.floatAtomic : use.reads && use.atomic;
  return use;
}

void WaveOrder::reset(std::uint64_t id) {
  *this = WaveOrder();
  uid = id;
}

std::uint32_t AccessLog::add(Block &block, const Record &record) {
  if (block.next == block.end) {
    const std::lock_guard lock(mutex);
    if (used == chunkLimit) {
      return 0;
    }
    chunks[used] = std::make_unique<Chunk>();
    block.next = used * chunkSize;
    block.end = ++used * chunkSize;
    block.next += block.next == 0; // index 0 means nobody
  }
  const std::uint32_t index = block.next++;
  (*chunks[index / chunkSize])[index % chunkSize] = record;
  return index;
}

std::uint32_t AccessLog::addReleased(ClockRef clock) {
  clocks.push_back(std::move(clock));
  return static_cast<std::uint32_t>(clocks.size() - 1);
}

bool AccessLog::StampLock::hold(const Allocation &allocation, std::uint64_t dword) {
  if (!log.parallel) {
    return false;
  }
  const std::uint64_t stretch =
      (allocation.base >> GlobalMemory::slotBits) * 0x9e3779b1 + dword / dwordsOfStretch;
  std::atomic_flag *wanted = &log.locks[stretch % log.locks.size()].isHeld;
  if (wanted == held) {
    return false;
  }
  release();
  for (unsigned tries = 1; wanted->test_and_set(std::memory_order_acquire); ++tries) {
    if (tries % 64 == 0) {
      std::this_thread::yield();
    }
  }
  held = wanted;
  return true;
}

void AccessLog::StampLock::release() {
  if (held) {
    held->clear(std::memory_order_release);
    held = nullptr;
  }
}

void noteGlobal(Wave &wave, const Op &op, const GlobalUse &use, int lane,
                const Allocation &allocation, std::uint64_t offset, unsigned count,
                AccessLog::StampLock &lock, const std::uint8_t *data) {
  Stamps &stamps = *allocation.stamps;
  const std::uint32_t record = recordOf(wave, op, use);
  if (use.writes && !stamps.written.load(std::memory_order_relaxed)) {
    stamps.written = true;
  }
  forEachDword(offset, count, [&](const Dword &dword) {
    std::uint32_t &writer = stamps.writers[dword.index];
    if (lock.hold(allocation, dword.index) && use.writes) {
      // Writes: a page that is read first is mapped twice, which interrupts the other cores.
      __atomic_fetch_or(&writer, 0, __ATOMIC_RELAXED);
    }
    const std::uint32_t before = writer;
    const auto meets = [&](std::uint32_t stamp) {
      return stamp != 0 && overlap(dword.part, stamp & 7);
    };
    if (!use.writes) {
      if (stamps.readers && !use.atomic) {
        stamps.readers[dword.index] = makeStamp(record, lane, dword.part);
      }
      if (meets(before)) {
        compare(wave, op, use, lane, allocation, dword, before);
      }
      if (before != 0 && use.acquires) {
        meet(wave, use, record, before);
      }
      return;
    }
    std::uint32_t own = record;
    if (use.rmw && before != 0) {
      own = meet(wave, use, record, before);
      if (own == record && !use.releases) {
        own = recordOf(wave, op, use, storeUnder(*wave.group->context.log, before));
      }
      wave.order.guesses.erase(allocation.base + 4 * dword.index);
    }
    writer = makeStamp(own, lane, dword.part);
    const std::uint32_t reader = stamps.readers ? stamps.readers[dword.index] : 0;
    if ((!meets(before) && !meets(reader)) ||
        (data && std::memcmp(data + (dword.from - offset), allocation.host + dword.from,
                             dword.to - dword.from) == 0)) {
      return;
    }
    for (const std::uint32_t earlier : {before, reader}) {
      if (meets(earlier)) {
        compare(wave, op, use, lane, allocation, dword, earlier);
      }
    }
  });
}

std::string describeWriter(const AccessLog &log, const LaunchContext &context,
                           std::uint64_t address) {
  const Allocation *allocation = context.memory->find(address, 1);
  if (!allocation || !allocation->stamps) {
    return {};
  }
  const std::uint32_t stamp = allocation->stamps->writers[(address - allocation->base) / 4];
  if (stamp == 0) {
    return {};
  }
  const Record &record = log.at(stamp >> 9);
  const KernelCode &kernel = *context.kernel;
  return fmt::format("{} at {:#x}, workgroup {} wave {} lane {}", kernel.text[record.op],
                     kernel.offsets[record.op] - kernel.offsets[kernel.entryOp],
                     placeOf(context, record.group), record.wave, stamp >> 3 & 63);
}

void noteWriteback(Wave &wave) {
  WaveOrder &order = wave.order;
  order.tick();
  auto &levels = order.writebacks.emplace_back(wave.group->barrierClock);
  levels[static_cast<std::size_t>(wave.id)] = order.clock - 1;
}

void noteWritebackDone(Wave &wave) {
  WaveOrder &order = wave.order;
  const auto levels = order.writebacks.front();
  order.writebacks.pop_front();
  for (std::size_t other = 0; other < wave.group->waves.size(); ++other) {
    order.known.raise(order.uid - static_cast<std::uint64_t>(wave.id) + other,
                      {levels[other], levels[other], levels[other]});
  }
}

void noteInvalidate(Wave &wave) { wave.order.acquired = wave.order.seen; }

void noteWaited(Wave &wave) {
  if (wave.group->context.kernel->communicates) {
    wave.order.tick();
  }
}

void noteAcquired(Wave &wave, const ClockRef &clock) {
  wave.order.seen.join(*clock);
  wave.order.known.join(*clock);
}

void orderAtBarrier(Workgroup &group) {
  const bool communicates = group.context.kernel->communicates;
  VectorClock known, seen, acquired;
  for (const auto &wave : group.waves) {
    WaveOrder &order = wave->order;
    order.tick();
    group.barrierClock[static_cast<std::size_t>(wave->id)] = order.clock - 1;
    if (communicates) {
      order.known.raise(order.uid, {order.clock - 1, completed(*wave), 0});
      known.join(order.known);
      seen.join(order.seen);
      acquired.join(order.acquired);
    }
  }
  if (communicates) {
    for (const auto &wave : group.waves) {
      wave->order.known = known;
      wave->order.seen = seen;
      wave->order.acquired = acquired;
    }
  }
}

void endOfOrder(Wave &wave) {
  for (auto &[address, guess] : wave.order.guesses) {
    wave.report(FindingKind::globalRace, wave.group->ops[guess.op], guess.lane,
                std::move(guess.text));
  }
  wave.order.guesses.clear();
}

} // namespace kw::detail
