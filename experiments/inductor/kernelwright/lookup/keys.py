# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Keys of Inductor's lookup table: `[DEVICE+]INPUTS[+SCALARS]+OP`. No torch here.

INPUTS is Python's text of a tuple of (dtype, [sizes], [strides]), sizes and strides in elements.
DEVICE holds `+` itself (gfx950:sramecc+:xnack-), so a key is never split at `+`.
"""

from __future__ import annotations

import dataclasses
import re

_TENSOR = re.compile(r"\(torch\.(\w+), \[([0-9, ]*)\], \[([0-9, ]*)\]\)")
_SCALAR = r"\w+=-?[0-9.]+(?:e[-+][0-9]+)?"
_REST = re.compile(rf"\+(?:({_SCALAR}(?:&{_SCALAR})*)\+)?([a-z_]+)")

# What each operation's key lists, by role.
OPERANDS = {
    "mm": ("a", "b"),
    "addmm": ("bias", "a", "b"),
    "bmm": ("a", "b"),
    "baddbmm": ("bias", "a", "b"),
}


class KeyFormatError(ValueError):
    """The text is no key as Inductor prints it."""


@dataclasses.dataclass(frozen=True)
class TensorKey:
    dtype: str  # torch's name without `torch.`
    sizes: tuple[int, ...]
    strides: tuple[int, ...]

    def __str__(self) -> str:
        return f"(torch.{self.dtype}, {list(self.sizes)}, {list(self.strides)})"


@dataclasses.dataclass(frozen=True)
class Key:
    device: str | None  # None: a key for every device
    tensors: tuple[TensorKey, ...]
    scalars: tuple[tuple[str, str], ...]  # sorted by name; values as Python prints them
    operation: str

    def __str__(self) -> str:
        parts = [] if self.device is None else [self.device]
        parts.append("(" + ", ".join(map(str, self.tensors)) + ")")
        if self.scalars:
            parts.append("&".join(f"{name}={value}" for name, value in self.scalars))
        return "+".join([*parts, self.operation])

    def tensor(self, role: str) -> TensorKey:
        return self.tensors[OPERANDS[self.operation].index(role)]

    @property
    def sizes(self) -> tuple[int, int, int]:
        """m, n, k of the product (of each matrix of a batch)."""
        a, b = self.tensor("a"), self.tensor("b")
        return a.sizes[-2], b.sizes[-1], a.sizes[-1]


def _numbers(text: str) -> tuple[int, ...]:
    return tuple(int(number) for number in text.split(", ")) if text else ()


def _tensors(text: str) -> tuple[TensorKey, ...]:
    found = [TensorKey(m[1], _numbers(m[2]), _numbers(m[3])) for m in _TENSOR.finditer(text)]
    return tuple(found)


def parse_key(text: str) -> Key:
    """The parts of a key. What Inductor would print otherwise is refused: it would never be found."""
    start, end = text.find("((torch."), text.rfind("))")
    if start < 0 or end < start:
        raise KeyFormatError(f"'{text}' has no tuple of (dtype, sizes, strides)")
    rest = _REST.fullmatch(text[end + 2 :])
    if rest is None or (start and text[start - 1] != "+"):
        raise KeyFormatError(f"'{text}' does not end in '+OP' or begins with a device without '+'")
    try:
        tensors = _tensors(text[start : end + 2])
    except ValueError as error:
        raise KeyFormatError(f"'{text}': {error}") from error
    pairs = [pair.split("=", 1) for pair in rest[1].split("&")] if rest[1] else []
    key = Key(
        text[: start - 1] if start else None, tensors, tuple((n, v) for n, v in pairs), rest[2]
    )
    if str(key) != text:
        raise KeyFormatError(f"'{text}' is not written as Inductor writes it: '{key}'")
    return key
