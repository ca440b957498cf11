# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Level L-1 (no torch): keys of Inductor's lookup table are read and printed exactly."""

import pytest
from kernelwright.lookup.keys import KeyFormatError, TensorKey, parse_key
from lookup_rows import ARCH, hand_table

# As torch 2.11 and 2.13 print them.
GOLDEN = [
    "((torch.float16, [4096, 4096], [4096, 1]), (torch.float16, [4096, 4096], [4096, 1]))+mm",
    "((torch.float16, [64, 256], [256, 1]), (torch.float16, [256, 512], [1, 256]))+mm",
    "((torch.float16, [8, 256, 128], [32768, 128, 1]), (torch.float16, [8, 128, 64], [8192, 64, 1]))+bmm",
    "((torch.bfloat16, [1024, 512], [0, 1]), (torch.bfloat16, [1024, 256], [256, 1]), "
    "(torch.bfloat16, [256, 512], [1, 256]))+alpha=1&beta=1+addmm",
    "((torch.float16, [8, 256, 64], [16384, 64, 1]), (torch.float16, [8, 256, 128], [32768, 128, 1]), "
    "(torch.float16, [8, 128, 64], [8192, 64, 1]))+alpha=0.5&beta=2+baddbmm",
    "((torch.float32, [5], [1]), (torch.float32, [], []))+mm",
]


@pytest.mark.parametrize("text", GOLDEN + list(hand_table()))
@pytest.mark.parametrize("device", [None, ARCH, "NVIDIA H200"])
def test_reading_and_printing_is_the_identity(text, device):
    text = f"{device}+{text}" if device else text
    key = parse_key(text)
    assert str(key) == text and key.device == device


def test_parts():
    key = parse_key(f"{ARCH}+{GOLDEN[3]}")
    assert key.device == ARCH and key.operation == "addmm"
    assert key.scalars == (("alpha", "1"), ("beta", "1"))
    assert key.tensor("bias") == TensorKey("bfloat16", (1024, 512), (0, 1))
    assert key.tensor("b").strides == (1, 256)
    assert key.sizes == (1024, 512, 256)


@pytest.mark.parametrize(
    "text",
    [
        "", "mm", GOLDEN[0][:-3], GOLDEN[0].replace(", ", ","), GOLDEN[0].replace("torch.", ""),
        ARCH + GOLDEN[0], GOLDEN[0] + "+", GOLDEN[0].replace("[4096, 1]", "[4096, 1.0]"),
        GOLDEN[0].replace("[4096, 1]", "[4096, 1,]"), GOLDEN[0].replace("[4096, 1]", "(4096, 1)"),
        GOLDEN[0].replace("))+", ")+"), GOLDEN[3].replace("&", ","), GOLDEN[0].replace("4096", "04096"),
        GOLDEN[0] + " ", GOLDEN[0].replace("+mm", "++mm"),
    ],
)  # fmt: skip
def test_what_inductor_would_not_print_is_refused(text):
    with pytest.raises(KeyFormatError):
        parse_key(text)
