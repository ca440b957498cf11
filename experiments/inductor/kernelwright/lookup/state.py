# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The table that is active in this process: what activation.py sets and choices.py reads."""

from __future__ import annotations

import collections
import dataclasses

from .table import Table


@dataclasses.dataclass
class State:
    rows: Table = dataclasses.field(default_factory=dict)
    misses: str = "autotune"
    pinned: bool = False
    hits: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)
    misses_of: collections.Counter[str] = dataclasses.field(default_factory=collections.Counter)


_NONE = State()
_active: State | None = None


def active_table() -> State:
    return _NONE if _active is None else _active


def use(state: State | None) -> None:
    """Called under the lock of activation.py."""
    global _active
    _active = state
