// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
#ifndef KW_OPS_TD
#define KW_OPS_TD

include "KwDialect.td"

// ---- Where: indices and addresses ----------------------------------------------------------------

def Kw_MapIndexOp : KwOp<"map_index", [Pure]> {
  let summary = "byte offset or coordinate as a function of a lane, wave or row index";
  let description = [{
    `base + sum over additive fields + (exclusiveBase ^ XOR over exclusive fields)`. A field is a
    triple (shift, width, factor): `((index >> shift) & (2^width - 1)) * factor`. Layouts and
    swizzles of ir/ are evaluated for every index and turned into such fields once
    (codegen/IndexMap.h), so that no pass knows a layout.
  }];
  let arguments = (ins I32:$index, I32Attr:$base, DenseI32ArrayAttr:$additive,
                       I32Attr:$exclusiveBase, DenseI32ArrayAttr:$exclusive);
  let results = (outs I32:$result);
  let assemblyFormat = [{
    $index `add` $base $additive `xor` $exclusiveBase $exclusive attr-dict
  }];
  let hasVerifier = 1;
}

def Kw_PinScalarOp : KwOp<"pin_scalar", [Pure]> {
  let summary = "the same number in a scalar register, opaque to LLVM";
  let description = [{
    Keeps LLVM from folding a distance into constants that no longer fit an instruction's offset: each
    of them would cost a vector register.
  }];
  let arguments = (ins I32:$value);
  let results = (outs I32:$result);
  let assemblyFormat = "$value attr-dict";
}

def Kw_LaneIndexOp : KwOp<"lane_index", [Pure]> {
  let summary = "index of the work-item within the workgroup: lane + 64 * wave";
  let arguments = (ins I32Attr:$workItems);
  let results = (outs I32:$result);
  let assemblyFormat = "$workItems attr-dict";
}

def Kw_WaveIndexOp : KwOp<"wave_index", [Pure]> {
  let summary = "index of the wave within the workgroup, known to be uniform (a scalar register)";
  let arguments = (ins I32Attr:$waves);
  let results = (outs I32:$result);
  let assemblyFormat = "$waves attr-dict";
}

def Kw_TileOfOp : KwOp<"tile_of", [Pure]> {
  let summary = "output tile of a workgroup: XCD remap, then grouped order";
  let description = [{
    The arithmetic of ir/WorkgroupMapping.h `tileOf` on scalars: a bijection from
    [0, tilesM * tilesN) for every tilesM >= 1.
  }];
  let arguments = (ins I32:$workgroup, I32:$tilesM, I32Attr:$tilesN, I32Attr:$xcds,
                       I32Attr:$groupM, DefaultValuedAttr<I32Attr, "1">:$splits);
  let results = (outs I32:$m, I32:$n);
  let assemblyFormat = [{
    $workgroup `of` $tilesM `x` $tilesN `xcds` $xcds `group` $groupM attr-dict
  }];
  let hasVerifier = 1;
}

def Kw_SplitOfOp : KwOp<"split_of", [Pure]> {
  let summary = "which split of its output tile a workgroup computes";
  let description = "ir/WorkgroupMapping.h `splitOf`; operands as of tile_of.";
  let arguments = (ins I32:$workgroup, I32:$tilesM, I32Attr:$tilesN, I32Attr:$xcds,
                       I32Attr:$splits);
  let results = (outs I32:$split);
  let assemblyFormat = [{
    $workgroup `of` $tilesM `x` $tilesN `xcds` $xcds `splits` $splits attr-dict
  }];
}

def Kw_BufferOp : KwOp<"buffer", [Pure]> {
  let summary = "raw buffer resource over [base, base + bytes)";
  let description = "Reads behind the end give 0, writes are dropped. All operands are uniform.";
  let arguments = (ins KwGlobalPointer:$base, I32:$bytes);
  let results = (outs KwBuffer:$result);
  let assemblyFormat = "$base `bytes` $bytes attr-dict `:` type($base) `->` type($result)";
}

