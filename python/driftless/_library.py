# SPDX-License-Identifier: Apache-2.0
"""The shared library: found, checked and declared. The C headers say what each function does."""
from __future__ import annotations

import ctypes
import os
import re
import signal
import threading
from ctypes import POINTER, c_char_p, c_double, c_float, c_int, c_int64, c_size_t, c_uint64, c_void_p
from pathlib import Path
from typing import Any, Callable, Optional, Tuple

from .errors import KINDS, InternalError, InvalidArgument, Unsupported

API_VERSION = 3

ON_STEP = ctypes.CFUNCTYPE(c_int, c_void_p, c_size_t, c_int64, c_void_p, c_float)
ON_PROGRESS = ctypes.CFUNCTYPE(c_int, c_void_p, c_int64, c_int64)


class Format(ctypes.Structure):
    _fields_ = [("name", c_char_p), ("bits", c_int), ("bits_with_scale", c_double), ("block", c_int64),
                ("scaling", c_char_p), ("max", c_float), ("smallest", c_float)]


class OpenOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("weights", c_char_p), ("acts", c_char_p), ("coverage", c_char_p),
                ("bias", c_char_p), ("scales", c_char_p), ("attention", c_char_p), ("plan", c_char_p),
                ("smooth", c_double), ("hadamard", c_int), ("calibration_data", c_char_p),
                ("calibration_boards", c_int64), ("calibration_seed", c_int64),
                ("calibration_may_overlap", c_int), ("device", c_char_p), ("dtype", c_char_p),
                ("threads", c_int64), ("slots", c_int64), ("delta", c_int)]


class SolveOptions(ctypes.Structure):
    _fields_ = [("max_steps", c_int64), ("all_steps", c_int), ("on_step", ON_STEP), ("user", c_void_p)]


class Questions(ctypes.Structure):
    _fields_ = [("tokens", c_void_p), ("puzzles", c_void_p), ("seeds", c_void_p)]


class Answers(ctypes.Structure):
    _fields_ = [("tokens", c_void_p), ("steps", c_void_p), ("halt_logits", c_void_p)]


class EvaluateOptions(ctypes.Structure):
    _fields_ = [("max_steps", c_int64), ("halting", c_char_p), ("seed", c_uint64), ("on_progress", ON_PROGRESS),
                ("user", c_void_p)]


class LadderOptions(ctypes.Structure):
    _fields_ = [("size", c_size_t), ("schemes", POINTER(c_char_p)), ("scheme_count", c_size_t),
                ("coverage", c_char_p), ("steps", c_int64), ("limit", c_int64), ("seed", c_uint64),
                ("device", c_char_p), ("threads", c_int64), ("batch", c_int64), ("calibration_data", c_char_p),
                ("calibration_boards", c_int64), ("out", c_char_p), ("on_progress", ON_PROGRESS),
                ("user", c_void_p)]


# Result, then arguments. Pointers to arrays are plain addresses, which numpy gives.
_SIGNATURES = {
    "version": (c_char_p, []),
    "last_error": (c_char_p, []),
    "free_memory": (None, [c_void_p]),
    "format_count": (c_int64, []),
    "format_at": (c_int, [c_int64, POINTER(Format)]),
    "exponent_rule": (c_char_p, [c_int64]),
    "parse_quantizer": (c_int, [c_char_p, POINTER(c_void_p)]),
    "quantize": (c_int, [c_char_p, c_void_p, c_int64, c_int64, c_void_p]),
    "inside": (c_int, [c_char_p, c_void_p, c_int64, c_int64, c_void_p]),
    "encode": (c_int, [c_char_p, c_void_p, c_size_t, POINTER(c_void_p), POINTER(c_size_t)]),
    "decode": (c_int, [c_char_p, c_void_p, c_size_t, POINTER(c_void_p), POINTER(c_size_t)]),
    "instruction_set": (c_int, [POINTER(c_char_p)]),
    "open": (c_int, [c_char_p, POINTER(OpenOptions), POINTER(c_void_p)]),
    "open_memory": (c_int, [c_char_p, c_size_t, POINTER(OpenOptions), POINTER(c_void_p)]),
    "free": (None, [c_void_p]),
    "pack": (c_int, [c_char_p, POINTER(OpenOptions), c_char_p, c_char_p]),
    "cells": (c_int64, [c_void_p]),
    "vocabulary": (c_int64, [c_void_p]),
    "slots": (c_int64, [c_void_p]),
    "state_rows": (c_int64, [c_void_p]),
    "state_columns": (c_int64, [c_void_p]),
    "describe": (c_int, [c_void_p, POINTER(c_void_p)]),
    "solve_all": (c_int, [c_void_p, POINTER(Questions), c_size_t, POINTER(SolveOptions), POINTER(Answers)]),
    "reset": (c_int, [c_void_p, c_int64, c_void_p, c_size_t, c_int64, c_uint64]),
    "step": (c_int, [c_void_p, c_void_p, c_size_t]),
    "states": (c_int, [c_void_p, c_int64, c_void_p, c_void_p]),
    "set_states": (c_int, [c_void_p, c_int64, c_void_p, c_void_p, c_size_t]),
    "logits": (c_int, [c_void_p, c_int64, c_void_p, POINTER(c_float), POINTER(c_float)]),
    "task": (c_char_p, [c_int64]),
    "read_boards": (c_int, [c_void_p, c_char_p, c_char_p, c_char_p, c_int64, POINTER(c_void_p)]),
    "generate_boards": (c_int, [c_char_p, c_int64, c_int64, c_uint64, POINTER(c_void_p)]),
    "make_boards": (c_int, [c_char_p, c_void_p, c_void_p, c_void_p, c_size_t, c_size_t, POINTER(c_void_p)]),
    "free_boards": (None, [c_void_p]),
    "board_count": (c_int64, [c_void_p]),
    "board_cells": (c_int64, [c_void_p]),
    "board_task": (c_char_p, [c_void_p]),
    "copy_boards": (c_int, [c_void_p, c_void_p, c_void_p, c_void_p]),
    "check": (c_int, [c_char_p, c_void_p, c_void_p, c_void_p, c_size_t, POINTER(c_int)]),
    "board_text": (c_int, [c_char_p, c_void_p, c_size_t, POINTER(c_void_p)]),
    "draw_board": (c_int, [c_char_p, c_void_p, c_size_t, POINTER(c_void_p)]),
    "board_tokens": (c_int, [c_char_p, c_char_p, c_void_p]),
    "evaluate": (c_int, [c_void_p, c_void_p, POINTER(EvaluateOptions), POINTER(c_void_p)]),
    "ladder": (c_int, [c_char_p, c_char_p, POINTER(LadderOptions), POINTER(c_void_p)]),
}


