// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The state of one wave: registers as [register][lane], the strict shadow of each register, and
// the queues of memory accesses that have not been waited for.
#pragma once

#include "runtime/emulator/Finding.h"
#include "runtime/emulator/GlobalOrder.h"
#include "runtime/emulator/Landing.h"
#include "runtime/emulator/Op.h"

#include <array>
#include <bit>
#include <cstdint>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace kw::detail {

struct Workgroup;

/// A memory access that has been issued and not been waited for.
struct Outstanding {
  std::uint32_t op = 0; ///< index of the instruction
  File file = File::none;
  std::uint8_t words = 0;
  std::uint16_t first = 0; ///< destination registers
  bool loadToLds = false;
  bool ldsWrite = false;
  std::uint32_t serial = 0; ///< of an LDS write (Lds.h)
  /// Global memory (GlobalOrder.h): the interval (0: leaves no stamps), what it releases (index)
  /// and acquires.
  std::uint32_t clock = 0, released = 0;
  ClockRef acquired;
  /// LDS reads: where, to carry them over a barrier.
  std::uint16_t readBytes = 0;
  std::uint64_t lanes = 0;
  std::array<std::uint32_t, laneCount> address;
};

/// In-order queue of a wait counter. `capacity` is the largest count that the counter can express;
/// hardware stalls the issue beyond it, so that the oldest entry is complete then.
template <std::size_t capacity> class CounterQueue {
public:
  std::size_t size() const { return count; }
  bool full() const { return count == capacity; }
  void clear() { count = 0; }
  Outstanding &push() {
    Outstanding &entry = entries[(head + count++) % capacity];
    return entry;
  }
  Outstanding &front() { return entries[head]; }
  Outstanding &at(std::size_t i) { return entries[(head + i) % capacity]; }
  const Outstanding &at(std::size_t i) const { return entries[(head + i) % capacity]; }
  void pop() {
    head = (head + 1) % capacity;
    --count;
  }

private:
  std::array<Outstanding, capacity> entries;
  std::size_t head = 0, count = 0;
};

/// Who wrote a register last, for the wait states of Hazards.h.
enum class Producer : std::uint8_t { none, valu, trans, xdl, nonXdl, f64Matrix, vmem, salu };

struct WriteStamp {
  std::uint32_t slot = 0; ///< issue slot
  Producer producer = Producer::none;
  std::uint8_t passes = 0;
  std::uint16_t first = 0; ///< matrix results: the whole tuple
  std::uint32_t op = 0;
};

struct Wave {
  enum class State : std::uint8_t { running, atBarrier, ended };

  alignas(64) Register vgpr[vectorRegisterCount];
  /// Where sources that are not plain registers, and results that are not written to all lanes, are
  /// put together: three words a source are enough for 64-bit ones.
  alignas(64) Register fetched[2 * maxSources];
  alignas(64) Register computed[4];
  std::array<std::uint32_t, scalarReg::count> sgpr{};
  bool scc = false;
  std::uint32_t mode = 0;
  bool modeChanged = false;
  std::uint32_t pc = 0, next = 0; ///< indices of instructions
  State state = State::running;
  int id = 0;
  Workgroup *group = nullptr;
  std::uint64_t executed = 0;
  std::uint8_t gprIndexMode = 0; ///< s_set_gpr_idx_on: bit 0 src0, 1 src1, 2 src2, 3 dst

  // Strict.
  std::array<std::uint64_t, vectorRegisterCount> vgprValid{}; ///< a bit a lane
  std::array<std::uint32_t, scalarReg::count> sgprValid{};    ///< a bit a bit
  bool sccValid = false;
  std::array<std::uint32_t, vectorRegisterCount> vgprOrigin{}; ///< who left it undefined: op + 1
  std::array<std::uint32_t, scalarReg::count> sgprOrigin{};
  Outstanding issuing; ///< filled by the handler of a memory access, queued when it is done
  CounterQueue<63> vmem;
  CounterQueue<15> lds;
  std::vector<Outstanding> smem;
  std::array<std::uint8_t, vectorRegisterCount> vgprPending{}; ///< accesses that will write it
  std::array<std::uint8_t, scalarReg::count> sgprPending{};
  unsigned pendingVector = 0, pendingScalar = 0;
  std::uint32_t slot = 1000;
  std::uint32_t matrixSlot = 0; ///< of the last matrix instruction
  std::uint32_t matrixFree = 0; ///< a pass takes a slot: the next one is not issued before
  std::uint32_t transSlot = 0;  ///< of the last transcendental one
  std::array<WriteStamp, vectorRegisterCount> vgprWritten{};
  std::array<WriteStamp, scalarReg::count> sgprWritten{};
  std::array<WriteStamp, vectorRegisterCount> matrixReadC{};

  // Adversarial time, instead of strict.
  std::unique_ptr<Flights> flights;
  LdsCapture *capture = nullptr; ///< where the load to LDS at hand goes, if not to LDS

  WaveOrder order; ///< strict: among waves, in global memory

  std::vector<std::uint32_t> scratch; ///< [dword][lane]
  std::vector<std::uint8_t> scratchValid;

  /// Everything but the vector registers' contents as at the start of a wave, undefined.
  void resetShadow();

  std::uint64_t scalar64(int reg) const { return sgpr[reg] | std::uint64_t{sgpr[reg + 1]} << 32; }
  void setScalar64(int reg, std::uint64_t value) {
    sgpr[reg] = static_cast<std::uint32_t>(value);
    sgpr[reg + 1] = static_cast<std::uint32_t>(value >> 32);
  }
  std::uint64_t exec() const { return scalar64(scalarReg::exec); }
  std::uint64_t vcc() const { return scalar64(scalarReg::vcc); }

  /// A 32- or 64-bit scalar operand.
  std::uint32_t scalarOperand(const Operand &operand) const;
  std::uint64_t scalarOperand64(const Operand &operand) const;
  void writeScalar(const Operand &operand, std::uint32_t value) { sgpr[operand.reg] = value; }
  void writeScalar64(const Operand &operand, std::uint64_t value) {
    setScalar64(operand.reg, value);
  }

  void report(FindingKind kind, const Op &op, int lane, std::string detail);
  /// The emulator itself cannot go on (unknown instruction, unsupported mode).
  void fail(const Op &op, std::string why);
  bool strict() const;
};

} // namespace kw::detail
