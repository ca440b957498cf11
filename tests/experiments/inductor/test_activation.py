# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Activating a table: rows reach Inductor in every thread, its caches know of them, everything else
stays. What needs a GPU is done in a process with the fake MI355X."""

import json
import sys
import threading
from pathlib import Path

import pytest
import torch
from kernelwright.lookup import ActivationError, TableError, activate
from lookup_rows import F16, key, matrices, row

MM = key("mm", matrices(F16, 128, 256, 64, "nt"))
ROW = row(64, 32, 32, 64, group=3)


@pytest.fixture(scope="module")
def checks(on_fake_gpu):
    run = on_fake_gpu(Path(__file__).parent / "activation_checks.py")
    assert run.returncode == 0, run.stdout + run.stderr
    return json.loads(run.stdout.splitlines()[-1])


def test_every_thread_takes_the_row_while_it_is_active(checks):
    found = checks["threads"]
    assert found["early before"] is None  # a library call: nothing was tuned
    assert found["early"] == found["late"] == 64
    assert found["early after"] is None


def test_no_thread_stores_code_under_the_key_of_other_code(checks):
    """The trap: a thread that compiled before keeps its choices handler, and Inductor's graph cache
    has only options in its key."""
    found = checks["threads"]
    assert found["early key"] == found["late key"] == found["main key"]
    assert found["early key before"] == found["early key after"] != found["early key"]


def test_cache_keys_differ_with_the_table(checks):
    keys = checks["keys"]
    assert keys["none"] == keys["none again"]
    ours = [keys[name] for name in ("none", "table", "other table", "other misses")]
    assert len(set(ours)) == len(ours)
    assert keys["stock with handler"] not in ours


def test_the_trap_is_there_without_activation(checks):
    assert checks["keys"]["stock without handler"] == checks["keys"]["stock with handler"]


def test_misses(checks):
    found = checks["misses"]
    assert found["aten"] == ["mm"] and found["aten addmm"] == ["addmm"]
    assert "MissingRow" in found["error"] and "[128, 128]" in found["error"]
    assert "MissingRow" in found["error addmm"] and "[0, 1]" in found["error addmm"]
    assert len(found["autotune"]) > 10 and len(found["autotune addmm"]) > 10


def test_reports_name_hits_misses_and_rows_that_nothing_asked_for(checks):
    found = checks["misses"]
    assert found["hit"] == {"hits": {MM: 1}, "misses": {}, "unused": []}
    for mode in ("aten", "autotune"):
        report = found[f"{mode} report"]
        assert report["hits"] == {} and report["unused"] == [MM]
        assert sorted(report["misses"].values()) == [1, 1]


@pytest.mark.parametrize("bias", ["vector", "matrix", "column", "padded"])
def test_a_bias_in_any_shape_leaves_the_row_alone(checks, bias):
    """ATen's candidate, which addmm looks up under another key, is not added."""
    (name,) = checks["biases"][bias]
    assert name.startswith("triton_mm")


def test_what_the_user_set_stays(checks):
    assert checks["users_options"] == {"backends": ["mm"], "not pinned": None, "not pinned, autotuned": 64}


def test_one_table_at_a_time_and_no_foreign_choices(checks):
    found = checks["refusals"]
    assert found["same"] is True and found["still active"] == 64 and found["after"] is None
    assert "another lookup table is active" in found["other table"]
    assert "Foreign" in found["foreign choices"]


def test_several_rows_compete_among_themselves(checks):
    assert [name.split("_mm")[0] for name in checks["topk"]] == ["triton", "triton", "mm"]


def test_compilation_carries_the_table_into_any_thread():
    """What torch.compile calls sets options and handler in the thread that compiles, also for the
    backward graph, and leaves nothing behind."""
    from torch._inductor import compile_fx as module
    from torch._inductor import config
    from torch._inductor.virtualized import V
    from torch.fx.experimental.proxy_tensor import make_fx

    seen = []

    def look():
        table = config.lookup_table.table
        seen.append([table == {MM: [ROW]}, config.max_autotune_gemm, type(V.choices).__name__])

    def inner(graph, inputs, **options):
        look()
        return lambda arguments: arguments

    def compile_twice(graph, tensors):
        module.compile_fx(graph, tensors, inner_compile=inner)
        look()

    tensors = [torch.zeros(2, 2), torch.zeros(2, 2)]
    graph = make_fx(torch.mm)(*tensors)
    with activate({MM: [ROW]}):
        thread = threading.Thread(target=compile_twice, args=(graph, tensors))
        thread.start()
        thread.join()
    compile_twice(graph, tensors)
    plain = [False, False, "InductorChoices"]
    assert seen == [[True, True, "RowChoices"], plain, plain, plain]
    assert module.compile_fx_inner.is_kernelwright  # compiles backward graphs in autograd's thread


def test_deactivating_twice_and_reading_a_bundle(tmp_path):
    (tmp_path / "lookup_table.json").write_text(json.dumps({MM: [ROW]}))
    active = activate(tmp_path)
    assert active.report()["unused"] == [MM]
    active.deactivate()
    active.deactivate()
    with activate(tmp_path / "lookup_table.json"):
        pass


def test_refused_before_anything_changes(tmp_path, monkeypatch):
    with pytest.raises(TableError, match="EVEN_K"):
        activate({MM: [ROW | {"EVEN_K": True, "BLOCK_K": 128}]})
    with pytest.raises(TableError, match="lookup_table.json"):
        activate(tmp_path)
    with pytest.raises(ValueError, match="misses is 'never'"):
        activate({MM: [ROW]}, misses="never")
    monkeypatch.setitem(sys.modules, "torch._inductor.lookup_table.choices", None)
    with pytest.raises(ActivationError, match="2.11"):
        activate({MM: [ROW]})
    monkeypatch.undo()
    with activate({MM: [ROW]}):
        pass
