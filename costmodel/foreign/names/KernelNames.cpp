// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#include "costmodel/foreign/names/KernelNames.h"

#include <array>

namespace kw {
namespace {

template <auto parse> std::optional<TileKernel> tileOf(std::string_view name) {
  const auto record = parse(name);
  return record ? std::optional(tileKernel(*record)) : std::nullopt;
}

struct NameRow {
  std::string_view start; ///< of the name or of the table's word for the generator
  std::string_view generator;
  std::optional<TileKernel> (*tile)(std::string_view);
};

/// The first row that fits a name or, failing that, the table's word decides. "cktile" before "ck".
constexpr std::array<NameRow, 11> nameRows{{
    {"_ZN5aiter", "asm", tileOf<parseAsm>},
    {"Cijk", "hipblaslt", tileOf<parseTensile>},
    {"Custom_Cijk", "hipblaslt", tileOf<parseTensile>},
    {"flydsl", "flydsl", tileOf<parseFlyDsl>},
    {"opus", "opus", tileOf<parseOpus>},
    {"moe_cktile", "cktile", tileOf<parseCkTile>},
    {"moe_ck", "ck", tileOf<parseCk>},
    {"cktile", "cktile", tileOf<parseCkTile>},
    {"ck", "ck", tileOf<parseCk>},
    {"asm", "asm", tileOf<parseAsm>},
    {"hipblaslt", "hipblaslt", tileOf<parseTensile>},
}};

const NameRow *rowOf(const KernelText &text) {
  for (const std::string_view word :
       {std::string_view(text.name), std::string_view(text.generator)}) {
    for (const NameRow &row : nameRows) {
      if (word.starts_with(row.start)) {
        return &row;
      }
    }
  }
  return nullptr;
}

/// No real kernel has a tile or an instruction of size 0; a name that says so tells nothing.
void dropZeros(TileKernel &tile) {
  for (std::optional<int> *value :
       {&tile.tileM, &tile.tileN, &tile.tileK, &tile.mfmaM, &tile.mfmaK}) {
    if (*value && **value <= 0) {
      value->reset();
    }
  }
}

/// Columns complete what the name leaves open. Threads and split are the row's, not the kernel's
/// name's; where both are told the name wins for the tile, the column for the split.
void completeByColumns(const KernelText &text, TileKernel &tile) {
  constexpr int waveLanes = 64;
  const auto complete = [](std::optional<int> &value, const std::optional<int> &column) {
    value = value ? value : column;
  };
  complete(tile.tileM, text.tileM);
  complete(tile.tileN, text.tileN);
  complete(tile.tileK, text.tileK);
  if (text.threads) {
    complete(tile.waves, std::max(1, *text.threads / waveLanes));
  }
  if (text.splitK) {
    tile.splitK = text.splitK;
  }
}

} // namespace

ReadKernel readKernel(const KernelText &text) {
  ReadKernel kernel;
  const NameRow *row = rowOf(text);
  kernel.generator = row != nullptr           ? std::string(row->generator)
                     : text.generator.empty() ? std::string("unknown")
                                              : text.generator;
  if (row != nullptr) {
    if (const auto tile = row->tile(text.name)) {
      kernel.tile = *tile;
    }
  }
  dropZeros(kernel.tile);
  kernel.identity = text.name.empty() ? kernel.generator : text.name;
  completeByColumns(text, kernel.tile);
  kernel.tile.picked = !kernel.tile.tileM || !kernel.tile.tileN;
  return kernel;
}

} // namespace kw
