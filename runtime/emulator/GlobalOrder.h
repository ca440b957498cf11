// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Races in global memory: strict mode's record of who touched each dword last, and what each wave
// knows of the others.
//
// Shadow: two 32-bit stamps for each dword of an allocation, last writer and last reader, in lazily
// backed pages. A stamp names a record (wave, instruction, clock) and the lane. Buffers that the
// host declared as inputs have no reader stamps until somebody writes to them.
//
// Clocks. Each wave counts intervals; an access is stamped with the wave's interval. Where kernels
// communicate an interval ends behind a store and at a wait, so that what is visible by a release
// doesn't depend on what was issued later. Inside a
// workgroup a barrier orders what was *issued* before it (one CU, one L1 that takes its accesses in
// order; LLVM's memory model needs no vmcnt there). Between workgroups a release orders what is
// *visible* by then: accesses whose s_waitcnt is past and which were written through (sc1, atomics)
// or back (buffer_wbl2 that has been waited for; it covers what a barrier had ordered before it).
//
//   release   an atomic of integers, a store of at most 8 bytes with sc0 or sc1, s_store, s_atomic
//   acquire   an atomic that returns, a load with sc0 or sc1, a scalar load with glc; it counts
//   once
//             it has been waited for. Ordinary loads need a buffer_inv after that.
//
// A release carries what its wave knows (a vector clock, shared by the records of one interval).
// Float sums order nothing, so a record of one remembers the store beneath: a sum that may come
// before the zeros does so too where another sum has come in between.
// [LLVM AMDGPU usage: memory model gfx942]
#pragma once

#include "runtime/emulator/GlobalMemory.h"
#include "runtime/emulator/Op.h"
#include "runtime/emulator/VectorClock.h"

#include <array>
#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

namespace kw::detail {

struct LaunchContext;
struct Wave;
struct Workgroup;

using ClockRef = std::shared_ptr<const VectorClock>;

/// A wave's part. `known` goes out with a release; `seen` is ordered before what it does next,
/// `acquired` also for loads through its caches.
struct WaveOrder {
  std::uint64_t uid = 0;
  std::uint32_t clock = 1;
  bool touched = false;      ///< in this interval
  std::uint32_t store = ~0u; ///< instruction of this interval that has stored
  VectorClock known, seen, acquired;
  std::deque<std::array<std::uint32_t, maxGroupWaves>> writebacks; ///< buffer_wbl2 in flight
  struct Recent {
    std::uint32_t op = ~0u, clock = 0, record = 0, under = 0;
  };
  std::array<Recent, 16> recent;
  /// Ordinary loads of what others change by atomics: an error unless a compare-and-swap by this
  /// wave follows (the first guess of a loop). By granule address.
  struct Guess {
    std::uint32_t op = 0;
    int lane = 0;
    std::string text;
  };
  std::map<std::uint64_t, Guess> guesses;

  void reset(std::uint64_t id);
  /// Begins a new interval unless nothing happened in this one.
  void tick() {
    clock += touched;
    touched = false;
    store = ~0u;
  }
};

/// All records of a launch. Thread-safe.
class AccessLog {
public:
  struct Record {
    std::uint32_t group = 0; ///< a launch has less than 2^32
    std::uint32_t clock = 0, op = 0, released = 0;
    std::uint32_t under = 0; ///< of a float atomic: record of the last store below the sums
    std::uint8_t wave = 0;
    bool writes : 1 = false, through : 1 = false, atomic : 1 = false, rmw : 1 = false;
  };
  /// Indices that one workgroup may fill.
  struct Block {
    std::uint32_t next = 0, end = 0;
  };

  explicit AccessLog(bool parallel) : parallel(parallel) {}
  /// 0: the log is full, the access leaves no trace.
  std::uint32_t add(Block &block, const Record &record);
  const Record &at(std::uint32_t index) const {
    return (*chunks[index / chunkSize])[index % chunkSize];
  }
  std::uint32_t addReleased(ClockRef clock);
  const ClockRef &released(const Record &record) const { return clocks[record.released]; }

  /// One thread at a time uses the stamps of a stretch of an allocation. Where workgroups run in
  /// one thread it does nothing.
  class StampLock {
  public:
    explicit StampLock(AccessLog &log) : log(log) {}
    ~StampLock() { release(); }
    StampLock(const StampLock &) = delete;
    StampLock &operator=(const StampLock &) = delete;
    /// Holds the stretch around a dword, and no other. True: it didn't before.
    bool hold(const GlobalMemory::Allocation &allocation, std::uint64_t dword);

  private:
    void release();
    AccessLog &log;
    std::atomic_flag *held = nullptr;
  };

  const bool parallel; ///< workgroups run in several threads

private:
  static constexpr std::uint32_t chunkSize = 1024, chunkLimit = 6144; // 126 MB
  using Chunk = std::array<Record, chunkSize>;
  std::array<std::unique_ptr<Chunk>, chunkLimit> chunks;
  std::uint32_t used = 0;
  std::deque<ClockRef> clocks{nullptr};
  std::mutex mutex;
  /// Stretches share locks by chance; each lock has a cache line.
  static constexpr std::uint64_t dwordsOfStretch = 64;
  struct alignas(64) Lock {
    std::atomic_flag isHeld;
  };
  std::array<Lock, 512> locks;
};

/// Strict: notes that `count` bytes at `offset` of an allocation are used by one lane, before the
/// data moves; reports races. `data`: what a store writes (the same bytes as before are no race).
/// `lock`: of the launch's log; kept from lane to lane.
void noteGlobal(Wave &wave, const Op &op, const GlobalUse &use, int lane,
                const GlobalMemory::Allocation &allocation, std::uint64_t offset, unsigned count,
                AccessLog::StampLock &lock, const std::uint8_t *data = nullptr);

/// Whether noteGlobal has anything to do for an allocation.
inline bool isTracked(const GlobalMemory::Allocation &allocation, const GlobalUse &use) {
  const GlobalMemory::Stamps *stamps = allocation.stamps.get();
  return stamps &&
         (use.writes || stamps->readers || stamps->written.load(std::memory_order_relaxed));
}

/// Who wrote the byte at an emulated address last: "global_store_dword at 0x40, workgroup (0, 0, 0)
/// wave 1 lane 7", or empty.
std::string describeWriter(const AccessLog &log, const LaunchContext &context,
                           std::uint64_t address);

/// buffer_wbl2 and buffer_inv.
void noteWriteback(Wave &wave);
void noteWritebackDone(Wave &wave);
void noteInvalidate(Wave &wave);
/// Accesses to global memory have been waited for.
void noteWaited(Wave &wave);
/// An acquiring access has been waited for.
void noteAcquired(Wave &wave, const ClockRef &clock);
/// All waves have arrived at a barrier.
void orderAtBarrier(Workgroup &group);
/// Reports what is left in `guesses`.
void endOfOrder(Wave &wave);

} // namespace kw::detail
