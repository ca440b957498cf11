# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
import json

import pytest
from kernelwright.bundle import BundleError, read_bundle
from kernelwright.launch import pack


def test_reads_kernels(bundle):
    gemm, rmsnorm, *_ = read_bundle(bundle)
    assert gemm.image() == b"gemm_test"
    assert gemm.launches[0].grid_of({"m": 17}) == (4, 1, 1)
    assert rmsnorm.sizes == ("rows",)


def test_guards_say_what_they_need(bundle):
    gemm = read_bundle(bundle)[0]
    inside = {"m": 4096, "lda": 64, "ldb": 64, "ldc": 32}
    assert gemm.refusal(inside) is None
    assert "m >= 1 and m <= 4096" in gemm.refusal(inside | {"m": 4097})
    assert "lda % 8 == 0" in gemm.refusal(inside | {"lda": 65})


def test_packs_arguments_at_their_offsets(bundle):
    gemm, rmsnorm, *_ = read_bundle(bundle)
    values = {"a": 1, "b": 2, "c": 3, "m": 5, "lda": 6, "ldb": 7, "ldc": 8}
    words = memoryview(pack(gemm.launches[0], values)).cast("I").tolist()
    assert words == [1, 0, 2, 0, 3, 0, 5, 6, 7, 8]
    floats = memoryview(pack(rmsnorm.launches[0], {"x": 0, "weight": 0, "y": 0, "rows": 1, "eps": 0.5}))
    assert floats.cast("f")[7] == 0.5


def rewrite(path, change):
    document = json.loads(path.read_text())
    change(document)
    path.write_text(json.dumps(document))


def test_foreign_version(bundle):
    rewrite(bundle / "bundle.json", lambda document: document.update(version=99))
    with pytest.raises(BundleError, match="version 99"):
        read_bundle(bundle)


def test_missing_field(bundle):
    rewrite(bundle / "kernels" / "kernels.json", lambda document: document["kernels"][0].pop("guards"))
    with pytest.raises(BundleError, match="guards"):
        read_bundle(bundle)


def test_changed_code_object(bundle):
    (bundle / "kernels" / "gemm_test.hsaco").write_bytes(b"other")
    with pytest.raises(BundleError, match="sha256"):
        read_bundle(bundle)


@pytest.mark.parametrize("name", ["bundle.json", "kernels/kernels.json", "kernels/gemm_test.hsaco"])
def test_missing_file(bundle, name):
    (bundle / name).unlink()
    with pytest.raises(BundleError, match=name.split("/")[-1]):
        read_bundle(bundle)


def test_not_json(bundle):
    (bundle / "bundle.json").write_text("{")
    with pytest.raises(BundleError, match="not JSON"):
        read_bundle(bundle)
