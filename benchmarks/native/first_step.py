# SPDX-License-Identifier: Apache-2.0
"""How long after its start the program has made a model's first step: until `solve --steps 1` writes its first byte.

usage: python3 first_step.py PROGRAM MODEL [ROUNDS]
"""
import os
import statistics
import subprocess
import sys
import time

BOARD = "3.....5....26.....9..5....37...4....5.49....1.2.....9..9.2..617.6.4....9..1....4."


def milliseconds(command):
    start = time.perf_counter()
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, close_fds=False) as process:
        os.read(process.stdout.fileno(), 1)
        seconds = time.perf_counter() - start
        process.communicate()
    if process.returncode != 0:
        raise SystemExit(f"first_step: {' '.join(command)}: exit {process.returncode}")
    return 1000 * seconds


def main():
    program, model = sys.argv[1:3]
    rounds = int(sys.argv[3]) if len(sys.argv) > 3 else 40
    commands = {"first step": [program, "solve", model, "--native", "--steps", "1", "--no-color", BOARD],
                "--version": [program, "--version"]}
    times = {name: [] for name in commands}
    for _ in range(rounds):
        for name, command in commands.items():
            times[name].append(milliseconds(command))
    for name, each in times.items():
        print(f"{name}: median {statistics.median(each):.1f} ms, best {min(each):.1f}, of {rounds}")


if __name__ == "__main__":
    main()
