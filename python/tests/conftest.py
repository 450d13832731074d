# SPDX-License-Identifier: Apache-2.0
"""Where the tests find the source tree and the program; what is absent is skipped visibly."""
import os
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
BOARD = "3.....5....26.....9..5....37...4....5.49....1.2.....9..9.2..617.6.4....9..1....4."


@pytest.fixture(scope="session")
def root():
    return ROOT


@pytest.fixture(scope="session")
def program():
    """The program of the same sources (DRIFTLESS_PROGRAM)."""
    path = os.environ.get("DRIFTLESS_PROGRAM", str(ROOT / "build" / "release" / "bin" / "driftless"))
    try:
        subprocess.run([path, "--version"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):  # not built, or built for another processor
        pytest.skip("no program to compare with: " + path)
    return path


@pytest.fixture(scope="session")
def small():
    """A float checkpoint."""
    return ROOT / "models" / "sudoku-small.safetensors"


@pytest.fixture(scope="session")
def data():
    return ROOT / "models" / "demo-sudoku.csv"


@pytest.fixture
def board():
    return BOARD
