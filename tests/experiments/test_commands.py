# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""The contract of the command line: names, JSON, exit status."""

import json
import os
import pty
import subprocess

import pytest

ESTIMATE_KEYS = (
    "problem schedule target time_us source interval_us limiter terms tflops gbps occupancy vgpr agpr lds_bytes"
).split()
COMPILE_KEYS = (
    "problem schedule hsaco manifest vgpr agpr sgpr lds_bytes spills scratch_bytes occupancy instructions compile_ms"
).split()
VALIDATE_KEYS = (
    "ok problem device max_abs max_rel tolerance checked total findings seconds gflops"
).split()


def has(document, keys):
    missing = [key for key in keys if key not in document]
    assert not missing, f"missing {missing} in {list(document)}"


def test_targets(kw):
    answer = kw("targets", "--json")
    assert answer.status == 0
    assert [target["name"] for target in answer.json()][0] == "gfx950"
    assert kw("targets").out.splitlines()[1].startswith("gfx950")


def test_help_names_every_command(kw):
    answer = kw("--help")
    assert answer.status == 0
    names = (
        "tune space estimate compile validate launch simulate measure trial replay import calibrate "
        "score export check-bundle study report runs show resume compare store targets"
    ).split()
    for name in names:
        assert f"  {name} " in answer.out, name


def test_space_counts(kw, small_gemm):
    answer = kw("space", small_gemm, "--json")
    assert answer.status == 0
    document = answer.json()
    has(document, ["problem", "target", "raw", "legal", "rules"])
    assert document["problem"] == small_gemm
    assert document["raw"] == document["legal"] + sum(r["removed"] for r in document["rules"])
    assert any(rule["removed"] == 0 for rule in document["rules"])
    assert kw("space", *small_gemm.split(), "--json").out == answer.out, "quoted or not"


def test_space_lists_and_repeats(kw, small_norm):
    first = kw("space", small_norm, "--list", 5, "--json").json()["schedules"]
    assert len(first) == len(set(first)) == 5
    assert kw("space", small_norm, "--list", 5, "--json").json()["schedules"] == first
    assert kw("space", small_norm, "--list", 5, "--seed", 1, "--json").json()["schedules"] != first
    everything = kw("space", small_norm, "--list", 10**6, "--json").json()
    assert len(everything["schedules"]) == everything["legal"]


def test_space_explains(kw):
    problem = "gemm m=4096 n=4096 k=4096 dtype=bf16 b=nk"
    illegal = "gemm.1:tile=256x256x64,waves=2x4,stages=3"
    document = kw("space", problem, "--explain", illegal, "--json").json()
    assert [v["rule"] for v in document["violations"]], "LDS is too small for three stages"
    assert all("\n" not in v["message"] for v in document["violations"])
    legal = kw("space", problem, "--explain", "gemm.1:tile=128x128x64", "--json").json()
    assert legal["violations"] == []


def test_estimate(kw, small_gemm):
    document = kw("estimate", small_gemm, "--json").json()
    has(document, ESTIMATE_KEYS)
    assert document["source"] == "model"
    low, high = document["interval_us"]
    assert 0 < low <= document["time_us"] <= high
    assert sum(document["terms"].values()) == pytest.approx(document["time_us"])
    assert "residual" in document["terms"]
    assert document["limiter"] in document["terms"]
    explained = kw("estimate", small_gemm, "--explain").out
    assert "source: model" in explained and document["limiter"] in explained


def test_estimate_of_one_schedule(kw, small_gemm):
    best = kw("estimate", small_gemm, "--json").json()
    assert kw("estimate", small_gemm, "--schedule", best["schedule"], "--json").json() == best


def test_estimates_of_a_file(kw, small_norm):
    schedules = kw("space", small_norm, "--list", 20, "--json").json()["schedules"]
    (kw.folder / "list.txt").write_text("\n".join(schedules) + "\n")
    answer = kw("estimate", small_norm, "--schedules", "list.txt", "--json")
    assert answer.status == 0
    assert [estimate["schedule"] for estimate in answer.json()] == schedules
    best = min(estimate["time_us"] for estimate in answer.json())
    assert kw("estimate", small_norm, "--json").json()["time_us"] <= best


