# SPDX-License-Identifier: Apache-2.0
"""From install to a plot: how a quantized model's states settle beside the float model's.

usage: python3 trajectory.py [ROOT of the source tree, for a float checkpoint]
"""
import sys
from pathlib import Path

import matplotlib
import numpy as np

import driftless

matplotlib.use("svg")
import matplotlib.pyplot as plt

model_file = Path(sys.argv[1] if len(sys.argv) > 1 else ".") / "models" / "sudoku-small.safetensors"
board = "3.....5....26.....9..5....37...4....5.49....1.2.....9..9.2..617.6.4....9..1....4."
with driftless.load(model_file) as model:
    reference = [step.z_l for step in model.trajectory(board, steps=6)]
for scheme in ("mxint8", "mxint4", "int4/token"):
    with driftless.load(model_file, weights=scheme.replace("token", "channel"), acts=scheme) as model:
        distance = [np.linalg.norm(step.z_l - z_l) for step, z_l in zip(model.trajectory(board), reference)]
    plt.plot(range(1, 7), distance, marker="o", label=scheme)
    print(f"{scheme:<12} |z_L - float z_L| after 6 steps: {distance[-1]:.2f}")
plt.xlabel("supervision step"), plt.ylabel("distance from the float model's z_L"), plt.legend()
plt.savefig("trajectory.svg")
