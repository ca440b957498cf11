// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Strict mode's bookkeeping of registers, around each instruction of a wave:
//
//   beforeExecution   waits (missingWait), wait states (Hazards.h), validity of addresses,
//                     conditions and EXEC; then moves validity from sources to results
//   (the handler)     memory and cross-lane instructions set the validity of their results
//   afterExecution    queues memory accesses for s_waitcnt
//
// Undefined values are followed, not reported, until something depends on them: an address, a
// branch, EXEC, a value stored to global memory. LLVM moves undefined registers about freely.
#pragma once

#include "runtime/emulator/Wave.h"

namespace kw::detail {

void beforeExecution(Wave &wave, const Op &op);
void afterExecution(Wave &wave, const Op &op);
/// s_waitcnt: at most so many accesses stay outstanding.
void waitCounters(Wave &wave, unsigned vmem, unsigned lgkm);
/// Number (Lds.h) of the oldest LDS write or load to LDS that has not been waited for; 0: none.
std::uint32_t oldestLdsWrite(Wave &wave);
/// A barrier is released: LDS reads that are still outstanding count for the next interval.
void carryReadsOverBarrier(Wave &wave);

/// Lanes (of `lanes`) in which all words of a vector operand are defined; all for others.
std::uint64_t definedLanes(const Wave &wave, const Operand &operand);
/// Reports that `what` depends on undefined bits; names where they came from.
void reportUndefined(Wave &wave, const Op &op, const Operand &operand, std::uint64_t badLanes,
                     const char *what);

} // namespace kw::detail
