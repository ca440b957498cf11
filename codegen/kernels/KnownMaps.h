// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Functions of an index (lane, or wave and lane) that have a value already. One that differs by a
// constant needs no arithmetic: the constant becomes an immediate of the instruction.
#pragma once

#include "codegen/kernels/TileBuilder.h"

#include <cstdint>
#include <vector>

namespace kw {

struct MappedOffset {
  mlir::Value base; ///< null: no such function
  std::int32_t immediate = 0;
};

class KnownMaps {
public:
  /// `table[i]`: the function's value for index i. What is not known is computed by `setup`; null
  /// base: the function is none that fitIndexMap finds.
  MappedOffset findOrMap(TileBuilder &setup, std::vector<std::int64_t> table, mlir::Value index);
  /// A value that was computed in another way.
  MappedOffset add(std::vector<std::int64_t> table, mlir::Value value);

private:
  struct Known {
    std::vector<std::int64_t> table;
    mlir::Value value;
  };
  std::vector<Known> known;
};

} // namespace kw
