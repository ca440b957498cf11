# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Rows of `lookup_table.json`, taken by Inductor's own GEMM lowering.

    with kernelwright.lookup.activate("out/bundle"):
        y = torch.compile(model)(x)
"""

from .activation import Activation, ActivationError, activate
from .keys import Key, KeyFormatError, TensorKey, parse_key
from .table import TableError, read_table

__all__ = [
    "Activation", "ActivationError", "Key", "KeyFormatError", "TableError", "TensorKey", "activate",
    "parse_key", "read_table",
]  # fmt: skip
