# SPDX-License-Identifier: Apache-2.0
"""The package as it is installed: examples in docstrings, types, versions, and a machine without the library."""
import doctest
import importlib
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

import driftless

MODULES = ["driftless", "driftless._answers", "driftless._arrays", "driftless._boards", "driftless._model",
           "driftless._studies", "driftless.checkpoint"]


@pytest.mark.parametrize("name", MODULES)
def test_examples_of_docstrings_run(name, monkeypatch, tmp_path):
    module = importlib.import_module(name)
    names = dict(vars(driftless), **vars(module))
    monkeypatch.chdir(tmp_path)
    found = doctest.testmod(module, extraglobs=names)
    assert found.attempted > 0 and found.failed == 0


def test_examples_of_torch_docstrings_run():
    pytest.importorskip("torch")
    found = doctest.testmod(importlib.import_module("driftless.torch"))
    assert found.attempted > 0 and found.failed == 0


def test_everything_public_is_explained():
    for name in driftless.__all__:
        assert (getattr(driftless, name).__doc__ or "").strip(), name


def test_versions_agree(root):
    from driftless import _library
    assert _library.library().version().decode() == driftless.__version__
    assert f"VERSION {driftless.__version__}" in (root / "CMakeLists.txt").read_text()


def test_types_are_sound(root):
    if shutil.which("mypy") is None:
        pytest.skip("no mypy")
    done = subprocess.run(["mypy", "--config-file", "pyproject.toml"],
                          cwd=root / "python", capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_types_of_a_users_script_are_sound(root, tmp_path):
    """The examples, by the types of the installed package."""
    if shutil.which("mypy") is None:
        pytest.skip("no mypy")
    scripts = sorted(str(path) for path in (root / "examples" / "python").glob("*.py"))
    done = subprocess.run(["mypy", "--python-executable", sys.executable, "--cache-dir", str(tmp_path),
                           "--follow-imports", "silent", "--ignore-missing-imports", "--check-untyped-defs",
                           "--scripts-are-modules", *scripts],
                          capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_names_are_listed():
    assert set(driftless.__all__) | {"checkpoint", "torch"} == set(dir(driftless))
    assert driftless.checkpoint.read


def test_the_interface_is_that_of_the_headers(root):
    """Every function that is called is declared there, with as many arguments."""
    from driftless import _library
    headers = (root / "driftless" / "api" / f"driftless_{part}.h" for part in ("c", "arrays", "boards"))
    text = "".join(header.read_text() for header in headers)
    text = re.sub(r"/\*.*?\*/", "", text, flags=re.S)
    for name, (_, arguments) in _library._SIGNATURES.items():
        declared = re.search(rf"\bdriftless_{name}\(([^;]*?)\);", text, flags=re.S)
        assert declared, name
        given = declared.group(1).strip()
        assert len(arguments) == (0 if given == "void" else given.count(",") + 1), name
    version = re.search(r"DRIFTLESS_API_VERSION = (\d+)", text)
    assert int(version.group(1)) == _library.API_VERSION


@pytest.mark.parametrize("content, words", [(None, "cannot load"), (b"not a library", "cannot load")])
def test_a_missing_or_strange_library_is_one_line(tmp_path, content, words):
    path = tmp_path / "libdriftless.so"
    if content is not None:
        path.write_bytes(content)
    code = "import driftless\ntry: driftless.formats()\nexcept driftless.Unsupported as e: print(e)"
    done = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, DRIFTLESS_LIBRARY=str(path)),
                          capture_output=True, text=True, check=True)
    assert words in done.stdout and done.stdout.count("\n") == 1


def test_import_is_quick():
    """Its own share, numpy being there already, in processor time: what else the machine does is left out."""
    code = ("import numpy, time; start = time.process_time(); import driftless; driftless.formats(); "
            "print(time.process_time() - start)")
    seconds = min(float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
                  for _ in range(3))
    assert seconds < 0.1


def test_what_is_installed_is_small():
    folder = Path(driftless.__file__).parent
    assert (folder / "py.typed").exists()
    if (folder / "libdriftless.so").exists():
        assert sum(file.stat().st_size for file in folder.glob("*.safetensors")) < 1_000_000


def test_instruction_sets_can_be_limited():
    code = "import driftless; print(driftless.instruction_set())"
    done = subprocess.run([sys.executable, "-c", code], env=dict(os.environ, DRIFTLESS_ISA="scalar"),
                          capture_output=True, text=True, check=True)
    assert done.stdout.strip() in ("scalar", "portable")
    assert driftless.instruction_set()
