// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/Wave.h"

#include "runtime/emulator/Workgroup.h"
#include "runtime/emulator/semantics/Fetch.h"

#include <fmt/core.h>

namespace kw::detail {

std::uint32_t Wave::scalarOperand(const Operand &operand) const {
  switch (operand.file) {
  case File::scalar:
    return sgpr[operand.reg];
  case File::constant:
    return static_cast<std::uint32_t>(operand.value);
  case File::vector: // v_writelane and friends never have one; the first lane is as good as any
    return vgpr[operand.reg][0];
  default: {
    const std::uint64_t value = specialValue(*this, operand.reg);
    const bool upper = operand.words == 1 && operand.reg >= 235 && operand.reg <= 238;
    return static_cast<std::uint32_t>(upper ? value >> 32 : value);
  }
  }
}

std::uint64_t Wave::scalarOperand64(const Operand &operand) const {
  switch (operand.file) {
  case File::scalar:
    return operand.words > 1 ? scalar64(operand.reg) : sgpr[operand.reg];
  case File::constant:
    return operand.value;
  default:
    return specialValue(*this, operand.reg);
  }
}

void Wave::report(FindingKind kind, const Op &op, int lane, std::string detail) {
  const KernelCode &kernel = *group->context.kernel;
  const FindingKey key{op.index, kind};
  if (const auto found = group->findings.find(key); found != group->findings.end()) {
    ++found->second.occurrences;
    return;
  }
  EmulatorFinding finding;
  finding.kind = kind;
  finding.kernel = kernel.facts.name;
  finding.pc = kernel.offsets[op.index] - kernel.offsets[kernel.entryOp];
  finding.instruction = kernel.text[op.index];
  finding.workgroup = group->id;
  finding.wave = id;
  finding.lane = lane;
  finding.detail = std::move(detail);
  group->findings.emplace(key, std::move(finding));
}

void Wave::fail(const Op &op, std::string why) {
  const KernelCode &kernel = *group->context.kernel;
  if (group->error.empty()) {
    group->error =
        fmt::format("{} at {:#x} ({}): {}\n{}", kernel.facts.name, kernel.offsets[op.index],
                    kernel.names[op.index], why, kernel.neighbourhood(op.index));
  }
  state = State::ended;
}

void Wave::resetShadow() {
  scc = false;
  modeChanged = false;
  state = State::running;
  executed = 0;
  gprIndexMode = 0;
  vgprValid.fill(0);
  sgprValid.fill(0);
  sccValid = false;
  vgprOrigin.fill(0);
  sgprOrigin.fill(0);
  vmem.clear();
  lds.clear();
  smem.clear();
  vgprPending.fill(0);
  sgprPending.fill(0);
  pendingVector = pendingScalar = 0;
  slot = 1000;
  matrixSlot = matrixFree = transSlot = 0;
  vgprWritten.fill({});
  sgprWritten.fill({});
  matrixReadC.fill({});
}

bool Wave::strict() const { return group->strict; }

} // namespace kw::detail
