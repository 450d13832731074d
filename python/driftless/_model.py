# SPDX-License-Identifier: Apache-2.0
"""Models that think: float, simulated and on integers."""
from __future__ import annotations

import contextlib
import ctypes
import json
import os
import threading
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Sequence, Tuple, Union

import numpy as np

from . import _library
from ._answers import Array, Solutions, Step
from ._arrays import require_array
from ._boards import Boards, to_tokens
from ._library import Callback, check, library, text, whole
from .checkpoint import metadata_of
from .errors import InvalidArgument

# Tasks whose boards fill the model, and what their tokens are. An array of digits looks like tokens, but is not.
_WITHOUT_PADDING = {"sudoku": "1 is a blank and d + 1 the digit d; digits + 1, or texts",
                    "maze": "1 is a wall; to_tokens('maze', text)"}
Progress = Union[bool, Callable[[int, int], Any]]


@contextlib.contextmanager
def plan_file(plan: Union[None, str, "os.PathLike[str]", Mapping[str, Any]]) -> Iterator[Optional[bytes]]:
    """The path of a plan for C; a mapping is written to a file for as long as it is read."""
    if plan is None or not isinstance(plan, Mapping):
        yield text(plan, "plan")  # type: ignore[arg-type]
        return
    import tempfile  # pylint: disable=import-outside-toplevel # which few calls need

    with tempfile.TemporaryDirectory(prefix="driftless-") as folder:
        path = os.path.join(folder, "plan.json")
        with open(path, "w", encoding="utf-8") as file:
            json.dump(plan, file)
        yield os.fsencode(path)


def open_options(scheme: Mapping[str, Any], plan: Optional[bytes]) -> _library.OpenOptions:
    """Keyword arguments as the C struct."""
    options = _library.OpenOptions(size=ctypes.sizeof(_library.OpenOptions), plan=plan)
    for key in ("weights", "acts", "coverage", "bias", "scales", "attention", "calibration_data", "device", "dtype"):
        setattr(options, key, text(scheme.get(key), key))
    for key in ("calibration_boards", "calibration_seed", "threads", "slots"):
        setattr(options, key, whole(scheme.get(key) or 0, key))
    smooth = scheme.get("smooth")
    if smooth is not None and not isinstance(smooth, (int, float)):
        raise InvalidArgument(f"smooth; got {type(smooth).__name__}, expected a number")
    options.smooth = float(smooth or 0)
    options.hadamard = bool(scheme.get("hadamard"))
    options.delta = bool(scheme.get("delta"))
    options.calibration_may_overlap = bool(scheme.get("calibration_may_overlap"))
    return options


def bundled_model() -> Path:
    """The packed Sudoku model inside the package."""
    return Path(__file__).parent / "sudoku-small-mxint4.safetensors"


def load(model: Union[None, str, "os.PathLike[str]", bytes] = None, *, weights: Optional[str] = None,
         acts: Optional[str] = None, native: Optional[bool] = None, plan: Any = None, threads: int = 0,
         slots: int = 0, dtype: Optional[str] = None, **scheme: Any) -> "Model":
    """A model ready to think: a checkpoint, a packed model or a PyTorch file, by path or as bytes (safetensors).

    Without quantizers a checkpoint runs in float32; with them it is simulated, or multiplied as integers with
    ``native=True``. Packed models run on integers unless ``native=False``. ``plan`` is a path or a mapping
    (docs/plans.md); other keywords are those of the program: ``coverage``, ``bias``, ``scales``, ``attention``,
    ``smooth``, ``hadamard``, ``delta``, ``calibration_data``, ``calibration_boards``, ``calibration_seed``. Without a
    model the packed Sudoku model of the package is taken.

    >>> with load() as model:
    ...     model.task, model.cells
    ('sudoku', 81)
    """
    known = {"coverage", "bias", "scales", "attention", "smooth", "hadamard", "delta", "calibration_data",
             "calibration_boards", "calibration_seed", "calibration_may_overlap"}
    for key in scheme:
        if key not in known:
            raise InvalidArgument(f"load: unknown keyword; got '{key}', expected one of {', '.join(sorted(known))}")
    if model is None:
        model = bundled_model()
    if native is None:
        native = _is_packed(model)
    wanted: Dict[str, Any] = dict(scheme, weights=weights, acts=acts, dtype=dtype, threads=threads, slots=slots,
                                  device="native" if native else "cpu")
    engine = ctypes.c_void_p()
    with plan_file(plan) as path:
        options = open_options(wanted, path)
        if isinstance(model, (bytes, bytearray)):
            data = bytes(model)
            check(library().open_memory(data, len(data), ctypes.byref(options), ctypes.byref(engine)))
        else:
            check(library().open(text(model, "load: model"), ctypes.byref(options),  # type: ignore[arg-type]
                                 ctypes.byref(engine)))
    return Model(engine)


