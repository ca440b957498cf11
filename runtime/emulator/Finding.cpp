// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "runtime/emulator/Finding.h"

namespace kw {

std::string_view name(FindingKind kind) {
  switch (kind) {
  case FindingKind::outOfBounds:
    return "out-of-bounds";
  case FindingKind::uninitialisedRead:
    return "uninitialised-read";
  case FindingKind::ldsRace:
    return "lds-race";
  case FindingKind::globalRace:
    return "global-race";
  case FindingKind::missingWait:
    return "missing-wait";
  case FindingKind::missingWaitStates:
    return "missing-wait-states";
  case FindingKind::misaligned:
    return "misaligned";
  case FindingKind::barrierDivergence:
    return "barrier-divergence";
  case FindingKind::hang:
    return "hang";
  case FindingKind::partialExec:
    return "partial-exec";
  case FindingKind::trap:
    return "trap";
  }
  return "unknown";
}

} // namespace kw
