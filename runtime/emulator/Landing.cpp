// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/Landing.h"

#include "runtime/emulator/Workgroup.h"

#include <algorithm>
#include <cstring>

namespace kw::detail {

namespace {

constexpr std::uint32_t poisonWord = 0x7fa5a5a5;
constexpr std::size_t vmemCapacity = 63, lgkmCapacity = 15; // of the counters

/// Bits of a destination that a load replaces.
std::uint32_t loadedBits(MemoryType type) {
  switch (type) {
  case MemoryType::d16:
  case MemoryType::d16SignExtend:
  case MemoryType::d16ZeroExtend:
    return 0xffff;
  case MemoryType::d16Hi:
  case MemoryType::d16HiSignExtend:
  case MemoryType::d16HiZeroExtend:
    return 0xffff0000;
  default:
    return ~0u;
  }
}

bool inVmem(Kind kind) {
  return kind == Kind::buffer || kind == Kind::global || kind == Kind::flat ||
         kind == Kind::scratch || kind == Kind::cache;
}

void putLanes(Register &to, const std::array<std::uint32_t, laneCount> &from, std::uint64_t lanes,
              std::uint32_t mask) {
  for (int lane = 0; lane < laneCount; ++lane) {
    if (lanes >> lane & 1) {
      to[lane] = (to[lane] & ~mask) | (from[lane] & mask);
    }
  }
}

} // namespace

Flights::Flights(bool random, std::uint32_t seed) : choice(seed), random(random) {
  choice.discard(3);
  poison = choice() & 64;
}

void Flights::execute(Wave &wave, const Op &op) {
  if (random) {
    landSome(wave);
  }
  if (op.kind == Kind::lds) {
    launchLds(wave, op);
  } else if (op.kind == Kind::ldsNoMemory) {
    launchLoad(wave, op, lds);
  } else if (op.kind == Kind::smem) {
    launchScalar(wave, op);
  } else if (op.access == Access::loadToLds) {
    launchToLds(wave, op);
  } else if (inVmem(op.kind)) {
    launchLoad(wave, op, vmem);
  } else {
    op.run(wave, op);
  }
  landDownTo(wave, vmem, vmemCapacity);
  landDownTo(wave, lds, lgkmCapacity);
}

// ---- Launch

void Flights::launchLoad(Wave &wave, const Op &op, std::deque<Flight> &queue) {
  Flight &flight = queue.emplace_back();
  flight.op = &op;
  flight.exec = wave.exec();
  const Operand &result = op.result[0];
  if (op.resultCount == 0 || result.file != File::vector) {
    op.run(wave, op);
    return;
  }
  std::vector<std::array<std::uint32_t, laneCount>> before(result.words);
  for (std::size_t word = 0; word < before.size(); ++word) {
    std::copy_n(wave.vgpr[result.reg + word], laneCount, before[word].begin());
  }
  op.run(wave, op);
  flight.words.resize(result.words);
  const std::uint32_t mask = loadedBits(op.memoryType);
  for (std::size_t word = 0; word < before.size(); ++word) {
    Register &reg = wave.vgpr[result.reg + word];
    std::copy_n(reg, laneCount, flight.words[word].begin());
    std::copy_n(before[word].begin(), laneCount, reg);
    for (int lane = 0; poison && lane < laneCount; ++lane) {
      reg[lane] = flight.exec >> lane & 1 ? (reg[lane] & ~mask) | (poisonWord & mask) : reg[lane];
    }
  }
}

void Flights::launchToLds(Wave &wave, const Op &op) {
  Flight &flight = vmem.emplace_back();
  flight.op = &op;
  flight.interval = wave.group->interval;
  flight.capture = std::make_unique<LdsCapture>();
  wave.capture = flight.capture.get();
  op.run(wave, op);
  wave.capture = nullptr;
}

void Flights::launchLds(Wave &wave, const Op &op) {
  Flight &flight = lds.emplace_back();
  flight.op = &op;
  flight.exec = wave.exec();
  flight.interval = wave.group->interval;
  for (int i = 0; i < op.sourceCount; ++i) {
    const Operand &source = op.source[i];
    for (int word = 0; source.file == File::vector && word < source.words; ++word) {
      std::copy_n(wave.vgpr[source.reg + word], laneCount, flight.words.emplace_back().begin());
    }
  }
  const Operand &result = op.result[0];
  const std::uint32_t mask = loadedBits(op.memoryType);
  for (int word = 0; poison && op.resultCount > 0 && word < result.words; ++word) {
    std::array<std::uint32_t, laneCount> bad;
    bad.fill(poisonWord);
    putLanes(wave.vgpr[result.reg + word], bad, flight.exec, mask);
  }
}

void Flights::launchScalar(Wave &wave, const Op &op) {
  Flight &flight = smem.emplace_back();
  flight.op = &op;
  const Operand &result = op.result[0];
  const int words = op.resultCount > 0 && result.file == File::scalar ? result.words : 0;
  const std::vector<std::uint32_t> before(&wave.sgpr[result.reg], &wave.sgpr[result.reg] + words);
  op.run(wave, op);
  flight.scalars.assign(&wave.sgpr[result.reg], &wave.sgpr[result.reg] + words);
  for (int word = 0; word < words; ++word) {
    wave.sgpr[result.reg + word] = poison ? poisonWord : before[static_cast<std::size_t>(word)];
  }
}

// ---- Landing

void Flights::landLds(Wave &wave, const Flight &flight) {
  const Op &op = *flight.op;
  const std::uint64_t exec = wave.exec();
  wave.setScalar64(scalarReg::exec, flight.exec);
  struct Saved {
    int reg;
    std::array<std::uint32_t, laneCount> lanes;
  };
  std::vector<Saved> saved;
  std::size_t at = 0;
  for (int i = 0; i < op.sourceCount; ++i) {
    const Operand &source = op.source[i];
    for (int word = 0; source.file == File::vector && word < source.words; ++word) {
      Register &reg = wave.vgpr[source.reg + word];
      Saved &now = saved.emplace_back();
      now.reg = source.reg + word;
      std::copy_n(reg, laneCount, now.lanes.begin());
      std::copy_n(flight.words[at++].begin(), laneCount, reg);
    }
  }
  // Results over operands: lanes that are off keep what the register holds now.
  const Operand &result = op.result[0];
  const auto isResult = [&](int reg) {
    return op.resultCount > 0 && reg >= result.reg && reg < result.reg + result.words;
  };
  op.run(wave, op);
  for (auto back = saved.rbegin(); back != saved.rend(); ++back) {
    const std::uint64_t lanes = isResult(back->reg) ? ~flight.exec : allLanes;
    putLanes(wave.vgpr[back->reg], back->lanes, lanes, ~0u);
  }
  wave.setScalar64(scalarReg::exec, exec);
}

void Flights::land(Wave &wave, const Flight &flight) {
  const Op &op = *flight.op;
  if (op.kind == Kind::lds) {
    landLds(wave, flight);
  } else if (flight.capture) {
    for (const auto &other : wave.group->waves) {
      other->flights->landReadsBefore(*other, flight.interval);
    }
    const LdsCapture &capture = *flight.capture;
    for (int lane = 0; lane < laneCount; ++lane) {
      if (capture.lanes >> lane & 1) {
        std::memcpy(wave.group->lds.data() + capture.address[static_cast<std::size_t>(lane)],
                    capture.data[static_cast<std::size_t>(lane)].data(), capture.bytes);
      }
    }
  } else {
    for (std::size_t word = 0; word < flight.words.size(); ++word) {
      putLanes(wave.vgpr[op.result[0].reg + word], flight.words[word], flight.exec,
               loadedBits(op.memoryType));
    }
    std::copy(flight.scalars.begin(), flight.scalars.end(), &wave.sgpr[op.result[0].reg]);
  }
}

void Flights::landReadsBefore(Wave &wave, std::uint32_t interval) {
  std::size_t count = 0;
  for (std::size_t i = 0; i < lds.size() && lds[i].interval < interval; ++i) {
    count = lds[i].op->access == Access::load ? i + 1 : count;
  }
  landDownTo(wave, lds, lds.size() - count);
}

void Flights::landDownTo(Wave &wave, std::deque<Flight> &queue, std::size_t left) {
  while (queue.size() > left) {
    const Flight flight = std::move(queue.front());
    queue.pop_front();
    land(wave, flight);
  }
}

void Flights::waitFor(Wave &wave, unsigned vmemLeft, unsigned lgkmLeft) {
  landDownTo(wave, vmem, vmemLeft);
  landDownTo(wave, lds, lgkmLeft);
  if (lgkmLeft == 0) {
    for (const Flight &flight : smem) {
      land(wave, flight);
    }
    smem.clear();
  }
}

void Flights::landAll(Wave &wave) { waitFor(wave, 0, 0); }

/// The pace changes now and then: long stretches without anything, and with nearly everything.
void Flights::landSome(Wave &wave) {
  if (choice() % 256 == 0) {
    constexpr unsigned chances[] = {0, 1, 8, 32};
    chance = chances[choice() / 7 % std::size(chances)];
  }
  if (choice() / 16 % 64 >= chance) {
    return;
  }
  switch (choice() / 16 % 3) {
  case 0:
    landDownTo(wave, vmem, vmem.size() - std::min<std::size_t>(vmem.size(), 1));
    break;
  case 1:
    landDownTo(wave, lds, lds.size() - std::min<std::size_t>(lds.size(), 1));
    break;
  default:
    if (!smem.empty()) {
      const std::size_t which = choice() / 16 % smem.size();
      land(wave, smem[which]);
      smem.erase(smem.begin() + static_cast<std::ptrdiff_t>(which));
    }
  }
}

} // namespace kw::detail