// ---- Moving tiles --------------------------------------------------------------------------------
// Global addresses: buffer[lane offset, scalar offset, immediate], bytes. Only the lane offset plus
// immediate may be relied on for range checks: hardware generations differ on the scalar offset.

def Kw_LoadOp : KwOp<"load", [MemoryEffects<[MemRead]>]> {
  let summary = "one vector load per lane from global memory";
  let arguments = (ins KwBuffer:$buffer, I32:$lane, I32:$scalar, I32Attr:$immediate,
                       DefaultValuedAttr<I32Attr, "0">:$aux);
  let results = (outs KwValue:$result);
  let assemblyFormat = [{
    $buffer `[` $lane `,` $scalar `,` $immediate `]` attr-dict `:` type($buffer) `->` type($result)
  }];
}

def Kw_StoreOp : KwOp<"store", [MemoryEffects<[MemWrite]>]> {
  let summary = "one vector store per lane to global memory";
  let arguments = (ins KwValue:$value, KwBuffer:$buffer, I32:$lane, I32:$scalar,
                       I32Attr:$immediate, DefaultValuedAttr<I32Attr, "0">:$aux);
  let assemblyFormat = [{
    $value `,` $buffer `[` $lane `,` $scalar `,` $immediate `]` attr-dict
    `:` type($value) `,` type($buffer)
  }];
}

def Kw_AtomicAddOp : KwOp<"atomic_add", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "adds a lane's f32 in global memory, for all workgroups of the device";
  let arguments = (ins F32:$value, KwBuffer:$buffer, I32:$lane, I32:$scalar, I32Attr:$immediate);
  let assemblyFormat = [{
    $value `,` $buffer `[` $lane `,` $scalar `,` $immediate `]` attr-dict `:` type($buffer)
  }];
}

def Kw_CopyToLdsOp : KwOp<"copy_to_lds", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "one vector load per lane straight to LDS";
  let description = [{
    Lane l of the wave writes to `lds + wave + ldsImmediate + l * bytes`: hardware lays a wave's
    lanes out contiguously. `wave` must be uniform. Counts in vmcnt.
  }];
  let arguments = (ins KwBuffer:$buffer, I32:$lane, I32:$scalar, I32Attr:$immediate,
                       KwLdsPointer:$lds, I32:$wave, I32Attr:$ldsImmediate, I32Attr:$bytes,
                       DefaultValuedAttr<I32Attr, "0">:$aux);
  let assemblyFormat = [{
    $buffer `[` $lane `,` $scalar `,` $immediate `]` `to` $lds `[` $wave `,` $ldsImmediate `]`
    `bytes` $bytes attr-dict `:` type($buffer) `,` type($lds)
  }];
  let hasVerifier = 1;
}

def Kw_StoreLdsOp : KwOp<"store_lds", [MemoryEffects<[MemWrite]>]> {
  let summary = "one LDS write per lane";
  let arguments = (ins KwValue:$value, KwLdsPointer:$lds, I32:$lane, I32Attr:$immediate);
  let assemblyFormat = [{
    $value `,` $lds `[` $lane `,` $immediate `]` attr-dict `:` type($value) `,` type($lds)
  }];
}

def Kw_ReadFragmentOp : KwOp<"read_fragment", [MemoryEffects<[MemRead]>]> {
  let summary = "operand of one matrix instruction from LDS";
  let description = [{
    One LDS read at each `lanes[i] + immediates[i]`, the results joined. Plain: every lane reads
    elements that lie together. `transpose`: the tile lies the other way round and transposing reads
    of 8 bytes a lane turn it; elements of 8 bits where the result is made of i32, else of 16 bits.
  }];
  let arguments = (ins KwLdsPointer:$lds, Variadic<I32>:$lanes, DenseI32ArrayAttr:$immediates,
                       UnitAttr:$transpose);
  let results = (outs KwValue:$result);
  let assemblyFormat = [{
    $lds `[` $lanes `]` `at` $immediates (`transpose` $transpose^)? attr-dict
    `:` type($lds) `->` type($result)
  }];
  let hasVerifier = 1;
}

