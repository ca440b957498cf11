// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// One wave's way of k or v from global memory to fragments, in registers or through LDS of its own.
// Every address comes from the functions of ir/AttentionLayout.h. A step's rows are a buffer of
// their own that ends with the last column that exists, so that lanes behind it load zeros.
#pragma once

#include "codegen/kernels/KernelShell.h"
#include "codegen/kernels/KnownMaps.h"
#include "ir/AttentionLayout.h"

#include <map>
#include <utility>
#include <vector>

namespace kw {

struct KvSource {
  mlir::Value base;       ///< pointer to the head's first element
  mlir::Value pitchBytes; ///< i32: from column to column of the sequence
  mlir::Type element;
};

class KvAccess {
public:
  /// `stages`: LDS allocations, of all waves. `lane`: 0..63; `wave`: uniform.
  KvAccess(KernelShell &shell, const KvTile &tile, const KvSource &source, mlir::Value lane,
           mlir::Value wave, std::vector<mlir::Value> stages);

  const KvTile &layout() const { return tile; }
  /// Columns [first, first + present) of the sequence; present <= tile.rows.
  mlir::Value stepBuffer(TileBuilder &tiles, mlir::Value first, mlir::Value present) const;

  mlir::Value load(TileBuilder &tiles, int piece, mlir::Value buffer);
  void loadDirect(TileBuilder &tiles, int piece, int stage, mlir::Value buffer);
  void writeLds(TileBuilder &tiles, int piece, int stage, mlir::Value value);
  mlir::Value readFragment(TileBuilder &tiles, int fragment, int slice, int stage);
  /// registers path: what `load` gave, as an operand.
  mlir::Value asFragment(TileBuilder &tiles, mlir::Value loaded) const;

private:
  template <typename Function> MappedOffset mapped(KnownMaps &known, Function function);
  MappedOffset memoryOffset(int piece);
  MappedOffset inOwnPart(const MappedOffset &offset);

  KvTile tile;
  KvSource from;
  mlir::Value lane, waveBytes; ///< of this wave's part of a stage
  TileBuilder setup;           ///< inserts before the loops
  std::vector<mlir::Value> stages;
  KnownMaps rowMaps, byteMaps, stagedMaps, fragmentMaps;
  std::map<std::pair<std::pair<void *, std::int32_t>, void *>, mlir::Value> laneOffsets;
  std::map<void *, mlir::Value> ownParts;
  std::vector<MappedOffset> pieces, staged, fragments;
};

} // namespace kw
