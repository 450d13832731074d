# SPDX-License-Identifier: Apache-2.0
"""A puzzle of one's own: 4x4 Latin squares as arrays, a checker, and a model on them.

The model is untrained and solves nothing; docs/own-puzzle.md trains one on the same boards.
usage: python3 own_puzzle.py [ROOT of the source tree]
"""
import itertools
import sys
from pathlib import Path

import numpy as np

import driftless
from driftless import checkpoint

BLANK, FIRST = 1, 2  # token 0 is padding, tokens 2 to 5 the symbols

rng = np.random.default_rng(1)
rows = list(itertools.permutations(range(FIRST, FIRST + 4)))
squares = [sum(s, ()) for s in itertools.product(rows, repeat=4) if all(len({r[c] for r in s}) == 4 for c in range(4))]
labels = np.array([squares[i] for i in rng.integers(len(squares), size=32)], np.uint8)
inputs = np.where(rng.random(labels.shape) < 0.5, labels, BLANK).astype(np.uint8)


def is_right(question, answer):
    """Any completion that is a Latin square, not only the one that the label has."""
    square = answer.reshape(4, 4)
    keeps = ((question == BLANK) | (question == answer)).all()
    return bool(keeps and all(len(set(line)) == 4 for line in (*square, *square.T)))


boards = driftless.Boards.from_arrays("other", inputs, labels)
assert all(is_right(question, answer) for question, answer in boards)

# A small TRM for 16 cells, with random weights of the shapes that a Sudoku model has.
models = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "models"
tensors, config = checkpoint.read(models / "sudoku-small.safetensors")
cells, old = 16, config["seq_len"]
config.update(task="other", seq_len=cells)
for name, values in tensors.items():
    # Token mixers have as many inputs, outputs or both as there are positions.
    prefix = config.get("puzzle_emb_len", 0)
    shape = [cells + prefix if size == old + prefix else size for size in values.shape]
    tensors[name] = (0.02 * rng.standard_normal(shape)).astype(np.float32)
checkpoint.write("latin.safetensors", tensors, config)
with driftless.load("latin.safetensors", weights="mxint4", acts="mxint4", native=True) as model:
    answers = model.solve(boards, steps=2)
    right = sum(is_right(question, solution.tokens) for question, solution in zip(boards.inputs, answers))
    print(f"{right} of {len(boards)} boards are Latin squares before any training; {model!r}")
