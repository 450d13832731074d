# SPDX-License-Identifier: Apache-2.0
"""What models return: answers and steps."""
from __future__ import annotations

from dataclasses import dataclass
from typing import Any, List, Optional, Sequence

import numpy as np

from ._boards import draw, to_text
from .errors import Unsupported

Array = Any


@dataclass(frozen=True)
class Solution:
    """The answer to one board; ``print`` draws it where the task draws boards."""

    tokens: Array
    steps: int
    halt_logit: float
    task: str = ""

    @property
    def text(self) -> str:
        """The answer, a character a cell."""
        return to_text(self.task, self.tokens)

    def __repr__(self) -> str:
        return f"<driftless.Solution: {self.text}, {self.steps} steps, halt logit {self.halt_logit:+.2f}>"

    def __str__(self) -> str:
        try:
            return draw(self.task, self.tokens).rstrip("\n")
        except Unsupported:
            return self.text


@dataclass(frozen=True)
class Step:
    """What one board's model holds after a supervision step; arrays are its own copies."""

    number: int
    z_h: Array
    z_l: Array
    logits: Array
    halt_logit: float
    continue_logit: float
    task: str = ""

    @property
    def tokens(self) -> Array:
        """The most likely token of each cell."""
        return self.logits.argmax(axis=1).astype(np.uint8)

    @property
    def text(self) -> str:
        """These tokens, a character a cell."""
        return to_text(self.task, self.tokens)

    def __repr__(self) -> str:
        return f"<driftless.Step {self.number}: z_h {self.z_h.shape}, halt logit {self.halt_logit:+.2f}>"


class Solutions(Sequence[Solution]):
    """Answers in the order of the boards: ``tokens`` (boards × cells), ``texts``, ``steps``, ``halt_logits``.

    >>> with load() as model:
    ...     model.solve(["." * 81] * 2, steps=1)
    <driftless.Solutions: 2 sudoku boards, 1.00 steps on average>
    """

    def __init__(self, task: str, count: int, cells: int, out: Optional[Array] = None) -> None:
        self.task = task
        self.tokens = np.empty((count, cells), np.uint8) if out is None else out
        self.steps = np.zeros(count, np.int64)
        self.halt_logits = np.zeros(count, np.float32)

    def __len__(self) -> int:
        return len(self.steps)

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            return [self[i] for i in range(*index.indices(len(self)))]
        return Solution(self.tokens[index], int(self.steps[index]), float(self.halt_logits[index]), self.task)

    @property
    def texts(self) -> List[str]:
        """The answers, a character a cell."""
        return [to_text(self.task, tokens) for tokens in self.tokens]

    def __repr__(self) -> str:
        mean = self.steps.mean() if len(self) else 0.0
        boards = "board" if len(self) == 1 else "boards"
        return f"<driftless.Solutions: {len(self)} {self.task} {boards}, {mean:.2f} steps on average>"
