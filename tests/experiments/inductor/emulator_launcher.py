# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The emulator in place of a GPU behind the torch operators, and operands whose results are exact."""

import ctypes
import json
import subprocess

import torch
from kernelwright.launch import pack

BF16 = torch.bfloat16


def integers(*shape, dtype=BF16, seed=0):
    return torch.randint(-3, 4, shape, generator=torch.Generator().manual_seed(seed)).to(dtype)


class EmulatorLauncher:
    """Runs launches through `kw launch` over the memory of the tensors that `registry.run` was given."""

    def __init__(self, program, folder, package, monkeypatch):
        self.program, self.folder, self.names, self.tensors = program, folder, [], {}
        run = package.registry.run

        def remember(kernel, sizes, tensors, scalars=None):
            self.tensors = tensors
            run(kernel, sizes, tensors, scalars)

        monkeypatch.setattr(package.registry, "run", remember)

    def _bytes(self, kernel, name, values):
        if name in self.tensors:
            tensor = self.tensors[name]
            last = sum((size - 1) * stride for size, stride in zip(tensor.shape, tensor.stride()))
            return (last + 1) * tensor.element_size()
        (space,) = [space for space in kernel.workspaces if space.name == name]
        return space.bytes_of(values)

    def _argument(self, argument, segment):
        data = segment[argument.offset : argument.offset + argument.size]
        if argument.kind == "pointer":
            return {"offset": argument.offset, "kind": "buffer", "buffer": argument.name}
        return {"offset": argument.offset, "kind": "bytes", "value": data.hex()}

    def launch(self, kernel, launch, grid, values):
        segment = pack(launch, values)
        pointers = [item.name for item in launch.arguments if item.kind == "pointer"]
        inputs = {"a", "b", "bias", "aux", "aux2", "x", "weight", "residual", "q", "k", "v"}
        buffers, sizes = {}, {name: self._bytes(kernel, name, values) for name in pointers}
        for name, size in sizes.items():
            (self.folder / f"{name}.in").write_bytes(ctypes.string_at(values[name], size))
            buffers[name] = {"bytes": size, "role": "input" if name in inputs else "output",
                             "init": {"file": f"{name}.in"}, "save": f"{name}.out"}  # fmt: skip
        manifest = {
            "code_object": str(kernel.code_object), "buffers": buffers,
            "launches": [{"kernel": launch.kernel, "grid": list(grid), "block": list(launch.block),
                          "dynamic_lds": launch.dynamic_lds,
                          "args": [self._argument(item, segment) for item in launch.arguments]}],
        }  # fmt: skip
        (self.folder / "launch.json").write_text(json.dumps(manifest))
        run = subprocess.run(
            [self.program, "launch", self.folder / "launch.json", "--json"], capture_output=True, text=True
        )
        assert run.returncode == 0, run.stdout + run.stderr
        for name in sizes.keys() - inputs:
            data = (self.folder / f"{name}.out").read_bytes()
            ctypes.memmove(values[name], data, len(data))
        self.names.append(kernel.name)
