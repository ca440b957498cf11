// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/MemoryAccess.h"

#include "runtime/emulator/Workgroup.h"

#include <fmt/core.h>

namespace kw::detail {

void GlobalSpan::note(Wave &wave, const Op &op, int lane, unsigned count,
                      const std::uint8_t *data) const {
  if (wave.strict() && isTracked(*allocation, op.use)) {
    AccessLog::StampLock lock(*wave.group->context.log);
    noteGlobal(wave, op, op.use, lane, *allocation, at(), count, lock, data);
  }
}

GlobalSpan globalSpan(Wave &wave, const Op &op, int lane, std::uint64_t address,
                      std::uint64_t count, bool write) {
  GlobalMemory &memory = *wave.group->context.memory;
  const GlobalMemory::Allocation *allocation = memory.find(address, count);
  if (!allocation) {
    wave.report(FindingKind::outOfBounds, op, lane,
                (write ? "store of " : "load of ") + memory.describe(address, count));
    return {};
  }
  if (write && allocation->readOnly) {
    wave.report(FindingKind::outOfBounds, op, lane,
                fmt::format("store to read-only '{}'", allocation->name));
    return {};
  }
  const std::uint64_t offset = address - allocation->base;
  return {allocation->host + offset, allocation};
}

} // namespace kw::detail