def test_estimates_of_a_file_with_a_bad_line(kw, small_norm):
    (kw.folder / "list.txt").write_text("rmsnorm.1:\nnonsense\n")
    answer = kw("estimate", small_norm, "--schedules", "list.txt", "--json")
    assert answer.status == 2
    good, bad = answer.json()
    assert good["time_us"] > 0 and bad["time_us"] is None
    answer.one_line_error("list.txt:2")


@pytest.mark.parametrize("problem", ["small_gemm", "small_norm"])
def test_compile_and_validate(kw, problem, request):
    text = request.getfixturevalue(problem)
    answer = kw("compile", text, "-o", "out", "--emit", "kw,mlir,llvm,isa", "--json")
    assert answer.status == 0, answer.err
    compiled = answer.json()
    has(compiled, COMPILE_KEYS)
    assert os.path.isabs(compiled["hsaco"]) and os.path.exists(compiled["hsaco"])
    stem = compiled["hsaco"].removesuffix(".hsaco")
    for extension in ("json", "kw.mlir", "mlir", "ll", "s"):
        assert os.path.getsize(f"{stem}.{extension}") > 0
    manifest = json.load(open(compiled["manifest"]))
    assert manifest["problem"] == text and manifest["schedule"] == compiled["schedule"]
    assert manifest["provenance"]["compiler"]
    for path in ("out", compiled["manifest"]):
        answer = kw("validate", path, "--json")
        assert answer.status == 0, answer.out
        validated = answer.json()
        has(validated, VALIDATE_KEYS)
        assert validated["ok"] and validated["findings"] == []
        assert validated["checked"] == validated["total"] > 0, "a small problem is checked whole"


def manifest_lies():
    def buffer(name, **fields):
        return lambda manifest: manifest["buffers"][name].update(fields)

    def launch(**fields):
        return lambda manifest: manifest["launches"][0].update(fields)

    return {
        "role": (buffer("c", role="workspace"), "role is workspace, not output"),
        "type": (buffer("a", dtype="f16"), "dtype is f16, not bf16"),
        "shape": (buffer("b", shape=[64, 32]), "shape is"),
        "size": (buffer("b", bytes=16), "has 16 bytes"),
        "zeros": (buffer("c", init="zero"), "init is zero"),
        "block": (launch(block=[128, 1, 1]), "block is"),
        "grid": (launch(grid=[1, 1, 77]), "workgroups"),
        "LDS": (launch(dynamic_lds=1024), "dynamic_lds is 1024, not 0"),
        "symbol": (launch(kernel="other"), "no kernel other"),
        "swapped": (lambda m: m["launches"][0]["args"][0].update(buffer="b"), "value is buffer 'b'"),
        "launched twice": (lambda m: m["launches"].append(m["launches"][0]), "2 launches"),
        "guards": (lambda m: m.update(guards=[]), "guard '"),
        "n": (lambda m: m.update(problem=m["problem"].replace("n=32", "n=64")), "the problem needs"),
    }


@pytest.mark.parametrize("lie", manifest_lies())
def test_validate_finds_a_lie_in_a_manifest(kw, small_gemm, lie):
    compiled = kw("compile", small_gemm, "-o", "out", "--json").json()
    manifest = json.load(open(compiled["manifest"]))
    change, reason = manifest_lies()[lie]
    change(manifest)
    json.dump(manifest, open(compiled["manifest"], "w"))
    answer = kw("validate", "out")
    assert answer.status == 2
    answer.one_line_error(reason)


