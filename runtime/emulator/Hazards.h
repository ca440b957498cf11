// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Wait states that gfx950 needs between some instructions and that hardware does not enforce.
// [gfx950.md 4.3, taken from LLVM's hazard recognizer] Each executed instruction is one wait state,
// s_nop n is n + 1; a matrix instruction waits until the one before has left the pipe, a pass is
// one. Left out, as hand-written kernels of AMD do without everywhere: the one state between a
// write of M0 and a load to LDS, those before a lane mask is read from an SGPR pair, and most of
// those between two permlane swaps and before v_pk_fma_f32 reads the result of a 4-pass matrix
// instruction.
#pragma once

#include "runtime/emulator/Wave.h"

namespace kw::detail {

/// No rule looks further back than this many issue slots.
constexpr std::uint32_t hazardHorizon = 24;
/// No matrix or transcendental instruction is near enough to matter to an ordinary vector one.
inline bool isQuiet(const Wave &wave) {
  return wave.slot - wave.matrixSlot > hazardHorizon && wave.slot - wave.transSlot > 1;
}

/// Reports missingWaitStates for what `op` reads and writes.
void checkWaitStates(Wave &wave, const Op &op);
/// Stamps what `op` writes. After execution.
void noteWrites(Wave &wave, const Op &op);

} // namespace kw::detail
