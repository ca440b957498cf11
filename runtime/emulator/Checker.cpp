// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/Checker.h"

#include "runtime/emulator/Hazards.h"
#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/Fetch.h"

#include <algorithm>
#include <bit>
#include <fmt/core.h>

namespace kw::detail {

namespace {

std::string place(const Wave &wave, std::uint32_t index) {
  const KernelCode &kernel = *wave.group->context.kernel;
  return fmt::format("{:#x} ({})", kernel.offsets[index], kernel.text[index]);
}

bool isVectorMemory(Kind kind) {
  return kind == Kind::buffer || kind == Kind::global || kind == Kind::flat ||
         kind == Kind::scratch;
}
bool isLds(Kind kind) { return kind == Kind::lds || kind == Kind::ldsNoMemory; }

// ---- Waits
// ---------------------------------------------------------------------------------------

const Outstanding *findOutstanding(Wave &wave, const Operand &operand) {
  const auto covers = [&](const Outstanding &entry) {
    return entry.file == operand.file && operand.reg < entry.first + entry.words &&
           entry.first < operand.reg + operand.words;
  };
  for (std::size_t i = 0; i < wave.vmem.size(); ++i) {
    if (covers(wave.vmem.at(i))) {
      return &wave.vmem.at(i);
    }
  }
  for (std::size_t i = 0; i < wave.lds.size(); ++i) {
    if (covers(wave.lds.at(i))) {
      return &wave.lds.at(i);
    }
  }
  for (const Outstanding &entry : wave.smem) {
    if (covers(entry)) {
      return &entry;
    }
  }
  return nullptr;
}

bool isPending(const Wave &wave, const Operand &operand) {
  if (operand.file == File::vector && wave.pendingVector != 0) {
    for (int word = 0; word < operand.words; ++word) {
      if (wave.vgprPending[operand.reg + word] != 0) {
        return true;
      }
    }
  } else if (operand.file == File::scalar && wave.pendingScalar != 0) {
    for (int word = 0; word < operand.words; ++word) {
      if (wave.sgprPending[operand.reg + word] != 0) {
        return true;
      }
    }
  }
  return false;
}

void checkPending(Wave &wave, const Op &op, const Operand &operand, bool isWrite) {
  if (!isPending(wave, operand)) {
    return;
  }
  const Outstanding *entry = findOutstanding(wave, operand);
  if (!entry) {
    return;
  }
  const Kind kind = wave.group->ops[entry->op].kind;
  // Loads of one queue land in order: the later one wins, as it should.
  if (isWrite &&
      ((isVectorMemory(kind) && isVectorMemory(op.kind)) || (isLds(kind) && isLds(op.kind)))) {
    return;
  }
  const char *counter = isVectorMemory(kind) ? "vmcnt" : "lgkmcnt";
  wave.report(FindingKind::missingWait, op, -1,
              fmt::format("{} {}{} {} before an s_waitcnt {} for {}",
                          operand.file == File::vector ? "vector register" : "scalar register",
                          operand.reg, operand.words > 1 ? " and following" : "",
                          isWrite ? "is overwritten" : "is read", counter, place(wave, entry->op)));
}

template <class Array>
void addPending(Array &pending, unsigned &total, const Outstanding &entry, int by) {
  for (int word = 0; word < entry.words; ++word) {
    pending[entry.first + word] = static_cast<std::uint8_t>(pending[entry.first + word] + by);
    total += static_cast<unsigned>(by);
  }
}

void count(Wave &wave, const Outstanding &entry, int by) {
  if (entry.file == File::vector) {
    addPending(wave.vgprPending, wave.pendingVector, entry, by);
  } else if (entry.file == File::scalar) {
    addPending(wave.sgprPending, wave.pendingScalar, entry, by);
  }
}

void retire(Wave &wave, const Outstanding &entry) {
  count(wave, entry, -1);
  if (entry.acquired) {
    noteAcquired(wave, entry.acquired);
  }
  if (wave.group->ops[entry.op].writesBack) {
    noteWritebackDone(wave);
  }
  if (entry.loadToLds || entry.ldsWrite) {
    wave.group->lds.complete(wave.id, entry.loadToLds, entry.serial);
  }
}

template <std::size_t capacity>
void retireDownTo(Wave &wave, CounterQueue<capacity> &queue, std::size_t left) {
  while (queue.size() > left) {
    retire(wave, queue.front());
    queue.pop();
  }
}

template <std::size_t capacity>
void enqueue(Wave &wave, CounterQueue<capacity> &queue, const Outstanding &entry) {
  if (queue.full()) {
    retireDownTo(wave, queue, capacity - 1); // hardware stalls here
  }
  Outstanding &to = queue.push();
  to.op = entry.op;
  to.file = entry.file;
  to.words = entry.words;
  to.first = entry.first;
  to.loadToLds = entry.loadToLds;
  to.ldsWrite = entry.ldsWrite;
  to.serial = entry.serial;
  to.clock = entry.clock;
  to.acquired = entry.acquired;
  to.readBytes = entry.readBytes;
  if (entry.readBytes != 0) {
    to.lanes = entry.lanes;
    to.address = entry.address;
  }
}

// ---- Validity
// ------------------------------------------------------------------------------------

std::uint32_t originOf(const Wave &wave, const Operand &operand) {
  if (operand.file == File::vector) {
    for (int word = 0; word < operand.words; ++word) {
      if (wave.vgprValid[operand.reg + word] != allLanes && wave.vgprOrigin[operand.reg + word]) {
        return wave.vgprOrigin[operand.reg + word];
      }
    }
  } else if (operand.file == File::scalar) {
    for (int word = 0; word < operand.words; ++word) {
      if (wave.sgprValid[operand.reg + word] != ~0u && wave.sgprOrigin[operand.reg + word]) {
        return wave.sgprOrigin[operand.reg + word];
      }
    }
  }
  return 0;
}

bool scalarDefined(const Wave &wave, const Operand &operand) {
  if (operand.file != File::scalar) {
    return operand.file != File::special || operand.reg != 253 || wave.sccValid;
  }
  std::uint32_t defined = ~0u;
  for (int word = 0; word < operand.words; ++word) {
    defined &= wave.sgprValid[operand.reg + word];
  }
  return defined == ~0u;
}

void requireVector(Wave &wave, const Op &op, const Operand &operand, const char *what) {
  if (operand.file == File::vector) {
    const std::uint64_t bad = wave.exec() & ~definedLanes(wave, operand);
    if (bad != 0) [[unlikely]] {
      reportUndefined(wave, op, operand, bad, what);
    }
  }
}
void requireScalar(Wave &wave, const Op &op, const Operand &operand, const char *what) {
  if (operand.file == File::scalar && !scalarDefined(wave, operand)) [[unlikely]] {
    reportUndefined(wave, op, operand, 0, what);
  }
}

Operand scalarOperandAt(int reg, int words) {
  Operand operand;
  operand.file = File::scalar;
  operand.reg = static_cast<std::uint16_t>(reg);
  operand.words = static_cast<std::uint8_t>(words);
  return operand;
}

void requireScc(Wave &wave, const Op &op) {
  if (!wave.sccValid) {
    wave.report(FindingKind::uninitialisedRead, op, -1, "SCC is undefined here");
    wave.sccValid = true;
  }
}

void checkSinks(Wave &wave, const Op &op) {
  switch (op.kind) {
  case Kind::lds:
    requireVector(wave, op, op.source[0], "the LDS address");
    break;
  case Kind::ldsNoMemory:
    if (op.sourceCount > 1) {
      requireVector(wave, op, op.source[0], "the lane address");
    }
    break;
  case Kind::buffer:
  case Kind::global:
  case Kind::flat:
  case Kind::scratch:
    requireVector(wave, op, op.source[0], "the address");
    requireScalar(wave, op, op.source[1], "the base address or resource");
    requireScalar(wave, op, op.source[2], "the scalar offset");
    if (op.access == Access::loadToLds) {
      requireScalar(wave, op, scalarOperandAt(scalarReg::m0, 1), "M0, the LDS address");
    }
    break;
  case Kind::smem:
    requireScalar(wave, op, op.source[0], "the base address");
    requireScalar(wave, op, op.source[1], "the offset");
    requireScalar(wave, op, op.source[3], "the stored value");
    break;
  case Kind::branch:
    if (op.readsScc) {
      requireScc(wave, op);
    }
    // s_cbranch_vcc*: LLVM notes VCC as an implicit operand.
    if (op.readsVcc) {
      requireScalar(wave, op, scalarOperandAt(scalarReg::vcc, 2), "the branch condition VCC");
    }
    requireScalar(wave, op, op.source[0], "the jump target");
    break;
  case Kind::mfma:
    if (wave.exec() != allLanes) {
      wave.report(FindingKind::partialExec, op, -1,
                  fmt::format("EXEC is {:#x} at a matrix instruction", wave.exec()));
    }
    break;
  case Kind::valu:
    if (op.flow == Flow::handler && op.sourceCount > 1) {
      requireScalar(wave, op, op.source[1], "the lane number");
    }
    break;
  default:
    break;
  }
}

struct ScalarWord {
  std::uint32_t value, valid;
};
ScalarWord scalarWord(const Wave &wave, const Operand &operand, int word) {
  if (operand.file == File::scalar) {
    const int reg = operand.reg + std::min<int>(word, operand.words - 1);
    return {wave.sgpr[reg], wave.sgprValid[reg]};
  }
  return {static_cast<std::uint32_t>(operand.value >> (32 * word)), ~0u};
}

std::uint32_t flowBits(Flow flow, ScalarWord a, ScalarWord b) {
  const std::uint32_t both = a.valid & b.valid;
  switch (flow) {
  case Flow::bitAnd:
    return both | (a.valid & ~a.value) | (b.valid & ~b.value);
  case Flow::bitOr:
    return both | (a.valid & a.value) | (b.valid & b.value);
  case Flow::bitAndNot:
    return both | (a.valid & ~a.value) | (b.valid & b.value);
  default:
    return both;
  }
}

void setScalarValid(Wave &wave, const Op &op, int reg, std::uint32_t valid, std::uint32_t origin) {
  wave.sgprValid[reg] = valid;
  if (valid != ~0u) {
    wave.sgprOrigin[reg] = origin ? origin : op.index + 1;
  }
}

void flowScalar(Wave &wave, const Op &op) {
  std::uint32_t origin = 0;
  bool all = !op.readsScc || wave.sccValid;
  for (int i = 0; i < op.sourceCount; ++i) {
    all &= scalarDefined(wave, op.source[i]);
    origin = origin ? origin : originOf(wave, op.source[i]);
  }
  if (op.flow == Flow::accumulate && op.resultCount > 0) {
    all &= scalarDefined(wave, op.result[0]);
  }
  const bool savesExec = op.writesExec && op.readsExecAsSource;
  const bool bitwise = op.flow == Flow::bits || op.flow == Flow::bitAnd || op.flow == Flow::bitOr ||
                       op.flow == Flow::bitAndNot;
  std::uint32_t valid[2] = {all ? ~0u : 0, all ? ~0u : 0};
  if (!all && bitwise) {
    for (int word = 0; word < 2; ++word) {
      const ScalarWord a = scalarWord(wave, op.source[0], word);
      const ScalarWord b = savesExec            ? ScalarWord{wave.sgpr[scalarReg::exec + word], ~0u}
                           : op.sourceCount > 1 ? scalarWord(wave, op.source[1], word)
                                                : ScalarWord{0, ~0u};
      valid[word] = flowBits(op.flow, a, b);
    }
  } else if (!all && op.flow == Flow::select && wave.sccValid) {
    const Operand &chosen = op.source[wave.scc ? 0 : 1];
    for (int word = 0; word < 2; ++word) {
      valid[word] = scalarWord(wave, chosen, word).valid;
    }
  }
  if (!all && (op.flow == Flow::carryUp || op.flow == Flow::carryDown)) {
    const int word = op.flow == Flow::carryUp ? 0 : 1;
    const bool defined =
        scalarWord(wave, op.source[0], word).valid == ~0u && scalarDefined(wave, op.source[1]);
    valid[word] = defined ? ~0u : 0;
  }
  const bool allValid = (valid[0] & valid[1]) == ~0u;
  if (op.writesExec && !allValid) {
    reportUndefined(wave, op, op.source[0], 0, "EXEC");
    valid[0] = valid[1] = ~0u;
  }
  if (op.resultCount > 0 && op.result[0].file == File::scalar) {
    for (int word = 0; word < op.result[0].words; ++word) {
      setScalarValid(wave, op, op.result[0].reg + word, savesExec ? ~0u : valid[word & 1], origin);
    }
  }
  if (op.writesScc) {
    wave.sccValid = allValid;
  }
}

/// Validity of source 0 as DPP permutes it; lanes that are not written leave `written`.
std::uint64_t permuteDpp(const Wave &wave, const Op &op, std::uint64_t valid,
                         std::uint64_t &written) {
  const std::uint64_t exec = wave.exec();
  std::uint64_t result = 0;
  for (int lane = 0; lane < laneCount; ++lane) {
    const int from = dppSource(op, lane);
    const bool readable = from >= 0 && (exec >> from & 1);
    if (from == -2 || (!readable && !op.boundCtrl)) {
      written &= ~(std::uint64_t{1} << lane);
    }
    result |= std::uint64_t{!readable || (valid >> from & 1)} << lane;
  }
  return result;
}

void setVectorValid(Wave &wave, const Op &op, int reg, std::uint64_t written, std::uint64_t valid,
                    std::uint32_t origin) {
  std::uint64_t &to = wave.vgprValid[reg];
  to = (to & ~written) | (valid & written);
  if ((valid & written) != written) [[unlikely]] {
    wave.vgprOrigin[reg] = origin ? origin : op.index + 1;
  }
}

void flowByWord(Wave &wave, const Op &op, std::uint64_t written) {
  const bool packed = op.sourceCount > 1; // v_pk_*_f32; else v_mov_b64
  std::uint64_t valid[2] = {allLanes, allLanes};
  std::uint32_t origin = 0;
  for (int i = 0; i < op.sourceCount; ++i) {
    const Operand &operand = op.source[i];
    for (int word = 0; word < 2; ++word) {
      const std::uint8_t pick = word == 0 ? mod::opSel : mod::opSelHi;
      const int from = packed ? (operand.mods & pick ? 1 : 0) : word;
      if (operand.file == File::vector) {
        valid[word] &= wave.vgprValid[operand.reg + from];
      } else if (operand.file == File::scalar && operand.words == 2) {
        valid[word] &= wave.sgprValid[operand.reg + from] == ~0u ? allLanes : 0;
      } else if (!scalarDefined(wave, operand)) {
        valid[word] = 0;
      }
    }
    origin = origin ? origin : originOf(wave, operand);
  }
  for (int word = 0; word < 2; ++word) {
    setVectorValid(wave, op, op.result[0].reg + word, written, valid[word], origin);
  }
}

/// Lanes in which word `word` of all 64-bit sources, and the 32-bit ones, are defined.
std::uint64_t definedWords(const Wave &wave, const Op &op, int word) {
  std::uint64_t valid = allLanes;
  for (int i = 0; i < op.sourceCount; ++i) {
    const Operand &operand = op.source[i];
    if (operand.file == File::vector && operand.words == 2) {
      valid &= wave.vgprValid[operand.reg + word];
    } else if (operand.file == File::scalar && operand.words == 2) {
      valid &= wave.sgprValid[operand.reg + word] == ~0u ? allLanes : 0;
    } else {
      valid &= definedLanes(wave, operand);
    }
  }
  return valid;
}

/// v_cndmask: where the chosen source is defined.
std::uint64_t flowSelect(const Wave &wave, const Op &op) {
  const std::uint64_t a = definedLanes(wave, op.source[0]), b = definedLanes(wave, op.source[1]);
  const Operand &mask = op.source[2];
  if (mask.file != File::scalar) {
    return a & b;
  }
  const std::uint64_t chosen = wave.scalar64(mask.reg);
  const std::uint64_t known = wave.sgprValid[mask.reg] | std::uint64_t{wave.sgprValid[mask.reg + 1]}
                                                             << 32;
  return known & ((chosen & b) | (~chosen & a));
}

void flowVector(Wave &wave, const Op &op) {
  std::uint64_t written = wave.exec();
  if (op.flow == Flow::byWord) {
    flowByWord(wave, op, written);
    return;
  }
  std::uint64_t valid = allLanes;
  std::uint32_t origin = 0;
  if (op.flow == Flow::select && op.form == Form::plain) {
    valid = flowSelect(wave, op);
  } else {
    for (int i = 0; i < op.sourceCount; ++i) {
      std::uint64_t defined;
      // A mask as the source: bit by bit.
      const Operand &operand = op.source[i];
      if (i >= 2 && operand.file == File::scalar && operand.words == 2 && op.result[0].words == 1) {
        defined = wave.sgprValid[operand.reg] | std::uint64_t{wave.sgprValid[operand.reg + 1]}
                                                    << 32;
      } else {
        defined = definedLanes(wave, operand);
      }
      if (op.form == Form::dpp && i == 0) {
        defined = permuteDpp(wave, op, defined, written);
      }
      valid &= defined;
    }
  }
  if ((valid & written) != written) [[unlikely]] {
    for (int i = 0; i < op.sourceCount && origin == 0; ++i) {
      origin = originOf(wave, op.source[i]);
    }
  }
  const int ownWord = op.flow == Flow::carryUp ? 0 : op.flow == Flow::carryDown ? 1 : -1;
  const std::uint64_t ownValid =
      ownWord >= 0 && valid != allLanes ? definedWords(wave, op, ownWord) : valid;
  for (int i = 0; i < op.resultCount; ++i) {
    const Operand &result = op.result[i];
    for (int word = 0; word < result.words; ++word) {
      if (result.file == File::vector) {
        const bool isOwn = result.words == 2 && word == ownWord;
        setVectorValid(wave, op, result.reg + word, written, isOwn ? ownValid : valid, origin);
      } else if (result.file == File::scalar) {
        const std::uint64_t bits = valid | ~wave.exec(); // inactive lanes give 0
        setScalarValid(wave, op, result.reg + word, static_cast<std::uint32_t>(bits >> (32 * word)),
                       origin);
      }
    }
  }
  if (op.writesExec && (valid & written) != written) {
    reportUndefined(wave, op, op.source[0], written & ~valid, "EXEC");
    wave.sgprValid[scalarReg::exec] = wave.sgprValid[scalarReg::exec + 1] = ~0u;
  }
}

} // namespace

std::uint64_t definedLanes(const Wave &wave, const Operand &operand) {
  if (operand.file == File::vector) {
    std::uint64_t defined = allLanes;
    for (int word = 0; word < operand.words; ++word) {
      defined &= wave.vgprValid[operand.reg + word];
    }
    return defined;
  }
  return scalarDefined(wave, operand) ? allLanes : 0;
}

void reportUndefined(Wave &wave, const Op &op, const Operand &operand, std::uint64_t badLanes,
                     const char *what) {
  const std::uint32_t origin = originOf(wave, operand);
  const char *file = operand.file == File::vector ? "vector" : "scalar";
  const std::string from =
      origin ? fmt::format("undefined since {}", place(wave, origin - 1)) : "never written";
  wave.report(FindingKind::uninitialisedRead, op, badLanes ? std::countr_zero(badLanes) : -1,
              fmt::format("{} depends on {} register {} ({})", what, file, operand.reg, from));
  // Once is enough: what follows from it is not reported again.
  for (int word = 0; word < operand.words; ++word) {
    if (operand.file == File::vector) {
      wave.vgprValid[operand.reg + word] = allLanes;
    } else if (operand.file == File::scalar) {
      wave.sgprValid[operand.reg + word] = ~0u;
    }
  }
}

/// The short way of an Op::simple: nothing outstanding or undefined, no hazard near. False: it has
/// to go the long one.
static bool passesQuickly(Wave &wave, const Op &op) {
  if (wave.pendingVector != 0 || !isQuiet(wave)) {
    return false;
  }
  std::uint64_t valid = allLanes;
  for (int i = 0; i < op.sourceCount; ++i) {
    valid &= op.source[i].file == File::vector ? wave.vgprValid[op.source[i].reg] : allLanes;
  }
  if (valid != allLanes) {
    return false;
  }
  wave.vgprValid[op.result[0].reg] |= wave.exec();
  return true;
}

void beforeExecution(Wave &wave, const Op &op) {
  if (op.simple && passesQuickly(wave, op)) {
    return;
  }
  if ((wave.pendingVector | wave.pendingScalar) != 0) {
    for (int i = 0; i < op.sourceCount; ++i) {
      checkPending(wave, op, op.source[i], false);
    }
    for (int i = 0; i < op.resultCount; ++i) {
      checkPending(wave, op, op.result[i], true);
    }
  }
  if (op.registersNeeded != 0) [[unlikely]] {
    wave.report(FindingKind::outOfBounds, op, -1,
                fmt::format("vector register {} of {} allocated", op.registersNeeded - 1,
                            wave.group->context.kernel->descriptor.allocatedVgprs()));
  }
  checkWaitStates(wave, op);
  checkSinks(wave, op);
  if (op.flow != Flow::handler) {
    if (op.kind == Kind::valu) {
      flowVector(wave, op);
    } else if (op.kind == Kind::salu) {
      flowScalar(wave, op);
    }
  }
  wave.issuing.loadToLds = wave.issuing.ldsWrite = false;
  wave.issuing.readBytes = 0;
  wave.issuing.clock = wave.issuing.released = 0;
  wave.issuing.acquired.reset();
}

void afterExecution(Wave &wave, const Op &op) {
  if (op.simple) {
    wave.vgprWritten[op.result[0].reg] = {
        .slot = wave.slot++, .producer = Producer::valu, .first = op.result[0].reg, .op = op.index};
    return;
  }
  if (op.resultCount > 0 || op.kind == Kind::mfma || op.writesExec) {
    noteWrites(wave, op);
  }
  wave.slot += op.waitStates;
  const bool queued =
      isVectorMemory(op.kind) || isLds(op.kind) || op.kind == Kind::smem || op.kind == Kind::cache;
  if (!queued) {
    return;
  }
  Outstanding &entry = wave.issuing;
  entry.op = op.index;
  entry.file = op.resultCount > 0 ? op.result[0].file : File::none;
  entry.first = op.result[0].reg;
  entry.words = op.resultCount > 0 ? op.result[0].words : 0;
  count(wave, entry, +1);
  if (op.kind == Kind::smem) {
    entry.readBytes = 0;
    wave.smem.push_back(entry);
  } else if (isLds(op.kind)) {
    enqueue(wave, wave.lds, entry);
  } else {
    enqueue(wave, wave.vmem, entry);
  }
}

// LDS accesses complete in order; scalar loads in any order, so only a wait for 0 covers them, and
// they may all be among those that have come back: LDS has at most `lgkm` left then.
void waitCounters(Wave &wave, unsigned vmem, unsigned lgkm) {
  if (wave.vmem.size() > vmem || lgkm == 0) {
    noteWaited(wave);
  }
  retireDownTo(wave, wave.vmem, vmem);
  retireDownTo(wave, wave.lds, lgkm);
  if (lgkm == 0) {
    for (const Outstanding &entry : wave.smem) {
      retire(wave, entry);
    }
    wave.smem.clear();
  }
}

std::uint32_t oldestLdsWrite(Wave &wave) {
  std::uint32_t oldest = 0;
  const auto look = [&](auto &queue) {
    for (std::size_t i = 0; i < queue.size(); ++i) {
      const Outstanding &entry = queue.at(i);
      if (entry.ldsWrite || entry.loadToLds) {
        oldest = oldest == 0 ? entry.serial : std::min(oldest, entry.serial);
        return;
      }
    }
  };
  look(wave.lds);
  look(wave.vmem);
  return oldest;
}

void carryReadsOverBarrier(Wave &wave) {
  for (std::size_t i = 0; i < wave.lds.size(); ++i) {
    const Outstanding &entry = wave.lds.at(i);
    if (entry.readBytes != 0) {
      wave.group->lds.carryRead(wave.id, wave.group->ops[entry.op],
                                {entry.lanes, entry.address.data(), entry.readBytes});
    }
  }
}

} // namespace kw::detail
