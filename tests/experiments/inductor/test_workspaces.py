# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Buffers that a kernel needs beside its tensors: sizes by expression, zeroed, kept when reset."""

import dataclasses

import pytest
import torch

from test_operators import operands


@pytest.fixture
def split(kernelwright):
    """The GEMM of the bundle with the workspaces of a split-K kernel, in every form."""
    from kernelwright.bundle import Workspace

    (kernel,) = kernelwright.registry.kernels("gemm")
    spaces = (
        Workspace("partials", "ceildiv(m, 16) * 1024", zeroed=False, reset=False),
        Workspace("scratch", "m * 4", zeroed=True, reset=False),
        Workspace("arrivals", "ceildiv(m, 16) * 8", zeroed=True, reset=True),
    )
    kernelwright.registry._kernels[kernel.sha256, kernel.problem] = dataclasses.replace(kernel, workspaces=spaces)
    return kernelwright


def addresses(package, call):
    values = package.registry.launcher.calls[call][3]
    return {name: values[name] for name in ("partials", "scratch", "arrivals")}


def test_a_launch_gets_every_workspace(split):
    a, b = operands(17)
    torch.ops.kernelwright.gemm(a, b)
    given = addresses(split, 0)
    assert all(given.values()) and len(set(given.values())) == 3


def test_counters_are_kept_and_replaced_when_they_grow(split):
    for m in (17, 17, 20, 40):
        torch.ops.kernelwright.gemm(*operands(m))
    kept = [addresses(split, call)["arrivals"] for call in range(4)]
    assert kept[0] == kept[1] == kept[2]
    ((held,),) = [split.registry._workspaces.values()]
    assert held.data_ptr() == kept[3] and held.numel() == 24 and not held.any()
