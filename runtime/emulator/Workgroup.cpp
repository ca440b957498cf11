// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/Workgroup.h"

#include "runtime/emulator/Checker.h"
#include "runtime/emulator/FloatMode.h"

#include <algorithm>
#include <fmt/core.h>
#include <optional>

namespace kw::detail {

namespace {

std::uint32_t productOf(const std::array<std::uint32_t, 3> &sizes) {
  return sizes[0] * sizes[1] * sizes[2];
}

/// Bits of kernel_code_properties: which user SGPRs a wave starts with, in this order.
enum Property : unsigned {
  privateBuffer = 1 << 0,
  dispatchPointer = 1 << 1,
  queuePointer = 1 << 2,
  kernargPointer = 1 << 3,
  dispatchId = 1 << 4,
  flatScratchInit = 1 << 5,
  privateSize = 1 << 6,
};

} // namespace

Workgroup::Workgroup(const LaunchContext &context)
    : context(context), ops(context.kernel->ops.data()),
      lds(context.ldsBytes, context.options.strict), strict(context.options.strict) {
  const std::uint32_t items = productOf(context.launch.block);
  for (std::uint32_t i = 0; i < (items + laneCount - 1) / laneCount; ++i) {
    waves.push_back(std::make_unique<Wave>());
  }
}

void Workgroup::start(std::array<std::uint32_t, 3> workgroup, std::uint64_t linearId) {
  id = workgroup;
  linear = linearId;
  barrierClock.fill(0);
  turns.seed(
      static_cast<std::uint32_t>(context.options.seed * 0x9e3779b1u + linear * 0x85ebca6bu + 1));
  turns.discard(2);
  lds.reset();
  findings.clear();
  error.clear();
  instructions = advances = 0;
  matrixFlops = 0;
  stopped = false;
  for (std::size_t i = 0; i < waves.size(); ++i) {
    auto &wave = *waves[i];
    startWave(wave, static_cast<int>(i));
  }
  turn = turns() % waves.size();
}

void Workgroup::startWave(Wave &wave, int index) {
  const KernelDescriptor &descriptor = context.kernel->descriptor;
  // Reset everything but the big register file, whose used part is poisoned.
  wave.resetShadow();
  constexpr std::uint32_t poison = 0x7fa5a5a5; // a NaN, in f16 and bf16 too
  const int used = std::min(vectorRegisterCount,
                            std::max(descriptor.allocatedVgprs(), descriptor.accumOffset()));
  std::fill_n(wave.vgpr[0], used * laneCount, poison);
  wave.sgpr.fill(poison);
  wave.id = index;
  wave.group = this;
  wave.order.reset(linear * maxGroupWaves + static_cast<std::uint64_t>(index));
  wave.pc = context.kernel->entryOp;
  wave.flights.reset();
  if (context.options.landing != Landing::early) {
    wave.flights = std::make_unique<Flights>(context.options.landing == Landing::random,
                                             static_cast<std::uint32_t>(turns()) + 1);
  }
  const std::uint32_t rsrc1 = descriptor.rsrc1;
  wave.mode = descriptor.floatMode() | (rsrc1 >> 21 & 1) << 8 | (rsrc1 >> 23 & 1) << 9 |
              (rsrc1 >> 26 & 1) << 23;

  const auto &block = context.launch.block;
  const std::uint32_t items = productOf(block),
                      first = static_cast<std::uint32_t>(index) * laneCount;
  for (std::uint32_t lane = 0; lane < laneCount; ++lane) {
    const std::uint32_t item = first + lane;
    const std::uint32_t x = item % block[0], y = item / block[0] % block[1],
                        z = item / block[0] / block[1];
    wave.vgpr[0][lane] = x | y << 10 | z << 20;
  }
  const std::uint32_t live = std::min<std::uint32_t>(items - first, laneCount);
  const std::uint64_t exec = live == laneCount ? allLanes : (std::uint64_t{1} << live) - 1;
  wave.vgprValid[0] = exec;
  const auto set = [&](int reg, std::uint32_t value) {
    if (reg < scalarReg::flatScratch || reg >= scalarReg::exec) {
      wave.sgpr[reg] = value;
      wave.sgprValid[reg] = ~0u;
    }
  };
  const auto set64 = [&](int reg, std::uint64_t value) {
    set(reg, static_cast<std::uint32_t>(value));
    set(reg + 1, static_cast<std::uint32_t>(value >> 32));
  };
  set64(scalarReg::exec, exec);

  int next = 0;
  const unsigned properties = descriptor.properties;
  if (properties & privateBuffer) {
    next += 4;
  }
  if (properties & dispatchPointer) {
    set64(next, context.dispatchPacket);
    next += 2;
  }
  if (properties & queuePointer) {
    next += 2;
  }
  if (properties & kernargPointer) {
    set64(next, context.kernarg);
    next += 2;
  }
  if (properties & dispatchId) {
    set64(next, 0);
    next += 2;
  }
  if (properties & flatScratchInit) {
    next += 2;
  }
  if (properties & privateSize) {
    set(next, descriptor.scratchBytes);
  }
  // Preloaded kernel arguments stay undefined: execution enters at offset 0, where code that asks
  // for them loads them itself.
  int system = descriptor.userSgprs();
  for (int axis = 0; axis < 3; ++axis) {
    if (descriptor.rsrc2 >> (7 + axis) & 1) {
      set(system++, id[axis]);
    }
  }
  if (descriptor.rsrc2 >> 10 & 1) {
    set(system, 0);
  }
  const std::size_t dwords = (descriptor.scratchBytes + 3) / 4;
  wave.scratch.assign(dwords * laneCount, poison);
  wave.scratchValid.assign(dwords * laneCount, 0);
}

bool Workgroup::run(std::uint64_t count) {
  const std::uint64_t limit = instructions + count;
  while (instructions < limit && error.empty() && !stopped) {
    Wave *next = nullptr;
    turn = context.options.wildTurns ? turns() / 16 % waves.size() : turn;
    for (std::size_t i = 0; i < waves.size() && !next; ++i) {
      turn = (turn + 1) % waves.size();
      if (waves[turn]->state == Wave::State::running) {
        next = waves[turn].get();
      }
    }
    if (next) {
      runSlice(*next, turnLength());
    } else if (!releaseBarrier()) {
      return true;
    }
  }
  return !error.empty() || stopped;
}

/// Instructions of the next turn. Wild: 1 to 2^12, every magnitude alike.
std::uint64_t Workgroup::turnLength() {
  return context.options.wildTurns ? std::uint64_t{1} << turns() / 16 % 13 : 64 + turns() % 192;
}

void Workgroup::runSlice(Wave &wave, std::uint64_t count) {
  std::optional<HostFloatMode> mode(std::in_place, wave.mode);
  wave.modeChanged = false;
  const Op *const code = ops;
  std::uint64_t executed = 0;
  for (bool go = true; go;) {
    const Op &op = code[wave.pc];
    if (!op.run) {
      const auto &invalid = context.kernel->invalid;
      const auto why = invalid.find(op.index);
      wave.fail(op,
                why == invalid.end() ? "unknown instruction" : "invalid encoding: " + why->second);
      break;
    }
    if (strict) {
      beforeExecution(wave, op);
    }
    wave.next = wave.pc + 1;
    if (wave.flights) {
      wave.flights->execute(wave, op);
    } else {
      op.run(wave, op);
    }
    if (strict) {
      afterExecution(wave, op);
    }
    advances += op.advances;
    wave.pc = wave.next;
    go = ++executed < count && op.kind != Kind::wait && wave.state == Wave::State::running;
    if (wave.modeChanged) {
      mode.emplace(wave.mode);
      wave.modeChanged = false;
    }
  }
  instructions += executed;
  wave.executed += executed;
  if (wave.executed > context.options.instructionBudget && wave.state == Wave::State::running) {
    wave.report(
        FindingKind::hang, code[wave.pc], -1,
        fmt::format("wave executed more than {} instructions", context.options.instructionBudget));
    stopped = true;
  }
}

void Workgroup::reportHang() {
  for (const auto &wave : waves) {
    if (wave->state == Wave::State::running) {
      wave->report(FindingKind::hang, ops[wave->pc], -1,
                   "all resident workgroups poll and nothing changes");
      return;
    }
  }
}

// False: every wave has ended.
bool Workgroup::releaseBarrier() {
  std::size_t ended = 0;
  Wave *waiting = nullptr;
  for (const auto &wave : waves) {
    ended += wave->state == Wave::State::ended;
    waiting = wave->state == Wave::State::atBarrier && !waiting ? wave.get() : waiting;
  }
  if (!waiting) {
    return false;
  }
  if (ended > 0 && strict) {
    // Hardware counts ended waves out, but nobody means this.
    waiting->report(FindingKind::barrierDivergence, ops[waiting->pc - 1], -1,
                    fmt::format("{} of {} waves had ended", ended, waves.size()));
  }
  std::uint32_t oldest = 0;
  for (const auto &wave : waves) {
    const std::uint32_t serial = oldestLdsWrite(*wave);
    oldest = serial != 0 && (oldest == 0 || serial < oldest) ? serial : oldest;
  }
  lds.barrier(oldest);
  ++interval;
  if (strict) {
    orderAtBarrier(*this);
  }
  for (const auto &wave : waves) {
    if (wave->state == Wave::State::atBarrier) {
      if (strict) {
        carryReadsOverBarrier(*wave);
      }
      wave->state = Wave::State::running;
    }
  }
  turn = (turn + turns()) % waves.size();
  return true;
}

} // namespace kw::detail
