# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The notebooks are stored without outputs, and run on files that `kw` writes for them."""

import json
import os
import subprocess

import nbclient
import nbformat
import pytest

NOTEBOOKS = ["model-error.ipynb"]
COLUMNS = (
    "source commit date gpu gfx cu_num op dtype_a dtype_b dtype_out scale batch M N K layout b_preshuffle bias lib "
    "kernel_family kernel_name tile_m tile_n tile_k block_threads waves mfma pipeline split_k_raw split_k us flags split"
).split()


def made_up_row(m, n, k, tile_m, tile_n, split_k):
    """A row in the form of the published tables; its time is no measurement: twice the roofline and 5 us."""
    us = 5 + 2 * max(2 * m * n * k / 2.5e9, (m * k + n * k + m * n) * 2 / 8e6)
    return {
        "source": "made up", "commit": "0", "date": "2026-01-01", "gpu": "MI355X", "gfx": "gfx950", "cu_num": 256,
        "op": "gemm", "dtype_a": "bf16", "dtype_b": "bf16", "dtype_out": "bf16", "batch": 1, "M": m, "N": n, "K": k,
        "layout": "TN", "b_preshuffle": 0, "bias": 0, "lib": "asm", "kernel_family": "asm_bf16",
        "kernel_name": f"bf16gemm_fp32bf16_tn_{tile_m}x{tile_n}_splitk", "tile_m": tile_m, "tile_n": tile_n,
        "tile_k": 64, "split_k_raw": split_k, "split_k": split_k, "us": us, "split": "train",
    }  # fmt: skip


@pytest.fixture
def table(write_table):
    return write_table(COLUMNS, [
        made_up_row(m, n, k, tile_m, tile_n, 1 if m > 100 else 4)
        for m in (1, 16, 128, 1024, 4096)
        for n, k in ((1024, 8192), (7168, 2048), (4096, 4096))
        for tile_m, tile_n in ((32, 64), (64, 64), (256, 256))
    ])  # fmt: skip


@pytest.mark.parametrize("name", NOTEBOOKS)
def test_stored_without_outputs(root, name):
    notebook = json.loads((root / "notebooks" / name).read_text())
    for cell in notebook["cells"]:
        assert not cell.get("outputs") and cell.get("execution_count") is None


def test_every_notebook_is_known_here(root):
    assert sorted(file.name for file in (root / "notebooks").glob("*.ipynb")) == NOTEBOOKS


@pytest.mark.slow
def test_model_error_runs(root, kw_program, table, tmp_path):
    folder = tmp_path / "study"
    environment = {**os.environ, "KW": str(kw_program), "KW_SWEEP": "m=16..4096*16"}
    subprocess.run(
        [root / "notebooks" / "model-error.sh", folder, table], check=True, env=environment, timeout=600
    )
    notebook = nbformat.read(root / "notebooks" / "model-error.ipynb", as_version=4)
    os.environ["KW_STUDY"] = str(folder)
    try:
        nbclient.NotebookClient(notebook, timeout=300, resources={"metadata": {"path": tmp_path}}).execute()
    finally:
        del os.environ["KW_STUDY"]
    pictures = [
        output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs
        if "image/png" in output.get("data", {})
    ]  # fmt: skip
    assert len(pictures) == 4
