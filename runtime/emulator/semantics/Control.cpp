// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Control flow, barriers, waits and hardware registers.
#include "runtime/emulator/Checker.h"
#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/Numbers.h"
#include "runtime/emulator/semantics/Semantics.h"

#include <fmt/core.h>

namespace kw::detail {

namespace {

void nothing(Wave &, const Op &) {}

template <auto Condition> void branchIf(Wave &wave, const Op &op) {
  if (Condition(wave)) {
    wave.next = static_cast<u32>(op.imm);
  }
}

u64 addressOf(const Wave &wave, u32 index) {
  const KernelCode &kernel = *wave.group->context.kernel;
  return wave.group->context.codeBase + kernel.begin + kernel.offsets[index];
}

void jump(Wave &wave, const Op &op, u64 address) {
  const KernelCode &kernel = *wave.group->context.kernel;
  const u64 offset = address - wave.group->context.codeBase - kernel.begin;
  const bool known =
      offset % 4 == 0 && offset / 4 < kernel.opAt.size() && kernel.opAt[offset / 4] >= 0;
  if (!known) {
    wave.fail(op, fmt::format("jump to {:#x}, outside the decoded code", address));
    return;
  }
  wave.next = static_cast<u32>(kernel.opAt[offset / 4]);
}

void getPc(Wave &wave, const Op &op) {
  wave.writeScalar64(op.result[0], addressOf(wave, op.index + 1));
}
void setPc(Wave &wave, const Op &op) { jump(wave, op, wave.scalarOperand64(op.source[0])); }
void swapPc(Wave &wave, const Op &op) {
  const u64 target = wave.scalarOperand64(op.source[0]);
  getPc(wave, op);
  wave.sgprValid[op.result[0].reg] = wave.sgprValid[op.result[0].reg + 1] = ~0u;
  jump(wave, op, target);
}

void wait(Wave &wave, const Op &op) {
  if (wave.strict()) {
    const unsigned bits = static_cast<unsigned>(op.imm);
    waitCounters(wave, (bits & 15) | (bits >> 10 & 48), bits >> 8 & 15);
  } else if (wave.flights) {
    const unsigned bits = static_cast<unsigned>(op.imm);
    wave.flights->waitFor(wave, (bits & 15) | (bits >> 10 & 48), bits >> 8 & 15);
  }
}

void barrier(Wave &wave, const Op &) { wave.state = Wave::State::atBarrier; }
void end(Wave &wave, const Op &) {
  wave.state = Wave::State::ended;
  endOfOrder(wave);
  if (wave.flights) {
    wave.flights->landAll(wave);
  }
}
void trap(Wave &wave, const Op &op) {
  wave.report(FindingKind::trap, op, -1, fmt::format("s_trap {}", op.imm));
  wave.state = Wave::State::ended;
}

struct HardwareRegister {
  int id;
  unsigned offset, size;
  explicit HardwareRegister(std::int64_t imm)
      : id(static_cast<int>(imm & 63)), offset(imm >> 6 & 31), size((imm >> 11 & 31) + 1) {}
  u32 mask() const { return size >= 32 ? ~0u : (1u << size) - 1; }
};
constexpr int modeRegister = 1;

void getRegister(Wave &wave, const Op &op) {
  const HardwareRegister reg(op.imm);
  // Where a workgroup runs (XCC_ID, HW_ID) is nobody's promise: 0.
  const u32 value = reg.id == modeRegister ? wave.mode : 0;
  wave.writeScalar(op.result[0], value >> reg.offset & reg.mask());
}
void setRegisterTo(Wave &wave, const Op &op, u32 value) {
  const HardwareRegister reg(op.imm);
  if (reg.id == modeRegister) {
    wave.mode = (wave.mode & ~(reg.mask() << reg.offset)) | (value & reg.mask()) << reg.offset;
    wave.modeChanged = true;
  }
}
void setRegister(Wave &wave, const Op &op) {
  setRegisterTo(wave, op, wave.scalarOperand(op.source[0]));
}
void setRegisterImm(Wave &wave, const Op &op) {
  setRegisterTo(wave, op, static_cast<u32>(op.imm2));
}

void gprIndexOn(Wave &wave, const Op &op) {
  wave.sgpr[scalarReg::m0] = wave.scalarOperand(op.source[0]) & 255;
  wave.gprIndexMode = static_cast<u8>(op.imm & 15);
}
void gprIndexOff(Wave &wave, const Op &) { wave.gprIndexMode = 0; }
void gprIndexMode(Wave &wave, const Op &op) { wave.gprIndexMode = static_cast<u8>(op.imm & 15); }
void gprIndex(Wave &wave, const Op &op) {
  wave.sgpr[scalarReg::m0] = wave.scalarOperand(op.source[0]) & 255;
}

} // namespace

std::span<const Semantics> controlTable() {
  static const Semantics rows[] = {
      {"S_NOP", nothing},
      {"S_SLEEP", nothing},
      {"S_SETPRIO", nothing},
      {"S_SENDMSG", nothing},
      {"S_ICACHE_INV", nothing},
      {"S_TTRACEDATA", nothing},
      {"S_INCPERFLEVEL", nothing},
      {"S_DECPERFLEVEL", nothing},
      {"S_SETHALT", nothing},
      {"S_WAKEUP", nothing},
      {"S_BRANCH", branchIf<[](Wave &) { return true; }>},
      {"S_CBRANCH_SCC0", branchIf<[](Wave &w) { return !w.scc; }>},
      {"S_CBRANCH_SCC1", branchIf<[](Wave &w) { return w.scc; }>},
      {"S_CBRANCH_VCCZ", branchIf<[](Wave &w) { return w.vcc() == 0; }>},
      {"S_CBRANCH_VCCNZ", branchIf<[](Wave &w) { return w.vcc() != 0; }>},
      {"S_CBRANCH_EXECZ", branchIf<[](Wave &w) { return w.exec() == 0; }>},
      {"S_CBRANCH_EXECNZ", branchIf<[](Wave &w) { return w.exec() != 0; }>},
      {"S_GETPC_B64", getPc},
      {"S_SETPC_B64", setPc},
      {"S_SWAPPC_B64", swapPc},
      {"S_WAITCNT", wait},
      {"S_BARRIER", barrier},
      {"S_ENDPGM", end},
      {"S_ENDPGM_SAVED", end},
      {"S_TRAP", trap},
      {"S_GETREG_B32", getRegister},
      {"S_SETREG_B32", setRegister},
      {"S_SETREG_IMM32_B32", setRegisterImm},
      {"S_SET_GPR_IDX_ON", gprIndexOn},
      {"S_SET_GPR_IDX_OFF", gprIndexOff},
      {"S_SET_GPR_IDX_MODE", gprIndexMode},
      {"S_SET_GPR_IDX_IDX", gprIndex},
  };
  return rows;
}

} // namespace kw::detail
