# SPDX-License-Identifier: Apache-2.0
"""Boards with their answers, by task."""
from __future__ import annotations

import ctypes
import os
import weakref
from typing import Any, Iterator, List, Optional, Tuple, Union

import numpy as np

from . import _library
from ._arrays import require_array
from ._library import check, library, text, whole
from .errors import InvalidArgument

_OUTCOMES = ("wrong", "accepted", "exact")


def tasks() -> List[str]:
    """The tasks that have readers and checkers.

    >>> tasks()[:2]
    ['sudoku', 'maze']
    """
    names: List[str] = []
    while True:
        name = library().task(len(names))
        if name is None:
            return names
        names.append(name.decode())


class Boards:
    """Boards of one task and size: ``inputs`` and ``labels`` are read-only arrays of tokens, boards × cells.

    An index gives one board's tokens and answer, a slice or a mask gives Boards.

    >>> boards = generate("sudoku", 2, seed=1)
    >>> boards
    <driftless.Boards: 2 sudoku boards of 81 cells>
    >>> boards.check(boards.labels)
    ['exact', 'exact']
    >>> boards[:1]
    <driftless.Boards: 1 sudoku board of 81 cells>
    """

    def __init__(self, handle: ctypes.c_void_p) -> None:
        self._handle = handle
        weakref.finalize(self, library().free_boards, handle)
        shape = (library().board_count(handle), library().board_cells(handle))
        self.task: str = library().board_task(handle).decode()
        self.inputs = np.empty(shape, np.uint8)
        self.labels = np.empty(shape, np.uint8)
        self.puzzles = np.empty(shape[0], np.int64)
        check(library().copy_boards(handle, self.inputs.ctypes.data, self.labels.ctypes.data,
                                    self.puzzles.ctypes.data))
        self.inputs.flags.writeable = self.labels.flags.writeable = False  # the handle has its own copy
        self.puzzles.flags.writeable = False

    @classmethod
    def from_arrays(cls, task: str, inputs: "np.ndarray[Any, Any]", labels: "np.ndarray[Any, Any]",
                    puzzles: Optional["np.ndarray[Any, Any]"] = None) -> "Boards":
        """Boards of your own; a task without rules of its own is ``other``: right is what the label says."""
        require_array(inputs, np.uint8, "boards: inputs")
        require_array(labels, np.uint8, "boards: labels")
        if inputs.ndim != 2 or labels.shape != inputs.shape or inputs.size == 0:
            raise InvalidArgument(f"boards: shapes; got {inputs.shape} and {labels.shape}, expected two of "
                                  "(boards, cells)")
        if puzzles is not None:
            require_array(puzzles, np.int64, "boards: puzzles")
            if puzzles.shape != inputs.shape[:1]:
                raise InvalidArgument(f"boards: puzzles; got shape {puzzles.shape}, expected {inputs.shape[:1]}")
        handle = ctypes.c_void_p()
        check(library().make_boards(_required(task, "task"), inputs.ctypes.data, labels.ctypes.data,
                                    None if puzzles is None else puzzles.ctypes.data, inputs.shape[0],
                                    inputs.shape[1], ctypes.byref(handle)))
        return cls(handle)

    def check(self, answers: "np.ndarray[Any, Any]") -> List[str]:
        """``exact``, ``accepted`` (another right answer) or ``wrong`` for each answer."""
        answers = require_array(answers, np.uint8, "check: answers")
        if answers.shape != self.inputs.shape:
            raise InvalidArgument(f"check: answers; got shape {answers.shape}, expected {self.inputs.shape}")
        outcomes = []
        for i in range(len(self)):
            outcome = ctypes.c_int()
            check(library().check(self.task.encode(), self.inputs[i].ctypes.data, self.labels[i].ctypes.data,
                                  answers[i].ctypes.data, self.inputs.shape[1], ctypes.byref(outcome)))
            outcomes.append(_OUTCOMES[outcome.value])
        return outcomes

    def __len__(self) -> int:
        return int(self.inputs.shape[0])

    def __getitem__(self, index: Any) -> Any:
        inputs, labels = self.inputs[index], self.labels[index]
        if inputs.ndim == 1:
            return inputs, labels
        return Boards.from_arrays(self.task, np.ascontiguousarray(inputs), np.ascontiguousarray(labels),
                                  np.ascontiguousarray(self.puzzles[index]))

    def __iter__(self) -> Iterator[Tuple["np.ndarray[Any, Any]", "np.ndarray[Any, Any]"]]:
        return zip(self.inputs, self.labels)

    def __repr__(self) -> str:
        boards = "board" if len(self) == 1 else "boards"
        return f"<driftless.Boards: {len(self)} {self.task} {boards} of {self.inputs.shape[1]} cells>"


def _required(value: Any, what: str) -> bytes:
    encoded = text(value, what)
    if encoded is None:
        raise InvalidArgument(f"{what}; got None, expected a text")
    return encoded


def read_boards(path: Union[str, "os.PathLike[str]"], task: Optional[str] = None, split: str = "test",
                limit: int = 0, engine: Any = None) -> Boards:
    """The boards of a file or data-set folder; without a task the file says which it is of."""
    handle = ctypes.c_void_p()
    check(library().read_boards(engine, text(task, "task"), _required(path, "path"),
                                _required(split, "split"), whole(limit, "limit"), ctypes.byref(handle)))
    return Boards(handle)


def generate(task: str, count: int, seed: int, cells: int = 0) -> Boards:
    """Boards of the task's generator, the same for the same seed.

    >>> import numpy
    >>> numpy.array_equal(generate("sudoku", 1, seed=7).inputs, generate("sudoku", 1, seed=7).inputs)
    True
    """
    handle = ctypes.c_void_p()
    check(library().generate_boards(_required(task, "task"), whole(count, "count", 1), whole(cells, "cells"),
                                    whole(seed, "seed", 0, 2**64 - 1), ctypes.byref(handle)))
    return Boards(handle)


def to_tokens(task: str, board: str) -> "np.ndarray[Any, Any]":
    """The tokens of a board's text, a character a cell.

    >>> to_tokens("sudoku", ".19")
    array([ 1,  2, 10], dtype=uint8)
    """
    encoded = _required(board, "board")
    tokens = np.empty(len(encoded), np.uint8)
    check(library().board_tokens(_required(task, "task"), encoded, tokens.ctypes.data))
    return tokens


def _shown(function: Any, task: str, tokens: "np.ndarray[Any, Any]") -> str:
    tokens = require_array(tokens, np.uint8, "tokens")
    out = ctypes.c_void_p()
    check(function(_required(task, "task"), tokens.ctypes.data, tokens.size, ctypes.byref(out)))
    return _library.take_text(out)


def to_text(task: str, tokens: "np.ndarray[Any, Any]") -> str:
    """A board as text, a character a cell.

    >>> to_text("sudoku", to_tokens("sudoku", ".19"))
    '.19'
    """
    return _shown(library().board_text, task, tokens)


def draw(task: str, tokens: "np.ndarray[Any, Any]") -> str:
    """A board as lines of text, where the task draws boards."""
    return _shown(library().draw_board, task, tokens)
