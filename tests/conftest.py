# Kernelwright
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""What all Python tests share: the marker `slow`, and where the checkout and its programs are."""

import csv
import os
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[1]


def pytest_addoption(parser):
    parser.addoption("--slow", action="store_true", help="also run the tests marked slow")


def pytest_configure(config):
    config.addinivalue_line("markers", "slow: takes long; runs only with --slow")


def pytest_collection_modifyitems(config, items):
    if config.getoption("--slow"):
        return
    slow = [item for item in items if item.get_closest_marker("slow")]
    config.hook.pytest_deselected(items=slow)
    items[:] = [item for item in items if item not in slow]


@pytest.fixture(scope="session")
def root():
    """Root of the checkout."""
    return ROOT


@pytest.fixture(scope="session")
def kw_program():
    """Path of `kw`; KW_BUILD names a build folder other than build/dev."""
    return Path(os.environ.get("KW_BUILD", ROOT / "build" / "dev")) / "bin" / "kw"


@pytest.fixture
def write_table(tmp_path):
    """write_table(columns, rows): a CSV of made-up timings in the form of the published tables; its
    path."""

    def write(columns, rows):
        file = tmp_path / "gemm.csv"
        with open(file, "w", newline="") as stream:
            writer = csv.DictWriter(stream, columns)
            writer.writeheader()
            writer.writerows(rows)
        return file

    return write