def test_validate_finds_another_code_object(kw, small_gemm):
    """Right numbers, but by its hash not the file that the manifest was written for."""
    assert kw("compile", small_gemm, "-o", "out").status == 0
    (manifest,) = (kw.folder / "out").glob("*.json")
    document = json.load(open(manifest))
    document["provenance"]["sha256"] = "0" * 64
    manifest.write_text(json.dumps(document))
    answer = kw("validate", "out", "--json")
    assert answer.status == 1 and answer.json()["ok"] is False
    assert [finding["kind"] for finding in answer.json()["findings"]] == ["provenance"]
    del document["provenance"]["sha256"]
    manifest.write_text(json.dumps(document))
    assert kw("validate", "out").status == 0


def test_validate_finds_a_wrong_kernel(kw, small_norm):
    compiled = kw("compile", small_norm, "-o", "out", "--json").json()
    manifest = json.load(open(compiled["manifest"]))
    manifest["problem"] = small_norm + " eps=1000"
    json.dump(manifest, open(compiled["manifest"], "w"))
    answer = kw("validate", "out", "--json")
    assert answer.status == 1
    assert answer.json()["ok"] is False and answer.json()["findings"]


def test_schedules_find_a_missing_wait(kw, small_gemm):
    """Outputs of runs under adversarial time are the same, until a wait is taken out."""
    compiled = kw("compile", small_gemm, "-o", "out", "--json").json()
    assert kw("validate", "out", "--schedules", 3).status == 0
    assert kw("launch", compiled["manifest"], "--schedules", 3).status == 0
    code = bytearray(open(compiled["hsaco"], "rb").read())
    for at in range(0, len(code) - 3, 4):
        if code[at + 2 : at + 4] == b"\x8c\xbf":  # s_waitcnt: for nothing
            code[at : at + 2] = b"\x7f\xcf"
    open(compiled["hsaco"], "wb").write(code)
    answer = kw("launch", compiled["manifest"], "--schedules", 3, "--no-strict", "--json")
    assert answer.status == 1
    assert answer.json()["findings"]


def test_mutants_are_found(kw, small_gemm):
    assert kw("compile", small_gemm, "-o", "out").status == 0
    answer = kw("mutate", "out", "--limit", 24, "--schedules", 3, "--json")
    document = answer.json()
    has(document, ["original", "kinds", "mutants"])
    assert document["original"] == [] and 16 <= len(document["mutants"]) <= 24
    assert sum(kind["harmful"] for kind in document["kinds"].values()) > 5
    for mutant in document["mutants"]:
        has(mutant, ["kind", "kernel", "pc", "what", "harmful", "finding", "wrong_output"])
    assert answer.status == 0, answer.out


def test_mutants_are_counted_on_a_terminal(kw, small_gemm):
    assert kw("compile", small_gemm, "-o", "out").status == 0
    arguments = ["mutate", "out", "--limit", "4", "--schedules", "1"]
    assert kw(*arguments).err == ""  # hundreds of lines elsewhere
    ours, theirs = pty.openpty()
    completed = subprocess.run(
        [kw.program, *arguments], cwd=kw.folder, stdout=subprocess.PIPE, stderr=theirs, timeout=300
    )
    shown = os.read(ours, 65536).decode()
    os.close(theirs)
    os.close(ours)
    assert completed.returncode == 0
    for done in range(1, 5):
        assert f"mutants: {done} of 4" in shown
    assert shown.endswith("\r\x1b[K") and b"\x1b" not in completed.stdout


def test_launch(kw, small_norm):
    compiled = kw("compile", small_norm, "-o", "out", "--json").json()
    manifest = json.load(open(compiled["manifest"]))
    manifest["buffers"]["y"]["save"] = "y.bin"
    (kw.folder / "out" / "own.json").write_text(json.dumps(manifest))
    answer = kw("launch", "out/own.json", "--json")
    assert answer.status == 0, answer.err
    document = answer.json()
    has(document, ["ok", "findings", "instructions", "waves", "seconds", "outputs"])
    assert document["ok"] and document["waves"] > 0
    (output,) = document["outputs"]
    assert output["buffer"] == "y"
    assert output["file"] == str(kw.folder / "out" / "y.bin")
    assert os.path.getsize(output["file"]) == output["bytes"] == 8 * 512 * 2


