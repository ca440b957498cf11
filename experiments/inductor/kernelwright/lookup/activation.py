# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Makes Inductor use a lookup table, in every thread, and with caches that know about it.

Two things must hold whenever Inductor compiles: its options name the table, and its choices
handler is one that looks into it. Both live in the thread: options are context variables, the
handler is made once a thread and kept. A thread that compiled before keeps the handler without a
table, and Inductor's graph cache, whose key has the options but not the handler, would then store
code without our rows under the key of code with them. So both are set around each compilation,
in whatever thread it runs, by a wrapper around Inductor's entry points that is installed once.
"""

from __future__ import annotations

import contextlib
import functools
import threading
from pathlib import Path
from typing import Any

from . import state as lookup_state
from .state import State, active_table
from .table import Table, check_table, read_table

MISSES = ("aten", "autotune", "error")


class ActivationError(RuntimeError):
    """This torch has no lookup table, or something else already makes Inductor's choices."""


_lock = threading.RLock()
_active: Activation | None = None


def _options(state: State) -> dict[str, Any]:
    from .choices import make_choices

    options = {"lookup_table.table": state.rows, "inductor_choices_class": make_choices}
    if state.pinned:
        options |= {
            "max_autotune_gemm": True,
            "max_autotune_gemm_backends": "ATEN,TRITON",
            "shape_padding": False,  # padded sizes would be looked up under other keys
        }
    return options


def _is_default(name: str) -> bool:
    """Whether an option has the value that it has where nobody set it. (config._is_default would say
    no for ever after the first config.patch.)"""
    from torch._inductor import config

    return config.__getattr__(name) == config._config[name].default


@contextlib.contextmanager
def _during_compilation():
    """Options and handler of the active table in this thread; what the user set stays."""
    state = active_table()
    if not state.rows:
        yield
        return
    from torch._inductor import config
    from torch._inductor.choices import InductorChoices
    from torch._inductor.lookup_table.choices import LookupTableChoices
    from torch._inductor.virtualized import V

    from .choices import RowChoices

    if type(V.choices) not in (InductorChoices, LookupTableChoices, RowChoices):
        raise ActivationError(
            f"Inductor's choices are made by {type(V.choices).__name__}: the table is not looked at"
        )
    options = {name: value for name, value in _options(state).items() if _is_default(name)}
    with V.set_choices_handler(RowChoices()), config.patch(options):
        yield


def _wrapped(function):
    @functools.wraps(function)
    def call(*arguments, **options):
        with _during_compilation():
            return function(*arguments, **options)

    call.is_kernelwright = True
    return call


def _wrap_compile(module) -> None:
    """compile_fx is what torch.compile calls; its inner function also compiles backward graphs
    later, in autograd's thread."""
    outer, inner = module.compile_fx, _wrapped(module.compile_fx_inner)
    module.compile_fx_inner = inner

    @functools.wraps(outer)
    def compile_fx(model, inputs, inner_compile=inner, *arguments, **options):
        with _during_compilation():
            return outer(model, inputs, inner_compile, *arguments, **options)

    compile_fx.is_kernelwright = True
    module.compile_fx = compile_fx


def _install() -> None:
    try:
        import torch._inductor.lookup_table.choices  # noqa: F401
        from torch._inductor import compile_fx as module
    except ImportError as error:
        raise ActivationError(f"this torch has no lookup table (2.11 or later has): {error}") from error
    if not getattr(module.compile_fx, "is_kernelwright", False):
        _wrap_compile(module)


class Activation:
    """An active table; a context manager. `deactivate` may be called more than once."""

    def __init__(self, state: State) -> None:
        self.state = state
        self._count = 1

    def __enter__(self) -> Activation:
        return self

    def __exit__(self, *_) -> None:
        self.deactivate()

    def deactivate(self) -> None:
        global _active
        with _lock:
            self._count -= 1
            if self._count <= 0 and _active is self:
                _active = None
                lookup_state.use(None)

    def report(self) -> dict[str, Any]:
        """Lookups that found rows and that found none, by key, and keys nothing asked for."""
        hits = dict(self.state.hits)
        found = {key for key in self.state.rows if any(key.endswith(hit) for hit in hits)}
        unused = sorted(self.state.rows.keys() - found)
        return {"hits": hits, "misses": dict(self.state.misses_of), "unused": unused}


def activate(
    table: str | Path | Table, *, misses: str = "aten", pinned: bool = True
) -> Activation:
    """Makes Inductor take the rows of `table`: a bundle's folder, its lookup_table.json, or the dict.

    `misses` is for operations without a row: "aten" (as if nothing were tuned), "autotune"
    (Inductor's own candidates, benchmarked) or "error". `pinned` turns on what rows need (GEMM
    autotuning, backends ATEN and TRITON, no padding of shapes) unless the user set it otherwise;
    with False that is left to the user. Code compiled before stays: torch.compiler.reset() drops it.
    One table is active at a time; activating the same one again is counted.
    """
    if misses not in MISSES:
        raise ValueError(f"misses is '{misses}', expected one of {', '.join(MISSES)}")
    rows = check_table(table) if isinstance(table, dict) else read_table(table)
    _install()
    global _active
    with _lock:
        if _active is None:
            _active = Activation(State(rows, misses, pinned))
            lookup_state.use(_active.state)
        elif (_active.state.rows, _active.state.misses, _active.state.pinned) == (rows, misses, pinned):
            _active._count += 1
        else:
            raise ActivationError("another lookup table is active; deactivate it first")
        return _active
