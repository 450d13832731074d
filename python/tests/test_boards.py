# SPDX-License-Identifier: Apache-2.0
import gc

import numpy as np
import pytest

import driftless


def test_files_are_read_by_what_they_hold(data):
    boards = driftless.read_boards(data, limit=3)
    assert (len(boards), boards.task, boards.inputs.shape) == (3, "sudoku", (3, 81))
    assert boards.check(boards.labels) == ["exact"] * 3
    assert boards.check(boards.inputs) == ["wrong"] * 3
    for question, answer in boards:
        assert ((question == 1) | (question == answer)).all()


def test_arrays_outlive_their_boards(data):
    inputs = driftless.read_boards(data, limit=1).inputs
    gc.collect()
    assert inputs.max() <= 10
    with pytest.raises(ValueError):
        inputs[0, 0] = 3


def test_boards_are_taken_apart(data):
    boards = driftless.read_boards(data, limit=4)
    question, answer = boards[-1]
    assert np.array_equal(question, boards.inputs[3]) and np.array_equal(answer, boards.labels[3])
    for part in (boards[1::2], boards[np.array([False, True, False, True])], boards[[1, 3]]):
        assert isinstance(part, driftless.Boards) and part.task == "sudoku"
        assert np.array_equal(part.inputs, boards.inputs[1::2]) and part.check(part.labels) == ["exact"] * 2
    with pytest.raises(IndexError):
        boards[4]
    with pytest.raises(driftless.InvalidArgument, match="shapes"):
        boards[:0]


def test_files_have_boards_of_one_size(tmp_path):
    path = tmp_path / "boards.csv"
    path.write_text("source,question,answer,rating\n" + "".join(
        f"x,{driftless.to_text('sudoku', b.inputs[0])},{driftless.to_text('sudoku', b.labels[0])},0\n"
        for b in (driftless.generate("sudoku", 1, seed=1), driftless.generate("sudoku", 1, seed=1, cells=16))))
    with pytest.raises(driftless.BadFile, match="several sizes|expected 81"):
        driftless.read_boards(path)


def test_boards_of_ones_own():
    inputs = np.array([[1, 2], [1, 3]], np.uint8)
    labels = np.array([[3, 2], [2, 3]], np.uint8)
    boards = driftless.Boards.from_arrays("other", inputs, labels)
    assert boards.check(labels) == ["exact", "exact"]
    assert boards.check(inputs) == ["wrong", "wrong"]
    assert boards.puzzles.tolist() == [0, 0]


def test_text_and_drawing():
    board = driftless.generate("sudoku", 1, seed=3).inputs[0]
    assert np.array_equal(driftless.to_tokens("sudoku", driftless.to_text("sudoku", board)), board)
    assert len(driftless.draw("sudoku", board).splitlines()) == 11


@pytest.mark.parametrize("call, kind, words", [
    (lambda: driftless.read_boards("/nowhere"), driftless.IoError, "/nowhere"),
    (lambda: driftless.generate("sudoko", 1, seed=1), driftless.InvalidArgument, "did you mean 'sudoku'"),
    (lambda: driftless.generate("arc", 1, seed=1), driftless.Unsupported, "generator"),
    (lambda: driftless.generate("sudoku", 0, seed=1), driftless.InvalidArgument, "count"),
    (lambda: driftless.generate("sudoku", 1.5, seed=1), driftless.InvalidArgument, "integer"),
    (lambda: driftless.generate("sudoku", 1, seed=-1), driftless.InvalidArgument, "seed"),
    (lambda: driftless.to_tokens("sudoku", "x"), driftless.InvalidArgument, "character"),
    (lambda: driftless.to_tokens("sudoku", "\u00e9"), driftless.InvalidArgument, "character"),
    (lambda: driftless.Boards.from_arrays("other", np.zeros((2, 3), np.uint8), np.zeros((3, 2), np.uint8)),
     driftless.InvalidArgument, "shapes"),
])
def test_mistakes_are_told(call, kind, words):
    with pytest.raises(kind, match=words) as raised:
        call()
    assert "\n" not in str(raised.value)