// ---- Computing -----------------------------------------------------------------------------------

def Kw_PinAccumulatorOp : KwOp<"pin_accumulator", [Pure, AllTypesMatch<["value", "result"]>]> {
  let summary = "the same value, in vector or (`agpr`) accumulation registers, opaque to LLVM";
  let description = [{
    Stands at both ends of a loop over accumulators. Before it: of a constant as initial value LLVM
    would make scalars that it copies every trip. Behind it: a value that leaves its block would move
    to a VGPR, all of them at once for accumulators in AGPRs.
  }];
  let arguments = (ins UnitAttr:$agpr, KwVector:$value);
  let results = (outs KwVector:$result);
  let assemblyFormat = "(`agpr` $agpr^)? $value attr-dict `:` type($value)";
}

def Kw_MfmaOp : KwOp<"mfma", [Pure, AllTypesMatch<["accumulator", "result"]>]> {
  let summary = "result = a * b + accumulator, one matrix instruction";
  let description = [{
    `shape` is M, N, K of the instruction. Operand and result layouts are the hardware's
    (reference: CDNA4 ISA): row or column = lane mod M, consecutive k per lane. Operands of i32 hold
    four 8-bit integers each.
  }];
  let arguments = (ins DenseI32ArrayAttr:$shape, KwVector:$a, KwVector:$b, KwVector:$accumulator);
  let results = (outs KwVector:$result);
  let assemblyFormat = [{
    $shape $a `,` $b `,` $accumulator attr-dict `:` type($a) `,` type($b) `,` type($accumulator)
  }];
  let hasVerifier = 1;
}

def Kw_RowReduceOp : KwOp<"row_reduce", [Pure]> {
  let summary = "reduction over groups of lanes; every lane gets the result";
  let description = [{
    Lanes i and j belong together if i / lanes = j / lanes and i mod stride = j mod stride; `lanes` in
    2, 4, ..., 64. `stride` is 1, 16 or 32: the latter reduce what the result of a matrix instruction
    spreads over the lanes of a column.
  }];
  let arguments = (ins KwReduction:$kind, I32Attr:$lanes, F32:$value,
                       DefaultValuedAttr<I32Attr, "1">:$stride);
  let results = (outs F32:$result);
  let assemblyFormat = "$kind $lanes $value attr-dict";
  let hasVerifier = 1;
}

// ---- Order ---------------------------------------------------------------------------------------

def Kw_WaitOp : KwOp<"wait", []> {
  let summary = "until at most this many memory operations of the wave are outstanding";
  let description = "vector: vmcnt, 0..63; lds: lgkmcnt, 0..15; -1: no wait on this counter.";
  let arguments = (ins I32Attr:$vector, I32Attr:$lds);
  let assemblyFormat = "`vector` $vector `lds` $lds attr-dict";
  let hasVerifier = 1;
}

def Kw_ArriveOp : KwOp<"arrive", [MemoryEffects<[MemRead, MemWrite]>]> {
  let summary = "counts the wave's arrival: how many waves arrived at this counter before";
  let description = [{
    Adds 1 to the i32 at `lane` in lanes where that is within the buffer: make it the first lane
    alone. Stores of this wave before it are seen by every wave of the device that arrives later;
    what those that arrived earlier had stored is seen by loads behind it. The result is uniform.
  }];
  let arguments = (ins KwBuffer:$buffer, I32:$lane);
  let results = (outs I32:$before);
  let assemblyFormat = "$buffer `[` $lane `]` attr-dict `:` type($buffer)";
}

def Kw_BarrierOp : KwOp<"barrier", []> {
  let summary = "workgroup barrier, without any wait on memory";
  let assemblyFormat = "attr-dict";
}

#endif // KW_OPS_TD
