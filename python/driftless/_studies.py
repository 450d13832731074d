# SPDX-License-Identifier: Apache-2.0
"""Models scored on boards, and packed."""
from __future__ import annotations

import ctypes
import json
import os
from dataclasses import dataclass, field
from typing import Any, Dict, List, Optional, Sequence, Union

from . import _library
from ._boards import Boards, read_boards
from ._library import Callback, check, library, text, whole
from ._model import Model, Progress, open_options, plan_file, watch
from .errors import InvalidArgument, Unsupported


@dataclass(frozen=True)
class Estimate:
    """A share with its 95 % interval."""

    share: float
    low: float
    high: float
    n: int

    def __repr__(self) -> str:
        return f"{100 * self.share:.2f} % (95 % interval {100 * self.low:.2f} to {100 * self.high:.2f}, n {self.n})"


@dataclass(frozen=True)
class Evaluation:
    """How many boards a model solved: ``exact``, ``accepted`` (or another right answer), ``cells``."""

    exact: Estimate
    accepted: Estimate
    cells: Estimate
    mean_steps: float
    wall_s: float
    record: Dict[str, Any] = field(repr=False, default_factory=dict)


def _estimate(record: Dict[str, Any]) -> Estimate:
    return Estimate(record["share"], record["low"], record["high"], record["n"])


def evaluate(model: Model, data: Union[str, "os.PathLike[str]", Boards], *, steps: int = 0,
             halting: Union[bool, str] = "fixed", seed: int = 0, limit: int = 0, split: str = "test",
             progress: Progress = False) -> Evaluation:
    """How many boards of a file, a data-set folder or Boards the model solves, with intervals.

    ``halting`` is ``fixed`` (all steps; or False), ``halt`` (when the model says so; or True) or ``stable``.

    >>> from driftless import generate, load
    >>> with load() as model:
    ...     evaluate(model, generate("sudoku", 2, seed=1), steps=1).exact.n
    2
    """
    if not isinstance(model, Model):
        raise InvalidArgument(f"evaluate: model; got {type(model).__name__}, expected what load() returns")
    if isinstance(halting, bool):
        halting = "halt" if halting else "fixed"
    with model._turn() as engine:  # pylint: disable=protected-access
        if isinstance(data, Boards):
            boards = data[:whole(limit, "limit")] if limit else data
        else:
            boards = read_boards(data, split=split, limit=limit, engine=engine)
        with watch(progress, len(boards), "boards") as tell:
            watcher = Callback(lambda _user, done, total: tell(done, total))
            options = _library.EvaluateOptions(whole(steps, "steps"), text(halting, "halting"),
                                               whole(seed, "seed", 0, 2**64 - 1), _library.ON_PROGRESS(watcher),
                                               None)
            model._epoch += 1  # pylint: disable=protected-access
            out = ctypes.c_void_p()
            watcher.run(library().evaluate, engine, boards._handle,  # pylint: disable=protected-access
                        ctypes.byref(options), ctypes.byref(out))
    record = json.loads(_library.take_text(out))
    return Evaluation(_estimate(record["exact"]), _estimate(record["accepted"]), _estimate(record["cells"]),
                      record["mean_steps"], record["wall_s"], record)


class Rows(List[Dict[str, Any]]):
    """Rows of a table, best first; ``records`` has all that was measured."""

    records: List[Dict[str, Any]]

    def frame(self) -> Any:
        """The rows as a pandas DataFrame."""
        try:
            import pandas  # type: ignore[import] # pylint: disable=import-outside-toplevel
        except ImportError:
            raise Unsupported("frame: pandas is not installed; the rows themselves are a list of dicts") from None

        return pandas.DataFrame(list(self))

    def __repr__(self) -> str:
        lines = [f"{row['weights']:<24} {row['acts']:<24} {row['bits']:>6.2f} bits  {100 * row['exact']:6.2f} % "
                 f"({100 * row['low']:.2f} to {100 * row['high']:.2f}, n {row['n']})" for row in self]
        return "\n".join(lines)


def _row(record: Dict[str, Any]) -> Dict[str, Any]:
    config, exact, verdict = record["config"], record["exact"], record.get("verdict") or {}
    return {"weights": config["weights"], "acts": config["acts"], "coverage": config["coverage"],
            "bits": record["bits"]["weights"], "exact": exact["share"], "low": exact["low"], "high": exact["high"],
            "n": record["n"], "less_float": record["paired"]["difference"], "p_value": record["paired"]["p_value"],
            "cells": record["cells"]["mean"], "verdict": verdict.get("latent"), "run": record["execution"]}


def ladder(model: Union[str, "os.PathLike[str]"], data: Union[str, "os.PathLike[str]"],
           schemes: Optional[Sequence[str]] = None, *, native: bool = False, steps: int = 0, limit: int = 0,
           seed: int = 0, coverage: Optional[str] = None, threads: int = 0, batch: int = 0,
           calibration_data: Optional[str] = None, calibration_boards: int = 0, out: Optional[str] = None,
           progress: Progress = False) -> Rows:
    """What each number format does to a model: the table of ``driftless ladder`` as rows, best first.

    A scheme is a quantizer for weights and activations alike, or ``WEIGHTS:ACTIVATIONS``; ``out`` names a results
    file that keeps what is finished. ``rows.frame()`` is a pandas frame.
    """
    for name, path in (("model", model), ("data", data)):
        if not isinstance(path, (str, os.PathLike)):
            raise InvalidArgument(f"ladder: {name}; got {type(path).__name__}, expected the path of a file")
    names = [] if schemes is None else [text(scheme, "schemes") for scheme in schemes]
    if schemes is not None and (isinstance(schemes, str) or not names):
        raise InvalidArgument(f"ladder: schemes; got {schemes!r}, expected a list of texts")
    with watch(progress, 0, "boards") as tell:
        watcher = Callback(lambda _user, done, total: tell(done, total))
        options = _library.LadderOptions(
            size=ctypes.sizeof(_library.LadderOptions), schemes=(ctypes.c_char_p * max(1, len(names)))(*names),
            scheme_count=len(names), coverage=text(coverage, "coverage"), steps=whole(steps, "steps"),
            limit=whole(limit, "limit"), seed=whole(seed, "seed", 0, 2**64 - 1),
            device=b"native" if native else b"cpu", threads=whole(threads, "threads"), batch=whole(batch, "batch"),
            calibration_data=text(calibration_data, "calibration_data"),
            calibration_boards=whole(calibration_boards, "calibration_boards"), out=text(out, "out"),
            on_progress=_library.ON_PROGRESS(watcher))
        found = ctypes.c_void_p()
        watcher.run(library().ladder, text(model, "model"), text(data, "data"), ctypes.byref(options),
                    ctypes.byref(found))
    records = json.loads(_library.take_text(found))
    rows = Rows(_row(record) for record in records)
    rows.records = records
    return rows


def pack(model: Union[str, "os.PathLike[str]"], out: Union[str, "os.PathLike[str]"], *,
         weights: Optional[str] = None, acts: Optional[str] = None, plan: Any = None, method: str = "nearest",
         **scheme: Any) -> None:
    """Writes a packed model, as ``driftless quantize`` does; ``method`` is one of its own: nearest, gptq, fit, ..."""
    with plan_file(plan) as path:
        options = open_options(dict(scheme, weights=weights, acts=acts), path)
        check(library().pack(text(model, "model"), ctypes.byref(options), text(method, "method"),
                             text(out, "out")))
