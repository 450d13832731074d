# SPDX-License-Identifier: Apache-2.0
"""What the Python package costs beside what it calls, as ratios of one run.

Answers are checked first. Both sides take turns on the same memory, in the order ours, theirs, theirs, ours; of the
rounds' ratios the median counts, and times are processor time, which other work disturbs less than the clock. Exits
with 1 where a goal is missed.

usage: python3 speed.py PROGRAM [ROUNDS]   with the wheel installed; run in the root of the source tree
"""
import ctypes
import hashlib
import json
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
# One of every kind of scale: power of two, searched, in a window, with fractions, float, two-level, none.
QUANTIZERS = ["mxint4", "mxint4,rule=mse", "mxint4,window=4", "mxfp4", "mxint8", "mxfp8_e4m3", "nvfp4",
              "int4/block32,scale=e5m3", "int4/group32", "uint4/group32", "int8/token", "int4/tensor", "bf16",
              "fp8_e4m3"]
ROWS = COLUMNS = 1024
STEPS = 4
SAME = ("import sys, hashlib, numpy as np, driftless\n"
        "x = np.random.default_rng(1).standard_normal((1024, 1024)).astype(np.float32)\n"
        "for text in sys.argv[1:]: print(hashlib.sha256(driftless.quantize(x, text).tobytes()).hexdigest())")
missed = []


def report(line, is_met):
    print(line + ("" if is_met else "   MISSED"))
    if not is_met:
        missed.append(line)


def seconds(action):
    start = time.process_time()
    action()
    return time.process_time() - start


def race(rounds, ours, theirs):
    """Our time and the median of theirs over ours, of functions that return seconds."""
    times = [(ours(), theirs(), theirs(), ours()) for _ in range(rounds)]
    ratios = [(second + third) / (first + last) for first, second, third, last in times]
    return min(min(first, last) for first, _, _, last in times), float(np.median(ratios))


def quantize(rounds):
    """driftless.quantize beside the C function alone, on 1 M values, by the scalar kernels' answers."""
    x = np.random.default_rng(1).standard_normal((ROWS, COLUMNS)).astype(np.float32)
    out = np.empty_like(x)
    scalar = subprocess.run([sys.executable, "-c", SAME, *QUANTIZERS], env=dict(os.environ, DRIFTLESS_ISA="scalar"),
                            capture_output=True, check=True, text=True).stdout.split()
    function = _library.library().quantize
    # Both write to the same memory: other memory has other pages, which alone made a difference of 8 %.
    address, target = ctypes.c_void_p(x.ctypes.data), ctypes.c_void_p(out.ctypes.data)

    def against_c(text):
        encoded = text.encode()
        return race(rounds, lambda: seconds(lambda: driftless.quantize(x, text, out=out)),
                    lambda: seconds(lambda: function(encoded, address, ROWS, COLUMNS, target)))

    against_c(QUANTIZERS[0])  # what runs first is slower, whichever it is
    for text, expected in zip(QUANTIZERS, scalar):
        driftless.quantize(x, text, out=out)
        if hashlib.sha256(out.tobytes()).hexdigest() != expected:
            raise SystemExit(f"quantize {text}: differs from the scalar kernels")
        best, ratio = against_c(text)
        report(f"quantize {text:<24} {x.size / best / 1e6:6.0f} M values/s, {ratio:.3f} of the C function (goal 0.95)",
               ratio >= 0.95)


def solve(rounds):
    """model.solve beside the program's native evaluation of 64 boards, one thread, in processor time. What the program
    takes to start and to load is that of a run with one board, which is taken off both."""
    boards = driftless.read_boards(BOARDS)
    chosen = np.arange(64) % len(boards)
    inputs, labels = boards.inputs[chosen], boards.labels[chosen]
    folder = tempfile.mkdtemp()
    path, record = os.path.join(folder, "boards.csv"), os.path.join(folder, "record.json")
    with open(path, "w", encoding="ascii") as file:
        file.write("source,question,answer,rating\n")
        file.writelines(f"x,{driftless.to_text('sudoku', q)},{driftless.to_text('sudoku', a)},0\n"
                        for q, a in zip(inputs, labels))

    def run_program(count):
        before = sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2])
        subprocess.run([sys.argv[1], "eval", MODEL, "--native", "--threads", "1", "--data", path, "--steps",
                        str(STEPS), "--limit", str(count), "--json", record], capture_output=True, check=True)
        return sum(resource.getrusage(resource.RUSAGE_CHILDREN)[:2]) - before

    with driftless.load(MODEL, threads=1) as model:
        def ours():
            start = seconds(lambda: model.solve(inputs[:1], steps=STEPS, halting=False))
            return seconds(lambda: model.solve(inputs, steps=STEPS, halting=False)) - start

        run_program(64)
        with open(record, encoding="utf-8") as file:
            theirs_right = round(64 * json.load(file)["exact"]["share"])
        answers = model.solve(inputs, steps=STEPS, halting=False).tokens
        right = driftless.Boards.from_arrays("sudoku", inputs, labels).check(answers).count("exact")
        if right != theirs_right:
            raise SystemExit(f"solve: {right} of 64 boards are right, of the program's {theirs_right}")
        best, ratio = race(rounds, ours, lambda: run_program(64) - run_program(1))
    report(f"solve: 63 of 64 boards, {STEPS} steps, in {best:.2f} s of one thread, {1 / ratio:.3f} of the program's time "
           "(goal 1.02)", 1 / ratio <= 1.02)


def imports(rounds):
    """The clock of `import driftless` in a new Python, numpy included and not."""
    def ms(first):
        code = f"{first}; import time; s = time.perf_counter(); import driftless; print(time.perf_counter() - s)"
        return 1000 * float(subprocess.run([sys.executable, "-c", code], capture_output=True, check=True).stdout)

    whole, own = (min(ms(first) for _ in range(rounds)) for first in ("pass", "import numpy"))
    report(f"import: {own:.0f} ms beside numpy's, {whole:.0f} with it (goal 100 beside it)", own < 100)


def main():
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 3
    print(f"driftless {driftless.__version__} on {driftless.instruction_set()}, numpy {np.__version__}")
    imports(rounds)
    quantize(10 * rounds)
    solve(rounds)
    sys.exit(1 if missed else 0)


if __name__ == "__main__":
    main()