def _is_packed(model: Any) -> bool:
    try:
        return "packed" in metadata_of(model)
    except (ValueError, TypeError, OSError):
        return False  # opening it says what is wrong


class Model:
    """A model; see load(). One call at a time; close() or ``with`` frees its memory."""

    def __init__(self, engine: ctypes.c_void_p) -> None:
        self._engine: Optional[ctypes.c_void_p] = engine
        self._lock = threading.Lock()
        self._active = 0
        self._epoch = 0  # of what is in the slots
        self._taken: List[int] = []
        out = ctypes.c_void_p()
        check(library().describe(engine, ctypes.byref(out)))
        self.info: Dict[str, Any] = json.loads(_library.take_text(out))
        self.cells = int(library().cells(engine))
        self.vocabulary = int(library().vocabulary(engine))
        self.slots = int(library().slots(engine))
        self.state_shape = (int(library().state_rows(engine)), int(library().state_columns(engine)))

    @property
    def task(self) -> str:
        """The name of the task that the model was trained for."""
        return str(self.info["task"])

    @property
    def max_steps(self) -> int:
        """Supervision steps that it was trained with."""
        return int(self.info["max_steps"])

    @contextlib.contextmanager
    def _turn(self) -> Iterator[ctypes.c_void_p]:
        """The engine, which nobody frees meanwhile."""
        with self._lock:
            if self._engine is None:
                raise InvalidArgument("model: closed; expected one that is open; load it again")
            self._active += 1
            engine = self._engine
        try:
            yield engine
        finally:
            with self._lock:
                self._active -= 1

    def close(self) -> None:
        """Frees the model. Closing twice is fine; closing one that is at work is refused."""
        with self._lock:
            if self._engine is None:
                return
            if self._active:
                raise InvalidArgument("close: the model is at work; expected its call to be over")
            engine, self._engine = self._engine, None
        library().free(engine)

    def __enter__(self) -> "Model":
        return self

    def __exit__(self, *_: Any) -> None:
        self.close()

    def __del__(self) -> None:
        with contextlib.suppress(Exception):  # at the end of Python its own parts may be gone
            self.close()

    def __repr__(self) -> str:
        state = "closed, " if self._engine is None else ""
        return (f"<driftless.Model: {state}{self.task}, {self.info['parameters']} parameters, {self.info['scheme']}, "
                f"{self.info['device']} on {self.info['instruction_set']}>")

    # Boards.

    def tokens(self, boards: Any) -> Array:
        """Boards as the model takes them: texts, Boards, arrays, or one array of uint8, which is not copied."""
        if isinstance(boards, Boards):
            if boards.task not in (self.task, "other") and self.task != "other":
                raise InvalidArgument(f"boards: another task; got {boards.task}, expected {self.task} as the model has")
            boards = boards.inputs
        elif isinstance(boards, str):
            boards = to_tokens(self.task, boards)[None]
        elif isinstance(boards, (list, tuple)) and boards and all(isinstance(board, str) for board in boards):
            rows = [to_tokens(self.task, board) for board in boards]
            if any(len(row) != len(rows[0]) for row in rows):
                raise InvalidArgument("boards: texts of several lengths; expected one size")
            boards = np.stack(rows)
        elif isinstance(boards, (list, tuple)) and boards and all(isinstance(board, np.ndarray) for board in boards):
            if any(board.shape != boards[0].shape for board in boards):
                raise InvalidArgument("boards: arrays of several shapes; expected one")
            boards = np.stack(boards)
        tokens = require_array(boards, np.uint8, "boards")
        if tokens.ndim == 1:
            tokens = tokens[None]
        if tokens.ndim != 2 or tokens.shape[1] != self.cells:
            raise InvalidArgument(f"boards: shape; got {tokens.shape}, expected (boards, {self.cells}) as the model "
                                  f"has; x.reshape(-1, {self.cells})")
        if self.task in _WITHOUT_PADDING and tokens.size and not tokens.all():
            raise InvalidArgument(f"boards: got token 0, which is padding, expected cells of {self.task}: "
                                  f"{_WITHOUT_PADDING[self.task]}")
        return tokens

    def solve(self, boards: Any, *, steps: int = 0, halting: bool = True, puzzles: Optional[Array] = None,
              seeds: Optional[Array] = None, on_step: Optional[Callable[[int, int, Array, float], Any]] = None,
              progress: Progress = False, out: Optional[Array] = None) -> Solutions:
        """Answers to any number of boards, each thought about until the model says that it is done.

        ``steps`` is the most supervision steps, ``halting=False`` makes them all. ``on_step(board, step, tokens,
        halt_logit)`` sees each step; what it raises, Ctrl-C too, ends the call. ``out`` takes the tokens.

        >>> board = "3.....5....26.....9..5....37...4....5.49....1.2.....9..9.2..617.6.4....9..1....4."
        >>> with load() as model:
        ...     model.solve(board)[0].text[:9]
        '346819572'
        """
        tokens = self.tokens(boards)
        count = tokens.shape[0]
        if out is not None:
            require_array(out, np.uint8, "solve: out", writable=True)
            if out.shape != tokens.shape:
                raise InvalidArgument(f"solve: out; got shape {out.shape}, expected {tokens.shape}")
            if np.may_share_memory(out, tokens):
                raise InvalidArgument("solve: out; got the memory of the boards, expected other memory")
        solutions = Solutions(self.task, count, self.cells, out)
        questions = _library.Questions(tokens.ctypes.data, _per_board(puzzles, np.int64, "puzzles", count),
                                       _per_board(seeds, np.uint64, "seeds", count))
        answers = _library.Answers(solutions.tokens.ctypes.data, solutions.steps.ctypes.data,
                                   solutions.halt_logits.ctypes.data)
        with self._turn() as engine, watch(progress, count, "boards") as tell:
            watcher = Callback(_step_watcher(on_step, tell, count, self.cells))
            options = _library.SolveOptions(whole(steps, "steps"), not halting, _library.ON_STEP(watcher), None)
            self._epoch += 1
            watcher.run(library().solve_all, engine, ctypes.byref(questions), count, ctypes.byref(options),
                        ctypes.byref(answers))
            tell(count, count)
        return solutions

    def trajectory(self, board: Any, *, steps: int = 0, puzzle: int = 0, seed: int = 0) -> Iterator[Step]:
        """One Step after another, as many as the model was trained with or as ``steps`` says.

        >>> board = "3.....5....26.....9..5....37...4....5.49....1.2.....9..9.2..617.6.4....9..1....4."
        >>> with load() as model:
        ...     [step.z_h.shape == model.state_shape for step in model.trajectory(board, steps=2)]
        [True, True]
        """
        tokens = self.tokens(board)
        if tokens.shape[0] != 1:
            raise InvalidArgument(f"trajectory: boards; got {tokens.shape[0]}, expected one")
        steps = whole(steps, "steps") or self.max_steps
        return self._steps(tokens[0], steps, whole(puzzle, "puzzle"), whole(seed, "seed", 0, 2**64 - 1))

    def _steps(self, tokens: Array, steps: int, puzzle: int, seed: int) -> Iterator[Step]:
        slot = next((i for i in range(self.slots) if i not in self._taken), None)
        if slot is None:
            raise InvalidArgument(f"trajectory: {self.slots} of them are under way, as many as the model has slots; "
                                  "close one, or load with more slots")
        self._taken.append(slot)
        try:
            self.reset(slot, tokens, puzzle=puzzle, seed=seed)
            epoch = self._epoch
            for number in range(1, steps + 1):
                if epoch != self._epoch:
                    raise InvalidArgument("trajectory: the model took other boards meanwhile; expected one that is "
                                          "left alone, or a second model")
                self.step([slot])
                z_h, z_l = self.states(slot)
                logits, halt, go_on = self.logits(slot)
                yield Step(number, z_h, z_l, logits, halt, go_on, self.task)
        finally:
            self._taken.remove(slot)

    # Slots.

    def reset(self, slot: int, board: Any, *, puzzle: int = 0, seed: int = 0) -> None:
        """Puts a board into a slot with fresh states."""
        tokens = self.tokens(board)
        if tokens.shape[0] != 1:
            raise InvalidArgument(f"reset: boards; got {tokens.shape[0]}, expected one")
        with self._turn() as engine:
            check(library().reset(engine, whole(slot, "slot"), tokens.ctypes.data, self.cells,
                                  whole(puzzle, "puzzle"), whole(seed, "seed", 0, 2**64 - 1)))

    def step(self, slots: Sequence[int]) -> None:
        """One supervision step for each of the slots."""
        chosen = np.array([whole(slot, "slot") for slot in slots], np.int64)
        with self._turn() as engine:
            check(library().step(engine, chosen.ctypes.data, chosen.size))

    def states(self, slot: int) -> Tuple[Array, Array]:
        """z_H and z_L of a slot, positions × width."""
        z_h, z_l = np.empty(self.state_shape, np.float32), np.empty(self.state_shape, np.float32)
        with self._turn() as engine:
            check(library().states(engine, whole(slot, "slot"), z_h.ctypes.data, z_l.ctypes.data))
        return z_h, z_l

    def set_states(self, slot: int, z_h: Array, z_l: Array) -> None:
        """Replaces the states of a slot that holds a board."""
        for name, state in (("z_h", z_h), ("z_l", z_l)):
            require_array(state, np.float32, f"set_states: {name}")
            if state.shape != self.state_shape:
                raise InvalidArgument(f"set_states: {name}; got shape {state.shape}, expected {self.state_shape}")
        with self._turn() as engine:
            check(library().set_states(engine, whole(slot, "slot"), z_h.ctypes.data, z_l.ctypes.data, z_h.size))

    def logits(self, slot: int) -> Tuple[Array, float, float]:
        """Logits (cells × vocabulary), halt and continue logit of a slot's last step."""
        logits = np.empty((self.cells, self.vocabulary), np.float32)
        halt, go_on = ctypes.c_float(), ctypes.c_float()
        with self._turn() as engine:
            check(library().logits(engine, whole(slot, "slot"), logits.ctypes.data, ctypes.byref(halt),
                                   ctypes.byref(go_on)))
        return logits, halt.value, go_on.value


