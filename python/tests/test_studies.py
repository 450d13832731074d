# SPDX-License-Identifier: Apache-2.0
import json
import subprocess
import sys

import numpy as np
import pytest

import driftless


def test_evaluation_is_that_of_the_program(program, small, data, tmp_path):
    out = tmp_path / "eval.json"
    flags = ["--weights", "mxint4", "--acts", "mxint4", "--native", "--limit", "8", "--steps", "4"]
    subprocess.run([program, "eval", str(small), "--data", str(data), *flags, "--json", str(out)], check=True,
                   capture_output=True)
    record = json.loads(out.read_text())
    with driftless.load(small, weights="mxint4", acts="mxint4", native=True) as model:
        told = []
        result = driftless.evaluate(model, data, limit=8, steps=4, progress=lambda done, total: told.append(done))
        assert told[-1] == 8
        for name in ("exact", "accepted", "cells", "published"):
            assert result.record[name] == record[name], name
        assert result.mean_steps == 4
        assert result.exact.low <= result.exact.share <= result.exact.high
        assert "95 % interval" in repr(result.exact)


def test_packing_is_that_of_the_program(program, small, board, tmp_path):
    ours, theirs = tmp_path / "ours.safetensors", tmp_path / "theirs.safetensors"
    driftless.pack(small, ours, weights="mxint4")
    subprocess.run([program, "quantize", str(small), "--out", str(theirs), "--weights", "mxint4"], check=True,
                   capture_output=True)
    assert ours.read_bytes() == theirs.read_bytes()
    with driftless.load(ours) as packed, driftless.load(small, weights="mxint4", acts="mxint4", native=True) as source:
        assert np.array_equal(next(packed.trajectory(board)).z_h, next(source.trajectory(board)).z_h)


def test_error_feedback_is_packed(small, board, tmp_path):
    nearest, feedback = tmp_path / "nearest.safetensors", tmp_path / "feedback.safetensors"
    driftless.pack(small, nearest, weights="mxint4")
    driftless.pack(small, feedback, weights="mxint4", method="gptq", calibration_boards=2)
    assert nearest.read_bytes() != feedback.read_bytes()
    with driftless.load(feedback) as model:
        assert model.info["is_packed"] and model.solve(board, steps=1)[0].steps == 1


def test_a_ladder_has_rows(small, data):
    rows = driftless.ladder(small, data, ["none", "mxint4"], limit=2, steps=1)
    assert [row["n"] for row in rows] == [2, 2]
    assert {row["weights"] for row in rows} == {"none", "mxint4"}
    assert len(rows.records) == 2 and "mxint4" in repr(rows)
    pandas = pytest.importorskip("pandas")
    assert isinstance(rows.frame(), pandas.DataFrame)


def test_rows_without_pandas_say_so(monkeypatch):
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(driftless.Unsupported, match="pandas is not installed"):
        driftless.Rows().frame()


def test_evaluations_take_boards(data):
    boards = driftless.read_boards(data)
    with driftless.load() as model:
        whole = driftless.evaluate(model, boards, limit=3, steps=2)
        assert whole.exact.n == 3
        assert whole.cells == driftless.evaluate(model, boards[:3], steps=2).cells
        named, said = (driftless.evaluate(model, boards[:3], halting=halting) for halting in ("halt", True))
        assert named.mean_steps == said.mean_steps < model.max_steps


def test_ladders_end_when_told(small, data):
    def stop(done, total):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        driftless.ladder(small, data, ["none"], limit=1, steps=1, progress=stop)


def test_mistakes_are_told(small, data, root):
    with driftless.load() as model:
        mazes = driftless.generate("maze", 1, seed=1)
        with pytest.raises(driftless.InvalidArgument, match="another task"):
            driftless.evaluate(model, mazes)
        with pytest.raises(driftless.InvalidArgument, match="halted"):
            driftless.evaluate(model, data, halting="halted")
        with pytest.raises(driftless.BadFile):
            driftless.evaluate(model, root / "README.md")
    with pytest.raises(driftless.InvalidArgument, match="load"):
        driftless.evaluate("model", data)
    with pytest.raises(driftless.InvalidArgument, match="list of texts"):
        driftless.ladder(small, data, "mxint4")
    with driftless.load() as model, pytest.raises(driftless.InvalidArgument, match="got Model, expected the path"):
        driftless.ladder(model, data)
    with pytest.raises(driftless.InvalidArgument, match="gptq"):
        driftless.pack(small, "/nowhere/x", weights="mxint4", method="gptk")
    with pytest.raises(driftless.IoError):
        driftless.pack(small, "/nowhere/x", weights="mxint4")
