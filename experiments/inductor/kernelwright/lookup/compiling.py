# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Compiles Inductor's Triton kernel to a code object for the GPU that Triton's driver names, and
reads what the compiler made of it."""

from __future__ import annotations

import dataclasses
import re

from .lowering import Lowered

_FIELDS = {
    "vgpr": r"\.num_vgpr, (\d+)",
    "agpr": r"\.num_agpr, (\d+)",
    "sgpr": r"\.sgpr_count:\s+(\d+)",
    "vgpr_spills": r"\.vgpr_spill_count:\s+(\d+)",
    "sgpr_spills": r"\.sgpr_spill_count:\s+(\d+)",
    "scratch_bytes": r"\.private_segment_fixed_size:\s+(\d+)",
}


@dataclasses.dataclass(frozen=True)
class Compiled:
    """Of one wave, except `lds_bytes` (dynamic, of a workgroup) and `mfma` (instructions in the text).
    `vgpr` counts without AGPRs; `total_vgpr` is what the wave is given of the unified file."""

    lds_bytes: int
    vgpr: int
    agpr: int
    total_vgpr: int
    sgpr: int
    vgpr_spills: int
    sgpr_spills: int
    scratch_bytes: int
    mfma: int
    num_warps: int
    num_stages: int
    triton: str
    hsaco: bytes = dataclasses.field(repr=False)
    assembly: str = dataclasses.field(repr=False)


def _binary(lowered: Lowered):
    """Triton's compiled kernel: Inductor's own autotuner compiles it, with its options."""
    from torch._inductor import config
    from torch._inductor.codecache import PyCodeCache

    static = "use_static_triton_launcher", "use_static_cuda_launcher"
    options = {name: False for name in static if hasattr(config, name)}
    with config.patch({**options, "compile_threads": 1}):
        tuner = getattr(PyCodeCache.load(lowered.source), lowered.kernel)
        tuner.inductor_meta["use_static_cuda_launcher"] = False
        tuner.precompile(warm_cache_only=True)
    return tuner.compile_results[0].kernel


def compile_kernel(lowered: Lowered) -> Compiled:
    import triton

    binary = _binary(lowered)
    text = binary.asm["amdgcn"]
    counts = {}
    for name, pattern in _FIELDS.items():
        match = re.search(pattern, text)
        if match is None:
            raise RuntimeError(f"the compiler's assembly does not say '{name}'")
        counts[name] = int(match[1])
    return Compiled(
        lds_bytes=binary.metadata.shared,
        total_vgpr=int(re.search(r"\.amdhsa_next_free_vgpr (\d+)", text)[1]),
        mfma=len(re.findall(r"^\s+v_mfma_", text, re.MULTILINE)),
        num_warps=binary.metadata.num_warps,
        num_stages=binary.metadata.num_stages,
        triton=triton.__version__,
        hsaco=binary.asm["hsaco"],
        assembly=text,
        **counts,
    )
