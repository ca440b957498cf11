// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The tables of what instructions mean, keyed by LLVM's opcode name without its encoding and
// form suffixes (V_ADD_F32_e64_vi -> V_ADD_F32). One table a file; a row reads like the ISA manual.
#pragma once

#include "runtime/emulator/Op.h"

#include <span>
#include <string_view>

namespace kw::detail {

struct Semantics {
  std::string_view name;
  Handler run = nullptr;
  Flow flow = Flow::allSources;
  const void *data = nullptr; ///< becomes Op::data
};

/// Null: unknown.
const Semantics *findSemantics(std::string_view name);

// The tables, each in the file of its name.
std::span<const Semantics> scalarTable();  ///< SOP1, SOP2, SOPC, SOPK
std::span<const Semantics> controlTable(); ///< SOPP, branches, MODE
std::span<const Semantics> scalarMemoryTable();
std::span<const Semantics> integerTable(); ///< VALU
std::span<const Semantics> floatTable();
std::span<const Semantics> halfTable(); ///< f16, packed too
std::span<const Semantics> packedTable();
std::span<const Semantics> convertTable();
std::span<const Semantics> smallFloatTable(); ///< conversions of 8, 6 and 4 bits
std::span<const Semantics> compareTable();
std::span<const Semantics> crossLaneTable(); ///< readlane, permlane, ds_bpermute, ds_swizzle
std::span<const Semantics> matrixTable();
std::span<const Semantics> ldsTable();
std::span<const Semantics> vectorMemoryTable(); ///< buffer, global
std::span<const Semantics> vectorAtomicTable(); ///< buffer, global, flat
std::span<const Semantics> flatScratchTable();

} // namespace kw::detail