def _per_board(values: Optional[Array], dtype: Any, what: str, count: int) -> Optional[int]:
    if values is None:
        return None
    require_array(values, dtype, what)
    if values.shape != (count,):
        raise InvalidArgument(f"{what}; got shape {values.shape}, expected ({count},)")
    return int(values.ctypes.data)


def _step_watcher(on_step: Optional[Callable[[int, int, Array, float], Any]], tell: Callable[[int, int], Any],
                  count: int, cells: int) -> Callable[..., Any]:
    """Called after each step of each board, which is also when Python hears of Ctrl-C."""
    seen = -1

    def hear(_user: Any, board: int, step: int, tokens: int, halt_logit: float) -> None:
        nonlocal seen
        if board > seen:
            seen = board
            tell(seen, count)
        if on_step is not None:
            shown = np.frombuffer(ctypes.string_at(tokens, cells), np.uint8)
            on_step(board, step, shown, halt_logit)

    return hear


@contextlib.contextmanager
def watch(progress: Progress, total: int, unit: str) -> Iterator[Callable[[int, int], Any]]:
    """Who is told how much is done: a function of (done, total), tqdm where it is installed, or nobody."""
    if callable(progress):
        yield progress
        return
    try:
        if not progress:
            raise ImportError
        from tqdm import tqdm  # type: ignore[import] # pylint: disable=import-outside-toplevel
    except ImportError:
        yield lambda done, total: None
        return
    with tqdm(total=total, unit=unit) as bar:
        def show(done: int, of: int) -> None:
            bar.total = of
            bar.update(done - bar.n)

        yield show
