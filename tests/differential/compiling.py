# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles a Triton kernel for gfx950 without a GPU, specialised as Triton's launcher does it."""

from dataclasses import dataclass

import ml_dtypes
import numpy as np
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource

TARGET = GPUTarget("hip", "gfx950", 64)
LDS_OF_A_CU = 163840  # bytes

TYPES = {
    np.dtype(np.float64): "fp64",
    np.dtype(np.float32): "fp32",
    np.dtype(np.float16): "fp16",
    np.dtype(ml_dtypes.bfloat16): "bf16",
    np.dtype(ml_dtypes.float8_e4m3fn): "fp8e4nv",
    np.dtype(ml_dtypes.float8_e5m2): "fp8e5",
    np.dtype(np.int8): "i8",
    np.dtype(np.int16): "i16",
    np.dtype(np.int32): "i32",
    np.dtype(np.int64): "i64",
    np.dtype(np.uint8): "u8",
    np.dtype(np.uint16): "u16",
    np.dtype(np.uint32): "u32",
    np.dtype(np.uint64): "u64",
}


@dataclass(frozen=True)
class CompiledKernel:
    """`hidden` counts the pointers to scratch memory that Triton adds behind the arguments."""

    name: str
    hsaco: bytes
    lds: int
    block: int
    hidden: int = 2


def compile_kernel(function, arguments, constants, buffer_operations=True, **options):
    """`arguments`: launching.Buffer objects and numpy scalars, in order; `constants` by name.
    Without `buffer_operations` the compiler must take buffers for larger than 2 GiB and uses global
    instead of buffer instructions. `options` are Triton's (num_warps, num_stages, ...)."""
    signature, attributes = {}, {}
    values = iter(arguments)
    for index, name in enumerate(function.arg_names):
        if name in constants:
            signature[name] = "constexpr"
            continue
        value = next(values)
        if isinstance(value, np.generic):
            signature[name] = TYPES[value.dtype]
            divisible = value.dtype.kind in "iu" and int(value) % 16 == 0
            attributes[(index,)] = [["tt.divisibility", 16]] if divisible else []
        else:
            signature[name] = "*" + TYPES[value.dtype]
            attributes[(index,)] = [["tt.divisibility", 16]]
            if buffer_operations:
                attributes[(index,)].append(["tt.pointer_range", 32])
    source = ASTSource(function, signature=signature, constexprs=constants, attrs=attributes)
    compiled = triton.compile(source, target=TARGET, options={"enable_fp_fusion": True, **options})
    lds = compiled.metadata.shared
    assert lds <= LDS_OF_A_CU, f"{function.__name__}: {lds} bytes of LDS, choose a smaller tile"
    return CompiledKernel(compiled.metadata.name, compiled.asm["hsaco"], lds,
                          64 * compiled.metadata.num_warps)