class Library:
    """The functions of libdriftless.so by their names without the prefix."""

    def __init__(self, path: Path) -> None:
        try:
            loaded = ctypes.CDLL(str(path))
        except OSError as error:
            raise Unsupported(f"driftless: cannot load the library; got {error}, expected {path.name} for this "
                              "machine; install the wheel that was built for it") from None
        if not hasattr(loaded, "driftless_api_version") or loaded.driftless_api_version() != API_VERSION:
            raise Unsupported(f"driftless: {path}: another version of the library; expected interface "
                              f"{API_VERSION}; install the wheel again")
        for name, (result, arguments) in _SIGNATURES.items():
            function = getattr(loaded, "driftless_" + name)
            function.restype = result
            function.argtypes = arguments
            setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


_lock = threading.Lock()
_library: Optional[Library] = None


def library() -> Library:
    """The library, loaded at its first use. DRIFTLESS_LIBRARY names another one."""
    global _library
    if _library is None:
        with _lock:
            if _library is None:
                path = os.environ.get("DRIFTLESS_LIBRARY")
                _library = Library(Path(path) if path else Path(__file__).parent / "libdriftless.so")
    return _library


_FLAG = re.compile(r"--(weights|acts|native|plan|coverage|bias|scales|attention|smooth|hadamard|delta|threads|task|"
                   r"calibration-(?:data|boards|seed))(?![a-z-])")
_COMMANDS = {"'driftless formats'": "driftless.formats()", "'driftless quantize'": "driftless.pack()"}


def _for_python(line: str) -> str:
    """The program's flags and commands as what they are called here."""
    line = _FLAG.sub(lambda flag: flag.group(1).replace("-", "_") + "=", line)
    for command, function in _COMMANDS.items():
        line = line.replace(command, function)
    return line


def check(code: int) -> None:
    """Raises the exception of a function that failed."""
    if code != 0:
        line = library().last_error().decode("utf-8", "replace")
        raise KINDS.get(code, InternalError)(_for_python(line))


def text(value: Any, what: str) -> Optional[bytes]:
    """A string for C; None is NULL."""
    if value is None:
        return None
    if not isinstance(value, (str, os.PathLike)):
        raise InvalidArgument(f"{what}; got {type(value).__name__}, expected a string")
    encoded = os.fsencode(value)
    if b"\0" in encoded:
        raise InvalidArgument(f"{what}; got a zero byte, expected a text without one")
    return encoded


def whole(value: Any, what: str, low: int = 0, high: int = 2**63 - 1) -> int:
    """An integer within bounds, whatever numpy calls it."""
    try:
        number = value.__index__()
    except AttributeError:
        raise InvalidArgument(f"{what}; got {type(value).__name__}, expected an integer") from None
    if not low <= number <= high:
        bounds = f"{low} or more" if high == 2**63 - 1 and number < low else f"{low} to {high}"
        raise InvalidArgument(f"{what}; got {number}, expected {bounds}")
    return int(number)


def take_text(pointer: c_void_p) -> str:
    """A text that the library made, which is freed."""
    try:
        return (ctypes.cast(pointer, c_char_p).value or b"").decode("utf-8", "replace")
    finally:
        library().free_memory(pointer)


class Callback:
    """A Python function that C calls. What it raises ends the call and is raised behind it, and so does Ctrl-C.

    Python would raise KeyboardInterrupt in whatever line it has come to, also before this class could catch it, and
    ctypes drops what leaves a callback. So during the call a handler of our own only takes a note.
    """

    def __init__(self, function: Callable[..., Any]) -> None:
        self._function = function
        self._raised: Optional[BaseException] = None
        self._signal: Optional[Tuple[int, Any]] = None

    def __call__(self, *arguments: Any) -> int:
        try:
            self._function(*arguments)
        except BaseException as error:  # pylint: disable=broad-except
            self._raised = error
        return 0 if self._raised is None and self._signal is None else 1

    def run(self, function: Callable[..., int], *arguments: Any) -> None:
        """Calls the C function that takes this callback."""
        before = signal.getsignal(signal.SIGINT)
        is_ours = threading.current_thread() is threading.main_thread() and callable(before)
        if is_ours:
            signal.signal(signal.SIGINT, self._note)
        try:
            code = function(*arguments)
        finally:
            if is_ours:
                signal.signal(signal.SIGINT, before)
        if self._raised is not None:
            raise self._raised
        if self._signal is not None and callable(before):
            before(*self._signal)
        check(code)

    def _note(self, number: int, frame: Any) -> None:
        self._signal = (number, frame)
