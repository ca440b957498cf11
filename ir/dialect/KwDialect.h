// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// C++ side of the dialect `kw`. Operations are described in KwOps.td; README.md says why they are
// as they are.
#pragma once

#include <mlir/Bytecode/BytecodeOpInterface.h>
#include <mlir/IR/Dialect.h>
#include <mlir/IR/OpDefinition.h>
#include <mlir/IR/OpImplementation.h>
#include <mlir/Interfaces/SideEffectInterfaces.h>

namespace kw::dialect {

/// !llvm.ptr<space>
bool isPointer(mlir::Type type, unsigned space);

/// A field of kw.map_index: ((index >> shift) & (2^width - 1)) * factor. Attributes hold the three
/// numbers of one field after the other.
struct IndexField {
  int shift = 0;
  int width = 0;
  int factor = 0;
};
inline constexpr int numbersPerField = 3;

} // namespace kw::dialect

#include "ir/dialect/KwDialect.h.inc"
#include "ir/dialect/KwEnums.h.inc"

#define GET_OP_CLASSES
#include "ir/dialect/KwOps.h.inc"