def test_launch_saves_outside_only_where_the_user_says(kw, small_norm):
    compiled = kw("compile", small_norm, "-o", "out", "--json").json()
    manifest = json.load(open(compiled["manifest"]))
    manifest["buffers"]["y"]["save"] = "../y.bin"
    (kw.folder / "out" / "own.json").write_text(json.dumps(manifest))
    answer = kw("launch", "out/own.json", "--json")
    assert answer.status == 2
    answer.one_line_error("leads out of the manifest's folder ('../y.bin'); --save y=FILE")
    assert not (kw.folder / "y.bin").exists()
    answer = kw("launch", "out/own.json", "--save", "y=y.bin", "--json")
    assert answer.status == 0, answer.err
    (output,) = answer.json()["outputs"]
    assert output["file"] == str(kw.folder / "y.bin")
    assert os.path.getsize(output["file"]) == output["bytes"]


def test_nothing_legal(kw):
    answer = kw("estimate", "gemm m=64 n=64 k=64 adtype=f16 bdtype=bf16", "--json")
    assert answer.status == 3
    assert answer.json()["error"]["kind"] == "nothing_legal"
    answer.one_line_error("nothing is legal")


@pytest.mark.parametrize(
    "problem",
    [
        "gemm m=64 n=64 k=128 dtype=mxfp4",
        "rmsnorm rows=8 cols=64 quant=fp8",
        "grouped_gemm groups=8 tokens=4 topk=2 n=64 k=64",
        "topk rows=4 cols=64 k=2",
    ],
)
def test_estimated_before_it_can_be_compiled(kw, problem):
    estimate = kw("estimate", problem, "--json").json()
    assert estimate["time_us"] > 0 and estimate["source"] == "model"
    assert kw("space", problem, "--json").json()["legal"] > 0
    for command in (["compile", problem, "-o", "out"], ["tune", problem, "--quiet"]):
        answer = kw(*command)
        assert answer.status in (1, 2)
        answer.one_line_error("cannot be compiled")
    answer = kw("export", "inductor", problem, "--out", "bundle")
    assert answer.status in (1, 2)
    answer.one_line_error()  # nothing was ever tuned


def test_routing_files_are_read(kw):
    (kw.folder / "rows.txt").write_text("4 0 2\n2 0 0 0 0\n")
    problem = "grouped_gemm groups=8 tokens=4 topk=2 n=64 k=64 routing=file:rows.txt"
    assert kw("estimate", problem, "--json").json()["problem"].endswith("routing=file:rows.txt")
    (kw.folder / "rows.txt").write_text("4 0 2")
    answer = kw("estimate", problem, "--json")
    assert answer.status == 2
    answer.one_line_error("rows.txt: 3 numbers of rows for groups=8")
    answer = kw("estimate", problem.replace("rows.txt", "none.txt"))
    assert answer.status == 2
    answer.one_line_error("none.txt")


@pytest.mark.parametrize("name", "simulate replay study report compare store".split())
def test_commands_to_come(kw, name):
    answer = kw(name, "something", "--json")
    assert answer.status == 1
    answer.one_line_error("not available yet")
    assert answer.json()["error"]["kind"] == "failed"


GEMM_TABLE = """gfx,cu_num,op,dtype_a,dtype_b,dtype_out,scale,M,N,K,kernel_family,kernel_name,us,flags
gfx950,256,gemm,bf16,bf16,bf16,,64,4096,4096,asm_bf16,_ZN5aiter9x_tn_64x64E,12.5,
gfx950,256,gemm,fp8,fp8,bf16,rowwise,4096,4096,4096,ck,,60,hbm
gfx950,256,gemm,q3,fp8,bf16,rowwise,4096,4096,4096,ck,,60,
"""


