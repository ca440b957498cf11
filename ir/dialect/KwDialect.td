// Kernelwright
// SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
//
// The dialect `kw`: what one wave does to tiles, between a scheduled KernelPlan and rocdl.
// Read README.md first.
#ifndef KW_DIALECT_TD
#define KW_DIALECT_TD

include "mlir/IR/EnumAttr.td"
include "mlir/IR/OpBase.td"
include "mlir/Interfaces/SideEffectInterfaces.td"

def KwDialect : Dialect {
  let name = "kw";
  let cppNamespace = "::kw::dialect";
  let summary = "Wave-level tile operations";
  let description = [{
    Operations act for one wave on per-lane values of LLVM-compatible types, so that no type
    conversion is needed. Every decision (addresses, order, waits) is an attribute or an operand:
    lowering passes decide nothing.
  }];
}

class KwOp<string mnemonic, list<Trait> traits = []> : Op<KwDialect, mnemonic, traits>;

// ---- Types ---------------------------------------------------------------------------------------
// Pointers by address space: 1 global, 3 LDS, 8 buffer resource.
class KwPointer<int space, string description>
    : Type<CPred<"::kw::dialect::isPointer($_self, " # space # ")">, description>;
def KwGlobalPointer : KwPointer<1, "pointer to global memory">;
def KwLdsPointer : KwPointer<3, "pointer to LDS">;
def KwBuffer : KwPointer<8, "buffer resource">;
def KwVector : VectorOfLengthAndType<[1, 2, 4, 8, 16, 32],
                                     [F32, F16, BF16, I8, I16, I32, F8E4M3FN, F8E5M2]>;
def KwValue : AnyTypeOf<[KwVector, F32, F16, BF16, I32, I16, I8]>;

def KwReduction : I32EnumAttr<"Reduction", "operation of a reduction", [
    I32EnumAttrCase<"add", 0>, I32EnumAttrCase<"max", 1>]> {
  let cppNamespace = "::kw::dialect";
}

#endif // KW_DIALECT_TD
