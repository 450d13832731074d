# SPDX-License-Identifier: Apache-2.0
"""Exact number formats, quantized recursive reasoners and their trajectories.

>>> import numpy, driftless
>>> driftless.quantize(numpy.array([0.3, -1.0], numpy.float32), "int8/tensor")
array([ 0.2992126, -1.       ], dtype=float32)
"""
from __future__ import annotations

import importlib
from typing import Any, List

from ._answers import Solution, Solutions, Step
from ._arrays import (Format, canonical, decode, encode, exponent_rules, formats, inside, instruction_set, quantize)
from ._boards import Boards, draw, generate, read_boards, tasks, to_text, to_tokens
from ._model import Model, load
from ._studies import Estimate, Evaluation, Rows, evaluate, ladder, pack
from ._version import __version__
from .errors import (BadConfig, BadFile, DriftlessError, InternalError, InvalidArgument, IoError, NumericError,
                     Unsupported)

__all__ = ["BadConfig", "BadFile", "Boards", "DriftlessError", "Estimate", "Evaluation", "Format", "InternalError",
           "InvalidArgument", "IoError", "Model", "NumericError", "Rows", "Solution", "Solutions", "Step",
           "Unsupported", "canonical", "decode", "draw", "encode", "evaluate", "exponent_rules", "formats",
           "generate", "inside", "instruction_set", "ladder", "load", "pack", "quantize", "read_boards", "tasks",
           "to_text", "to_tokens", "__version__"]


def __getattr__(name: str) -> Any:
    """The parts that need more than numpy are imported when they are asked for."""
    if name in ("torch", "checkpoint"):
        return importlib.import_module("." + name, __name__)
    raise AttributeError(f"module 'driftless' has no attribute '{name}'")


def __dir__() -> List[str]:
    return sorted([*__all__, "checkpoint", "torch"])
