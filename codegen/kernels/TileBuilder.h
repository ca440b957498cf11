// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// Short names for what kernels write again and again: kw operations and scalar arithmetic, at one
// insertion point.
#pragma once

#include "codegen/IndexMap.h"
#include "ir/ElementType.h"

#include <mlir/Dialect/LLVMIR/LLVMDialect.h>
#include <mlir/IR/Builders.h>

namespace kw {

/// Memory operations of `kw` address buffer[lane + immediate, scalar], in bytes.
struct GlobalAddress {
  mlir::Value buffer;
  mlir::Value lane;
  mlir::Value scalar;
  std::int32_t immediate = 0;
};

class TileBuilder {
public:
  explicit TileBuilder(mlir::OpBuilder builder, mlir::Location loc)
      : builder(std::move(builder)), loc(loc) {}

  // Scalars: i32 unless `wide`.
  mlir::Value constant(std::int64_t value);
  mlir::Value wideConstant(std::int64_t value);
  mlir::Value floatConstant(double value);
  mlir::Value add(mlir::Value a, mlir::Value b);
  mlir::Value add(mlir::Value a, std::int64_t b);
  mlir::Value sub(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, mlir::Value b);
  mlir::Value mul(mlir::Value a, std::int64_t b);
  mlir::Value div(mlir::Value a, std::int64_t b);
  mlir::Value rem(mlir::Value a, std::int64_t b);
  /// Of uniform values, in a scalar register: LLVM divides on the vector ALU.
  mlir::Value uniformQuotient(mlir::Value a, mlir::Value b);
  mlir::Value shiftRight(mlir::Value a, int bits);
  mlir::Value exclusiveOr(mlir::Value a, mlir::Value b);
  mlir::Value umin(mlir::Value a, mlir::Value b);
  mlir::Value lessThan(mlir::Value a, mlir::Value b); ///< unsigned
  mlir::Value select(mlir::Value condition, mlir::Value a, mlir::Value b);
  mlir::Value widen(mlir::Value value);  ///< i32 to i64, unsigned; i64 stays
  mlir::Value narrow(mlir::Value value); ///< i64 to i32; i32 stays
  /// `pointer` + `bytes` (i64).
  mlir::Value advance(mlir::Value pointer, mlir::Value bytes);

  /// A new block behind all others of the region; goes on where it was.
  mlir::Block *blockBehind();

  // kw operations.
  mlir::Value map(mlir::Value index, const IndexMap &map);
  mlir::Value pinScalar(mlir::Value value);
  /// The same value as far as LLVM cannot tell: what follows from it is computed behind this, not
  /// kept in registers over what stands before. `registers`: "s", "v", "a".
  mlir::Value again(mlir::Value value, llvm::StringRef registers);
  mlir::Value laneIndex(int workItems);
  mlir::Value waveIndex(int waves);
  mlir::Value workgroupIndex(); ///< along x
  mlir::Value batchIndex();     ///< the workgroup's index along y
  /// Tile row and column of a workgroup (ir/WorkgroupMapping.h tileOf).
  std::pair<mlir::Value, mlir::Value> tileOf(mlir::Value workgroup, mlir::Value tilesM,
                                             std::int64_t tilesN, int xcds, int groupM,
                                             int splits = 1);
  /// Which split of its tile it computes (ir/WorkgroupMapping.h splitOf).
  mlir::Value splitOf(mlir::Value workgroup, mlir::Value tilesM, std::int64_t tilesN, int xcds,
                      int splits);
  mlir::Value buffer(mlir::Value base, mlir::Value bytes);
  mlir::Value load(mlir::Type type, const GlobalAddress &address);
  void store(mlir::Value value, const GlobalAddress &address);
  void atomicAdd(mlir::Value value, const GlobalAddress &address);
  /// Arrivals before this wave's at the counter at `lane`, which only the first lane may reach.
  mlir::Value arrive(mlir::Value buffer, mlir::Value lane);
  /// One vector of the elements of both.
  mlir::Value join(mlir::Value first, mlir::Value second);
  void copyToLds(const GlobalAddress &source, mlir::Value lds, mlir::Value wave,
                 std::int32_t immediate, int bytes);
  void storeLds(mlir::Value value, mlir::Value lds, mlir::Value lane, std::int32_t immediate);
  /// LDS reads at `lanes[i] + immediates[i]`, joined to one value.
  mlir::Value readLds(mlir::Type type, mlir::Value lds, mlir::ValueRange lanes,
                      mlir::ArrayRef<std::int32_t> immediates, bool transpose = false);
  mlir::Value mfma(mlir::ArrayRef<std::int32_t> shape, mlir::Value a, mlir::Value b,
                   mlir::Value accumulator);
  mlir::Value pinAccumulator(mlir::Value value, bool agpr);
  /// A use that LLVM believes in, of 16 bytes a lane.
  void keep(mlir::Value value);
  /// Swaps odd groups of `lanes` (16 or 32) lanes of `a` with the even ones of `b` before them.
  std::pair<mlir::Value, mlir::Value> exchangeHalves(mlir::Value a, mlir::Value b, int lanes);
  void wait(int vector, int lds);
  void barrier();
  void priority(int level); ///< of the wave on its SIMD, 0 (usual) to 3

  mlir::Type elementType(ElementType type);
  /// A lane's part of a matrix operand, `elements` of it. 8-bit integers go four to an i32: LLVM
  /// would take vectors of bytes apart wherever they cross a block.
  mlir::VectorType fragmentType(ElementType type, int elements);
  /// Bits without a meaning, to be moved: i16, i32, or a vector of i32.
  mlir::Type bitsType(int bytes);
  mlir::VectorType vectorType(std::int64_t count, mlir::Type element);

  mlir::OpBuilder builder;
  mlir::Location loc;
};

} // namespace kw