def test_score(kw, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(GEMM_TABLE)
    rows = tmp_path / "rows.csv"
    answer = kw("score", str(table), str(table), "--calibration", "none", "--rows", str(rows), "--json")
    assert answer.status == 0
    document = answer.json()
    assert (document["rows"], document["modelled"], document["counted"]) == (6, 4, 2)
    assert document["by"]["m_bucket"]["<=64"]["rows"] == 2
    lines = [line.split(",") for line in rows.read_text().splitlines()]
    assert lines[0][:7] == "row family predicted_us lo_us hi_us measured_us status".split()
    assert [line[0] for line in lines[1:]] == ["1", "2", "3"] * 2
    assert [line[6] for line in lines[1:4]] == ["ok", "flagged", "dtype_a=q3: no such type"]
    assert float(lines[1][3]) < float(lines[1][2]) < float(lines[1][4])


def test_score_of_tiles_and_counters(kw, tmp_path):
    tiles = tmp_path / "tiles.csv"
    tiles.write_text(
        "dtype,tile_m,tile_n,tile_k,waves,workgroups,K,measured_mfma_eff_pct\n"
        "f16,128,128,64,4,256,1024,69\nf16,64,64,64,4,256,1024,30\n"
    )
    counters = tmp_path / "counters.csv"
    counters.write_text(
        "gfx,token,model_dim,inter_dim,expert,topk,q_dtype_a,q_dtype_w,q_type,kernel_type,stage,kernel_name,"
        "TCC_EA0_RDREQ_sum\n"
        "gfx950,1024,4096,1024,64,4,fp8,fp8,per_Token,ck,stage1,"
        "moe_ck2stages_gemm1_256x32x64x256_1x4_TypeCast_v1_F8_F8_B16,4227072\n"
    )
    answer = kw("score", str(tiles), str(counters), "--calibration", "none", "--json")
    assert answer.status == 0
    document = answer.json()
    large, small = document["tile_efficiency"]["tiles"]
    assert large["tile"] == "128x128x64" and large["predicted"] > small["predicted"] > 0
    assert document["read_traffic"]["rows"] == 1 and document["read_traffic"]["mape"] < 0.2
    assert document["counted"] == 0 and document["bandwidth_ramp"] is None
    tiles.write_text(tiles.read_text().replace("64,64,64", "64,-1,64"))
    answer = kw("score", str(tiles))
    assert answer.status == 2
    answer.one_line_error("row 2: tile_n=-1: not a number")


def test_score_without_a_term(kw, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(GEMM_TABLE)
    answer = kw("score", str(table), "--calibration", "none", "--ablation", "--json")
    assert answer.json()["ablation"]["launch"]["log_bias"] < answer.json()["ablation"]["none"]["log_bias"]
    answer = kw("score", str(table), "--calibration", "none", "--without", "magic")
    assert answer.status == 2
    answer.one_line_error("no such term; accepted are launch")


def test_import(kw, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text(GEMM_TABLE.replace("q3,", "fp8,").replace(",60,\n", ",,\n"))
    own = tmp_path / "own.csv"
    own.write_text("problem,schedule,time_us,device\ngemm m=64 n=64 k=64 dtype=bf16,gemm.1:,3.5,mine\n")
    first = kw("import", str(table), str(own), "--json")
    assert first.status == 1  # a row without a time
    files = first.json()["files"]
    assert [(f["imported"], f["duplicates"], len(f["bad"])) for f in files] == [(2, 0, 1), (1, 0, 0)]
    assert files[0]["bad"][0] == {"line": 4, "error": "column us: not a time above 0"}
    again = kw("import", str(table), str(own), "--keep-going", "--json")
    assert again.status == 0
    assert [(f["imported"], f["duplicates"]) for f in again.json()["files"]] == [(0, 2), (0, 1)]


def test_import_refuses_unknown_columns(kw, tmp_path):
    table = tmp_path / "t.csv"
    table.write_text("x,y\n1,2\n")
    for arguments in ([], ["--format", "kw"]):
        answer = kw("import", str(table), *arguments)
        assert answer.status == 2
        assert "columns" in answer.err


def test_common_options_stand_before_or_behind(kw):
    assert kw("--json", "targets").out == kw("targets", "--json").out
