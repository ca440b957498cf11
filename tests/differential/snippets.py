# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""A few instructions over many inputs: assembled by LLVM, run by `kw launch` in strict mode."""

import shutil
import subprocess
from dataclasses import dataclass, field

import launching
import numpy as np

ITEMS_OF_A_WAVE = 64
FIRST_INPUT, FIRST_RESULT = 16, 128

# Bits of MODE: rounding 0-3 (f32, then f64 and f16: 0 nearest even, 1 up, 2 down, 3 to zero),
# denormals kept 4-7 (f32 sources, results, then f64 and f16), 8 DX10_CLAMP, 9 IEEE, 23 FP16_OVFL.
USUAL_MODE = 0x3F0
OVERFLOW_SATURATES = 1 << 23

KERNEL = """
.globl {name}
.p2align 8
.type {name},@function
{name}:
  s_load_dwordx4 s[4:7], s[0:1], 0x0
  v_and_b32 v1, 0x3ff, v0
  s_lshl_b32 s8, s2, 6
  v_add_u32 v1, s8, v1
  v_lshlrev_b32 v1, 2, v1
  s_waitcnt lgkmcnt(0)
{loads}
  s_waitcnt vmcnt(0)
{mode}
{body}
  s_mov_b64 exec, -1
  s_nop 15
  s_nop 15
{stores}
  s_endpgm
.Lend_{name}:
.size {name}, .Lend_{name}-{name}
.rodata
.p2align 6
.amdhsa_kernel {name}
  .amdhsa_next_free_vgpr 256
  .amdhsa_next_free_sgpr 100
  .amdhsa_accum_offset 256
  .amdhsa_kernarg_size 16
  .amdhsa_user_sgpr_kernarg_segment_ptr 1
  .amdhsa_system_sgpr_workgroup_id_x 1
  .amdhsa_float_denorm_mode_32 3
.end_amdhsa_kernel
.text
"""
NOTE = """
  - .name: {name}
    .symbol: {name}.kd
    .kernarg_segment_size: 16
    .group_segment_fixed_size: 0
    .private_segment_fixed_size: 0
    .kernarg_segment_align: 8
    .wavefront_size: 64
    .sgpr_count: 100
    .vgpr_count: 256
    .agpr_count: 0
    .max_flat_workgroup_size: 64
    .args:
      - {{.name: in, .offset: 0, .size: 8, .value_kind: global_buffer, .address_space: global}}
      - {{.name: out, .offset: 8, .size: 8, .value_kind: global_buffer, .address_space: global}}"""


@dataclass(eq=False)
class Snippet:
    """`body` finds the words of its inputs in v16, v17, ... (64-bit inputs take two, low first) and
    leaves `results` words in v128, v129, ... Inputs are arrays of integers or floats of one length;
    narrow ones are zero-extended. `got` becomes [results, items] of uint32."""

    body: str
    inputs: list
    results: int = 1
    mode: int = USUAL_MODE
    got: np.ndarray = field(default=None, repr=False)
    name: str = ""

    def words(self):
        """Input words [word, item], padded to whole waves."""
        rows = []
        for array in self.inputs:
            array = np.ascontiguousarray(array)
            raw = array.view(f"u{array.dtype.itemsize}")
            if raw.dtype.itemsize == 8:
                rows += [raw.astype(np.uint32), (raw >> np.uint64(32)).astype(np.uint32)]
            else:
                rows.append(raw.astype(np.uint32))
        items = len(rows[0])
        padding = -items % ITEMS_OF_A_WAVE
        return np.stack([np.concatenate([row, np.resize(row, padding)]) for row in rows])

    def result(self, word=0, dtype=np.uint32):
        """One result word: its low bits for narrow types, the next word too for 64-bit ones."""
        size = np.dtype(dtype).itemsize
        raw = self.got[word]
        if size == 8:
            raw = raw.astype(np.uint64) | self.got[word + 1].astype(np.uint64) << np.uint64(32)
        return raw.astype(f"u{size}").view(dtype)


def assemble(text, folder, options=()):
    """Bytes of a code object."""
    folder.mkdir(parents=True, exist_ok=True)
    source, relocatable, linked = (folder / f"snippet{end}" for end in (".s", ".o", ".co"))
    source.write_text(text)
    run(
        [
            tool("llvm-mc"),
            "-triple=amdgcn-amd-amdhsa",
            "-mcpu=gfx950",
            "-filetype=obj",
            *options,
            source,
            "-o",
            relocatable,
        ]
    )
    run([tool("ld.lld"), "-shared", relocatable, "-o", linked])
    return linked.read_bytes()


def tool(name):
    """An LLVM program of the version that the project is built with."""
    found = shutil.which(f"{name}-22") or shutil.which(name)
    assert found, f"{name} of LLVM 22 is not installed"
    return found


def run(command):
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 0, f"{command[0]}: {done.stderr[:4000]}"
    return done.stdout


def run_snippets(program, folder, snippets, extra=()):
    """Runs all of them by one `kw launch` (with the arguments `extra`); a finding fails. Returns
    the snippets."""
    texts, notes, launches, outputs = [], [], [], []
    for index, snippet in enumerate(snippets):
        snippet.name = f"k{index}"
        words = snippet.words()
        items = words.shape[1]
        texts.append(
            KERNEL.format(
                name=snippet.name,
                body=snippet.body,
                mode=_set_mode(snippet.mode),
                loads=_moves("load", FIRST_INPUT, len(words), items, 4),
                stores=_moves("store", FIRST_RESULT, snippet.results, items, 6),
            )
        )
        notes.append(NOTE.format(name=snippet.name))
        out = launching.output((snippet.results, items), np.uint32)
        outputs.append((out, len(snippet.inputs[0])))
        launches.append(
            launching.Launch(
                snippet.name,
                (items // ITEMS_OF_A_WAVE,),
                ITEMS_OF_A_WAVE,
                [(0, launching.given(words)), (8, out)],
            )
        )
    text = (
        '.amdgcn_target "amdgcn-amd-amdhsa--gfx950"\n.text\n'
        + "".join(texts)
        + "\n.amdgpu_metadata\n---\namdhsa.version: [1, 2]\n"
        "amdhsa.target: amdgcn-amd-amdhsa--gfx950\namdhsa.kernels:"
        + "".join(notes)
        + "\n...\n.end_amdgpu_metadata\n"
    )
    outcome = launching.launch(program, folder, assemble(text, folder), launches, extra)
    assert outcome.ok, outcome.findings[:3]
    for snippet, (out, count) in zip(snippets, outputs, strict=True):
        snippet.got = out.result[:, :count]
    return snippets


def _set_mode(mode):
    return (
        "\n".join(
            f"  s_setreg_imm32_b32 hwreg(HW_REG_MODE, {first}, {count}), "
            f"{mode >> first & (1 << count) - 1}"
            for first, count in ((0, 8), (8, 2), (23, 1))
        )
        if mode != USUAL_MODE
        else ""
    )


def _moves(direction, register, words, items, base):
    lines = []
    for word in range(words):
        if word:
            lines += [
                f"  s_add_u32 s{base}, s{base}, {4 * items}",
                f"  s_addc_u32 s{base + 1}, s{base + 1}, 0",
            ]
        at = f"s[{base}:{base + 1}]"
        lines.append(
            f"  global_load_dword v{register + word}, v1, {at}"
            if direction == "load"
            else f"  global_store_dword v1, v{register + word}, {at}"
        )
    return "\n".join(lines)
