# SPDX-License-Identifier: Apache-2.0
"""What the Python package costs beside what it calls, as ratios of one run: both sides take turns, the least counts.

usage: python3 speed.py PROGRAM [ROUNDS]   with the wheel installed; run in the root of the source tree
"""
import ctypes
import json
import subprocess
import sys
import time

import numpy as np

import driftless
from driftless import _library

MODEL, BOARDS = "models/sudoku-small-mxint4-qat.safetensors", "models/demo-sudoku.csv"


def seconds(action):
    start = time.perf_counter()
    action()
    return time.perf_counter() - start


def least(rounds, *actions):
    times = [[action() for action in actions] for _ in range(rounds)]
    return [min(column) for column in zip(*times)]


def quantize(rounds):
    """driftless.quantize beside the C function alone, on 1 M values."""
    x = np.random.default_rng(1).standard_normal(1 << 20).astype(np.float32).reshape(1024, 1024)
    out, expected = np.empty_like(x), np.empty_like(x)
    function = _library.library().quantize
    address, target = ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(expected.ctypes.data)
    for spec in ("mxint4", "mxint4,rule=mse", "int4/group32", "nvfp4"):
        text = spec.encode()
        ours, theirs = least(rounds, lambda: seconds(lambda: driftless.quantize(x, spec, out=out)),
                             lambda: seconds(lambda: function(text, address, 1024, 1024, target)))
        assert np.array_equal(out, expected)
        print(f"quantize {spec:<16} {x.size / ours / 1e6:8.0f} M values/s, {theirs / ours:.3f} of the C function")


def solve(rounds):
    """model.solve beside the program's native evaluation of 64 boards, one thread, all steps."""
    boards = driftless.read_boards(BOARDS)
    tokens = np.tile(boards.inputs, (64 // len(boards) + 1, 1))[:64].copy()
    path = "/tmp/driftless-speed.csv"
    with open(path, "w", encoding="ascii") as file:
        for row in tokens:
            file.write(driftless.to_text("sudoku", row) + "\n")

    def program():
        done = subprocess.run([sys.argv[1], "eval", MODEL, "--native", "--threads", "1", "--data", path, "--json", "-"],
                              capture_output=True, text=True, check=True)
        return json.loads(done.stdout)["wall_s"]

    with driftless.load(MODEL, threads=1) as model:
        ours, theirs = least(rounds, lambda: seconds(lambda: model.solve(tokens, halting=False)), program)
    print(f"solve 64 boards: {ours:.3f} s, {ours / theirs:.3f} of the program's {theirs:.3f} s")


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    code = "import numpy, time; s = time.perf_counter(); import driftless; print(time.perf_counter() - s)"
    imports = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
               for _ in range(rounds)]
    print(f"import: {1000 * min(imports):.0f} ms beside numpy's")
    quantize(10 * rounds)
    solve(rounds)


if __name__ == "__main__":
    main()
