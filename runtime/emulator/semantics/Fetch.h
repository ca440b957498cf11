// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Sources and results of vector instructions beyond plain registers: scalar operands spread over
// the lanes, negation and magnitude, op_sel, DPP, SDWA; clamp and output modifiers.
#pragma once

#include "runtime/emulator/Wave.h"
#include "runtime/emulator/semantics/Numbers.h"

namespace kw::detail {

/// What a source or result is, for modifiers.
enum class Type : std::uint8_t { b16, i16, f16, bf16, b32, i32, f32, b64, i64, f64, mask };

/// Modifier bits of Operand::mods. [LLVM SISrcMods]
namespace mod {
constexpr std::uint8_t neg = 1, abs = 2, opSel = 4, opSelHi = 8, signExtend = 16, negHi = 2;
} // namespace mod

/// Pointer to the 64 lanes (the second word 64 lanes later) of source i as raw register contents.
const u32 *fetchRaw(Wave &wave, const Op &op, int i);
/// The same with the modifiers of `type` applied. DPP: `lanes` loses those that must not write.
const u32 *fetchModified(Wave &wave, const Op &op, int i, Type type, u64 &lanes);
/// Spreads the bits of a scalar pair: 0 or 1 a lane.
const u32 *fetchMask(Wave &wave, const Op &op, int i);
/// Writes wave.computed to result 0 in `lanes`, after clamp, omod and SDWA selection.
void commit(Wave &wave, const Op &op, u64 lanes, Type type);
/// The physical register of a vector result.
int resultRegister(const Wave &wave, const Op &op, int i = 0);

/// DPP: the lane that lane `l` reads, or -1 (disabled: out of range or masked off).
int dppSource(const Op &op, int lane);

/// Values of the special scalar sources (src_scc, apertures, ...).
u64 specialValue(const Wave &wave, int encoding);

} // namespace kw::detail
