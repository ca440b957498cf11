# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What the launcher of a GPU asks of HIP's module API, told by a library that records the calls."""

import ctypes
import hashlib
import types

import pytest
import torch


class RecordingHip:
    """Takes the four functions that are used; `status` is what launches answer."""

    def __init__(self):
        self.calls, self.status = [], 0

    def hipModuleLoadData(self, module, image):
        self.calls.append(("load", bytes(image)))
        return 0

    def hipModuleGetFunction(self, function, module, symbol):
        self.calls.append(("function", symbol))
        return 0

    def hipModuleLaunchKernel(self, function, *arguments):
        *numbers, stream, parameters, extra = arguments
        size = ctypes.cast(extra[3], ctypes.POINTER(ctypes.c_size_t))[0]
        self.calls.append(("launch", tuple(numbers), ctypes.string_at(extra[1], size)))
        return self.status


class ErrorText:
    """ctypes functions carry a restype."""

    def __call__(self, status):
        return b"some reason"


@pytest.fixture
def hip(monkeypatch, kernelwright):
    """The registry with a launcher over a recording library, on a CPU."""
    from kernelwright import launch, registry

    library = RecordingHip()
    library.hipGetErrorString = ErrorText()
    monkeypatch.setattr(launch.ctypes, "CDLL", lambda name: library)
    stream = types.SimpleNamespace(cuda_stream=7)
    monkeypatch.setattr(torch.cuda, "current_stream", lambda *_: stream)
    monkeypatch.setattr(torch.cuda, "current_device", lambda: 0)
    registry.launcher = launch.HipLauncher()
    yield library
    registry.clear()


def test_a_kernel_is_loaded_once_and_launched_each_time(kernelwright, hip):
    for m in (16, 33):
        a, b = torch.zeros(m, 64, dtype=torch.bfloat16), torch.zeros(32, 64, dtype=torch.bfloat16)
        torch.ops.kernelwright.gemm(a, b.t())
    image = b"gemm_test"
    assert [call[0] for call in hip.calls] == ["load", "function", "launch", "launch"]
    assert hashlib.sha256(hip.calls[0][1]).hexdigest() == hashlib.sha256(image).hexdigest()
    assert hip.calls[1][1] == b"gemm_test_main"
    for (_, numbers, segment), m in zip(hip.calls[2:], (16, 33)):
        assert numbers == (-(-m // 16) * 2, 1, 1, 256, 1, 1, 0)
        assert len(segment) == 40 and int.from_bytes(segment[24:28], "little") == m


def test_a_failed_call_names_itself(kernelwright, hip):
    from kernelwright.launch import HipError

    hip.status = 719
    a, b = torch.zeros(16, 64, dtype=torch.bfloat16), torch.zeros(32, 64, dtype=torch.bfloat16)
    with pytest.raises(HipError, match="hipModuleLaunchKernel: some reason"):
        torch.ops.kernelwright.gemm(a, b.t())
