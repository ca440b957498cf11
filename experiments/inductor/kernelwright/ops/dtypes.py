# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""torch's element types and their names in problems."""

import torch

NAMES = {
    torch.float32: "f32",
    torch.float16: "f16",
    torch.bfloat16: "bf16",
    torch.int8: "i8",
    torch.int32: "i32",
    torch.float8_e4m3fn: "fp8",
    torch.float8_e5m2: "bf8",
}
