# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The torch operators, one file a family. Importing them registers them."""

from .attention import attention_decode, attention_decode_lse
from .gemm import gemm, gemm_packed
from .rmsnorm import add_rms_norm, rms_norm

__all__ = [
    "add_rms_norm", "attention_decode", "attention_decode_lse", "gemm", "gemm_packed", "rms_norm",
]  # fmt: skip
