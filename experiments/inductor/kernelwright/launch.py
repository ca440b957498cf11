# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Packs kernel arguments and launches code objects through HIP's module API."""

from __future__ import annotations

import ctypes
import ctypes.util
import struct
from collections.abc import Mapping
from typing import Protocol

from .bundle import Kernel, Launch

_FORMATS = {"pointer": "<Q", "i32": "<i", "i64": "<q", "f32": "<f"}


def pack(launch: Launch, values: Mapping[str, int | float]) -> bytes:
    """Kernarg segment: each argument at its offset, gaps zero. `values` hold device addresses,
    sizes and scalars by argument name."""
    segment = bytearray(launch.kernarg_bytes)
    for argument in launch.arguments:
        struct.pack_into(_FORMATS[argument.kind], segment, argument.offset, values[argument.name])
    return bytes(segment)


class Launcher(Protocol):
    """Who runs a kernel. `values` as for `pack`; `grid` in workgroups."""

    def launch(
        self,
        kernel: Kernel,
        launch: Launch,
        grid: tuple[int, ...],
        values: Mapping[str, int | float],
    ) -> None: ...


class HipError(RuntimeError):
    """A HIP call failed."""


class HipLauncher:
    """The module API of libamdhip64, on torch's current stream. Modules stay loaded."""

    _BUFFER_POINTER, _BUFFER_SIZE, _END = 1, 2, 3  # HIP_LAUNCH_PARAM_*

    def __init__(self) -> None:
        self._hip = ctypes.CDLL("libamdhip64.so")
        self._functions: dict[tuple[str, str, int], ctypes.c_void_p] = {}

    def _check(self, status: int, call: str) -> None:
        if status:
            self._hip.hipGetErrorString.restype = ctypes.c_char_p
            raise HipError(f"{call}: {self._hip.hipGetErrorString(status).decode()}")

    def _function(self, kernel: Kernel, symbol: str, device: int) -> ctypes.c_void_p:
        place = (kernel.sha256, symbol, device)
        if place not in self._functions:
            module, function = ctypes.c_void_p(), ctypes.c_void_p()
            image = kernel.image()
            self._check(
                self._hip.hipModuleLoadData(ctypes.byref(module), image), "hipModuleLoadData"
            )
            self._check(
                self._hip.hipModuleGetFunction(ctypes.byref(function), module, symbol.encode()),
                "hipModuleGetFunction",
            )
            self._functions[place] = function
        return self._functions[place]

    def launch(self, kernel, launch, grid, values) -> None:
        import torch

        segment = ctypes.create_string_buffer(pack(launch, values), launch.kernarg_bytes)
        size = ctypes.c_size_t(launch.kernarg_bytes)
        extra = (ctypes.c_void_p * 5)(
            self._BUFFER_POINTER,
            ctypes.cast(segment, ctypes.c_void_p),
            self._BUFFER_SIZE,
            ctypes.cast(ctypes.pointer(size), ctypes.c_void_p),
            self._END,
        )
        stream = ctypes.c_void_p(torch.cuda.current_stream().cuda_stream)
        function = self._function(kernel, launch.kernel, torch.cuda.current_device())
        self._check(
            self._hip.hipModuleLaunchKernel(
                function, *grid, *launch.block, launch.dynamic_lds, stream, None, extra
            ),
            "hipModuleLaunchKernel",
        )
