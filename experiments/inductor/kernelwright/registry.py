# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The kernels that are loaded, and which of them runs a call.

A call that no kernel is right for takes the operator's reference path in lenient mode and raises
`NoKernel` with every kernel's reason in strict mode.
"""

from __future__ import annotations

import collections
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import torch

from .bundle import Kernel, Workspace, read_bundle
from .launch import HipLauncher, Launcher


# What a fact or a size means where a row, or an operator, does not know it. One that is not here must
# be known to both.
_NEUTRAL = {
    "preshuffle": 0, "alpha": 1, "beta": 0, "epilogue": "", "batch": 1, "sa": 0, "sb": 0, "sc": 0,
}  # fmt: skip


class NoKernel(RuntimeError):
    """No loaded kernel is right for the call."""


class Registry:
    def __init__(self) -> None:
        self.strict = False
        self.launcher: Launcher | None = None  # instead of the GPU's: for tests and emulation
        self._hip: HipLauncher | None = None
        self.hits: collections.Counter[str] = collections.Counter()
        self.misses: collections.Counter[str] = collections.Counter()
        self._kernels: dict[tuple[str, str], Kernel] = {}
        self._workspaces: dict[tuple, torch.Tensor] = {}
        self._lock = threading.Lock()

    def load(self, directory: str | Path) -> int:
        """Adds the kernels of a bundle; loading it again changes nothing. Returns their number."""
        kernels = read_bundle(directory)
        with self._lock:  # calls in other threads go on with the kernels that they have seen
            self._kernels = self._kernels | {
                (kernel.sha256, kernel.problem): kernel for kernel in kernels
            }
        return len(kernels)

    def _count(self, counter: collections.Counter[str], name: str) -> None:
        with self._lock:
            counter[name] += 1

    def clear(self) -> None:
        self.__init__()

    def kernels(self, operator: str) -> list[Kernel]:
        return [kernel for kernel in self._kernels.values() if kernel.operator == operator]

    def _runs_on(self, kernel: Kernel, device: torch.device) -> str | None:
        if self.launcher is not None:
            return None
        if device.type != "cuda" or torch.version.hip is None:
            return f"{kernel.name} needs an AMD GPU (given {device})"
        arch = torch.cuda.get_device_properties(device).gcnArchName.split(":")[0]
        return None if arch == kernel.target else f"{kernel.name} needs {kernel.target} (given {arch})"

    def _refusal(
        self,
        kernel: Kernel,
        facts: Mapping[str, Any],
        sizes: Mapping[str, int],
        tensors: Mapping[str, torch.Tensor],
    ) -> str | None:
        for name in {**kernel.facts, **facts}:
            expected, given = (side.get(name, _NEUTRAL.get(name)) for side in (kernel.facts, facts))
            if expected != given:
                return f"{kernel.name} needs {name}={expected} (given {given})"
        for name, value in sizes.items():
            if name not in kernel.sizes and value != _NEUTRAL.get(name):
                return f"{kernel.name} has no size {name} (given {value})"
        for name, alignment in kernel.alignment.items():
            if name in tensors and tensors[name].data_ptr() % alignment:
                return f"{kernel.name} needs {name} aligned to {alignment} bytes"
        return kernel.refusal(sizes) or self._runs_on(kernel, next(iter(tensors.values())).device)

    def choose(
        self,
        operator: str,
        calls: Sequence[tuple[Mapping[str, Any], Mapping[str, int]]],
        tensors: Mapping[str, torch.Tensor],
    ) -> tuple[Kernel, Mapping[str, int]] | None:
        """Of the kernels that are right for one of `calls`, (facts, sizes) that describe the same
        call in other words, the one that was tuned for the nearest sizes, then the fastest, with the
        sizes of that description; None for the reference path."""
        reasons = {}
        given = calls[0][1]
        for kernel in sorted(
            self.kernels(operator), key=lambda kernel: (kernel.distance(given), kernel.rank)
        ):
            for facts, sizes in calls:
                reason = self._refusal(kernel, facts, sizes, tensors)
                if reason is None:
                    self._count(self.hits, kernel.name)
                    return kernel, sizes
                reasons[reason] = None
        self._count(self.misses, operator)
        if self.strict:
            raise NoKernel("; ".join(reasons) or f"no kernel for {operator} is loaded")
        return None

    def select(
        self,
        operator: str,
        facts: Mapping[str, Any],
        sizes: Mapping[str, int],
        tensors: Mapping[str, torch.Tensor],
    ) -> Kernel | None:
        """`choose` for a call that has one description."""
        chosen = self.choose(operator, [(facts, sizes)], tensors)
        return None if chosen is None else chosen[0]

    def _workspace(
        self, kernel: Kernel, space: Workspace, sizes: Mapping[str, int], device: torch.device
    ) -> torch.Tensor:
        """Memory that a kernel leaves as it found it (arrival counters) is zeroed once and kept, one
        for each stream, because launches on different streams run at the same time; it is replaced
        when a larger one is needed. The rest goes back to the caching allocator, which gives it to
        whoever asks next on the same stream."""
        count = space.bytes_of(sizes)
        if not space.zeroed:
            return torch.empty(count, dtype=torch.uint8, device=device)
        if not space.reset:
            return torch.zeros(count, dtype=torch.uint8, device=device)
        stream = torch.cuda.current_stream(device).cuda_stream if device.type == "cuda" else 0
        place = (kernel.sha256, space.name, device, stream)
        if device.type != "cuda":  # no stream orders calls there
            place = (*place, threading.get_ident())
        held = self._workspaces.get(place)
        if held is None or held.numel() < count:
            held = self._workspaces[place] = torch.zeros(count, dtype=torch.uint8, device=device)
        return held

    def run(
        self,
        kernel: Kernel,
        sizes: Mapping[str, int],
        tensors: Mapping[str, torch.Tensor],
        scalars: Mapping[str, float] | None = None,
    ) -> None:
        """Launches `kernel` over `tensors` (inputs and outputs by the names of its arguments)."""
        if self.launcher is None:
            self._hip = self._hip or HipLauncher()
        launcher = self.launcher or self._hip
        first = next(iter(tensors.values()))
        scratch = {
            space.name: self._workspace(kernel, space, sizes, first.device)
            for space in kernel.workspaces
        }
        addresses = {name: tensor.data_ptr() for name, tensor in {**tensors, **scratch}.items()}
        values = {**addresses, **sizes, **(scalars or {})}
        with torch.cuda.device_of(first):
            for launch in kernel.launches:
                launcher.launch(kernel, launch, launch.grid_of(sizes), values)


registry = Registry()
