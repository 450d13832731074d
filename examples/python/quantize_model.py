# SPDX-License-Identifier: Apache-2.0
"""Quantizes a TRM checkpoint: in float, simulated, packed and on integers, scored on the same boards.

usage: python3 quantize_model.py [ROOT of the source tree]
"""
import sys
from pathlib import Path

import driftless

models = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "models"
checkpoint, boards = models / "sudoku-small.safetensors", models / "demo-sudoku.csv"

with driftless.load(checkpoint) as model:
    print(model)
    print("float    ", driftless.evaluate(model, boards, limit=8, halting="halt").exact)

# Weights and activations as MXInt4, simulated in float32.
with driftless.load(checkpoint, weights="mxint4", acts="mxint4") as model:
    print("simulated", driftless.evaluate(model, boards, limit=8, halting="halt").exact)

# The same numbers as packed codes, multiplied as integers.
driftless.pack(checkpoint, "packed.safetensors", weights="mxint4")
with driftless.load("packed.safetensors") as model:
    print("native   ", driftless.evaluate(model, boards, limit=8, halting="halt").exact)
    print(f"{Path('packed.safetensors').stat().st_size} bytes instead of {checkpoint.stat().st_size}")

# Other formats beside one another; rows.frame() is a pandas frame.
print(driftless.ladder(checkpoint, boards, ["none", "mxint4", "int4/tensor:none"], limit=2, steps=2))
