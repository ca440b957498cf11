# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import pytest
from kernelwright.expressions import ExpressionError, evaluate

SIZES = {"m": 130, "k": 64}


@pytest.mark.parametrize(
    "text, value",
    [
        ("m", 130),
        ("ceildiv(m, 128) * 3", 6),
        ("-7 / 2", -4),
        ("m % 64", 2),
        ("m >= 1 and m <= 130", 1),
        ("not (m == 130) or k < 64", 0),
        ("min(m, k) + max(m, k)", 194),
        ("m - k - 1", 65),
    ],
)
def test_value(text, value):
    assert evaluate(text, SIZES) == value


@pytest.mark.parametrize(
    "text",
    ["q", "m +", "", "m / 0", "m % 0", "m ** 2", "__import__('os')", "m if k else 1", "1 < m < 3",
     "'m'", "m.real", "[m]", "True", "min(m)", "lambda: 1", "1.5"],
)  # fmt: skip
def test_refused(text):
    with pytest.raises(ExpressionError):
        evaluate(text, SIZES)
