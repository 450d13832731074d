# SPDX-License-Identifier: Apache-2.0
"""Checkpoints from anywhere: arrays, or one line of what is wrong; outputs are whole or absent."""
import json
import os
import struct
import subprocess
import sys

import numpy as np
import pytest

import driftless
from driftless import checkpoint

TENSOR = {"dtype": "F32", "shape": [1], "data_offsets": [0, 4]}


def file_of(header, data=bytes(4)):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


DAMAGED = [
    b"", b"1234567", struct.pack("<Q", 2**63), file_of(b"[]"), file_of(b"{"), file_of(b"\xff"), file_of(b"[" * 200000),
    file_of({"a": 1}), file_of({"a": dict(TENSOR, dtype="F4")}), file_of({"a": dict(TENSOR, dtype=[])}),
    file_of({"a": dict(TENSOR, shape=[10**30])}), file_of({"a\nb": dict(TENSOR, shape=[2])}),
    file_of({"a": dict(TENSOR, data_offsets=[0])}), file_of({"__metadata__": 1}, b""),
    file_of({"__metadata__": {"config": 1}}, b""), file_of({"__metadata__": {"config": "{"}}, b""),
    file_of({"__metadata__": {"config": "[" * 200000}}, b""), file_of({"__metadata__": {"config": "[]"}}, b""),
]


@pytest.mark.parametrize("content", DAMAGED, ids=[str(number) for number in range(len(DAMAGED))])
def test_damaged_files_are_one_line(content, tmp_path):
    path = tmp_path / "m.safetensors"
    path.write_bytes(content)
    with pytest.raises(driftless.BadFile) as raised:
        checkpoint.read(path)
    assert str(path) in str(raised.value) and "\n" not in str(raised.value)
    for model in (path, content):
        with pytest.raises(driftless.DriftlessError) as raised:
            driftless.load(model)
        assert not isinstance(raised.value, driftless.InternalError) and "\n" not in str(raised.value)


def test_pipes_are_refused_and_not_waited_for(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    code = ("import sys, driftless\nfrom driftless import checkpoint\n"
            "for call in (driftless.load, checkpoint.read):\n"
            "    try: call(sys.argv[1])\n"
            "    except driftless.IoError as error: print(error)\n")
    done = subprocess.run([sys.executable, "-c", code, str(tmp_path / "pipe")], capture_output=True, text=True,
                          check=True, timeout=60)
    assert done.stdout.count("pipe: cannot read") == 2


def test_paths_that_are_none_are_refused(tmp_path):
    with pytest.raises(driftless.IoError, match="nowhere"):
        checkpoint.read(tmp_path / "nowhere")
    with pytest.raises(driftless.IoError, match="regular file"):
        checkpoint.read(tmp_path)
    with pytest.raises(driftless.InvalidArgument, match="path"):
        checkpoint.read("a\0b")


def test_a_write_that_fails_leaves_nothing(tmp_path):
    (tmp_path / "taken").mkdir()
    with pytest.raises(driftless.IoError, match="taken"):
        checkpoint.write(tmp_path / "taken", {"w": np.ones(3, np.float32)}, {})
    assert [entry.name for entry in tmp_path.iterdir()] == ["taken"]
