# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""An MI355X that is not there: what Inductor and Triton ask a ROCm GPU, answered from a table.

`install()` must run before `torch._inductor` is imported (it registers its ROCm heuristics then)
and changes torch for the whole process: use a process of its own. Nothing can be launched.
"""

from __future__ import annotations

import sys
import types

GCN_ARCH = "gfx950:sramecc+:xnack-"
LDS_BYTES = 163840

PROPERTIES = types.SimpleNamespace(
    name="AMD Instinct MI355X",
    gcnArchName=GCN_ARCH,
    major=9,
    minor=5,
    multi_processor_count=256,
    warp_size=64,
    total_memory=288 << 30,
    L2_cache_size=4 << 20,
    regs_per_multiprocessor=4 * 512 * 64,
    max_threads_per_multi_processor=2048,
    max_threads_per_block=1024,
    shared_memory_per_block=LDS_BYTES,
    shared_memory_per_multiprocessor=LDS_BYTES,
    is_integrated=0,
    is_multi_gpu_board=0,
)


def _triton_driver():
    from triton.backends.amd.driver import HIPDriver

    class Utilities:
        def get_device_properties(self, device):
            return {
                "arch": GCN_ARCH,
                "warpSize": PROPERTIES.warp_size,
                "max_shared_mem": LDS_BYTES,
                "multiprocessor_count": PROPERTIES.multi_processor_count,
            }

    class Driver(HIPDriver):
        def __init__(self):  # the real one opens the HIP library
            self.utils = Utilities()
            self.get_current_device = lambda: 0
            self.get_current_stream = lambda device=0: 0
            self.get_device_capability = lambda device=0: (PROPERTIES.major, PROPERTIES.minor)
            self.set_current_device = lambda device: None

        @staticmethod
        def is_active():
            return True

    return Driver()


def _cuda_functions():
    """torch.cuda's functions that compiling asks."""
    return {
        "is_available": lambda: True,
        "device_count": lambda: 1,
        "current_device": lambda: 0,
        "get_device_properties": lambda device=None: PROPERTIES,
        "get_device_capability": lambda device=None: (PROPERTIES.major, PROPERTIES.minor),
        "get_device_name": lambda device=None: PROPERTIES.name,
        "is_bf16_supported": lambda *_: True,
        "set_device": lambda device: None,
        "synchronize": lambda device=None: None,
        "_exchange_device": lambda device: 0,
        "_maybe_exchange_device": lambda device: 0,
    }


def install() -> None:
    """Makes torch and Triton see one MI355X under ROCm 7 in this process."""
    if any(name.split(".")[:2] == ["torch", "_inductor"] for name in sys.modules):
        raise RuntimeError("torch._inductor is imported already: its heuristics are another GPU's")
    import torch
    import triton

    torch.version.hip, torch.version.cuda = "7.0.0", None
    triton.runtime.driver.set_active(_triton_driver())
    for name, function in _cuda_functions().items():
        setattr(torch.cuda, name, function)
    from torch._dynamo.device_interface import CudaInterface

    renamed = {"_exchange_device": "exchange_device", "_maybe_exchange_device": "maybe_exchange_device"}
    for name, function in _cuda_functions().items():
        if hasattr(CudaInterface, renamed.get(name, name)):
            setattr(CudaInterface, renamed.get(name, name), staticmethod(function))
    CudaInterface.get_raw_stream = staticmethod(lambda device: 0)
