# SPDX-License-Identifier: Apache-2.0
"""What the Python package costs beside what it calls, as ratios of one run: both sides take turns, and the least
processor time counts, which other work on the machine disturbs less than the clock.

usage: python3 speed.py PROGRAM [ROUNDS]   with the wheel installed; run in the root of the source tree
"""
import ctypes
import os
import resource
import subprocess
import sys
import tempfile
import time

import numpy as np

import driftless
from driftless import _library

MODEL, BOARDS = "models/sudoku-small-mxint4-qat.safetensors", "models/demo-sudoku.csv"


def seconds(action):
    start = time.process_time()
    action()
    return time.process_time() - start


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
    """model.solve beside the program's native evaluation of 64 boards, one thread, in processor time. What the program
    takes to start and to load is that of a run with one board, which is taken off both."""
    boards = driftless.read_boards(BOARDS)
    tokens = np.tile(boards.inputs, (64 // len(boards) + 1, 1))[:64].copy()
    path = os.path.join(tempfile.mkdtemp(), "boards.txt")
    with open(path, "w", encoding="ascii") as file:
        file.writelines(driftless.to_text("sudoku", row) + "\n" for row in tokens)

    def program(count):
        before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        subprocess.run([sys.argv[1], "eval", MODEL, "--native", "--threads", "1", "--data", path, "--limit",
                        str(count)],
                       capture_output=True, check=True)
        return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before

    with driftless.load(MODEL, threads=1) as model:
        def ours(count):
            start = time.process_time()
            model.solve(tokens[:count], halting=False)
            return time.process_time() - start

        all_ours, one_ours, all_theirs, one_theirs = least(rounds, lambda: ours(64), lambda: ours(1),
                                                           lambda: program(64), lambda: program(1))
    mine, theirs = all_ours - one_ours, all_theirs - one_theirs
    print(f"solve 63 of 64 boards: {mine:.3f} s, {mine / theirs:.3f} of the program's {theirs:.3f} s")


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 5
    code = "import numpy, time; s = time.process_time(); import driftless; print(time.process_time() - s)"
    imports = [float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)
               for _ in range(rounds)]
    print(f"import: {1000 * min(imports):.0f} ms beside numpy's")
    solve(rounds)
    quantize(10 * rounds)


if __name__ == "__main__":
    main()
