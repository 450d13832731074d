# SPDX-License-Identifier: Apache-2.0
"""Random calls through the binding: each returns or raises one of our exceptions in one line, none ends Python.

usage: python3 fuzz_calls.py CALLS SEED. Meant for a library with the address sanitizer.
"""
import os
import sys
import tempfile

import numpy as np

import driftless
from driftless import _model, checkpoint

TEXTS = ["mxint4", "mxint4,rule=mse", "mxfp4", "mxint8,block=16", "int4/group32", "int8/channel,calib=mse", "nvfp4",
         "none", "bf16", "fp8_e4m3", "int8/tensor/static", "", "mxint44", "int4/block32,scale=e5m3",
         "uint8/token", "x" * 300, "mxint4,window=4", "\u00e9", None, 5]
DTYPES = 20 * [np.float32] + [np.float64, np.uint8, np.int64, np.float16, ">f4", bool, np.complex64]
TASKS = ["sudoku", "maze", "arc", "other", "", None, 7]


def tiny_model(path, rng):
    """A Sudoku model of the bundled one's kind, narrow enough for a build without optimization."""
    wide, inner, cells = 32, 256, 81
    layer = "L_level.layers.0."
    shapes = {"H_init": (wide,), "L_init": (wide,), layer + "mlp.down_proj.weight": (wide, inner),
              layer + "mlp.gate_up_proj.weight": (2 * inner, wide), layer + "mlp_t.down_proj.weight": (cells, inner),
              layer + "mlp_t.gate_up_proj.weight": (2 * inner, cells), "embed_tokens.embedding_weight": (11, wide),
              "lm_head.weight": (11, wide), "q_head.bias": (2,), "q_head.weight": (2, wide)}
    config = {"arch": "trm", "task": "sudoku", "vocab_size": 11, "seq_len": cells, "hidden_size": wide,
              "expansion": 4.0, "num_layers": 1, "mlp_t": True, "pos_encodings": "none", "puzzle_emb_len": 0,
              "H_cycles": 1, "L_cycles": 2, "halt_max_steps": 4, "rms_norm_eps": 1e-05, "forward_dtype": "bfloat16"}
    checkpoint.write(path, {name: (0.1 * rng.standard_normal(shape)).astype(np.float32)
                            for name, shape in shapes.items()}, config)


class Fuzzer:
    def __init__(self, seed, folder):
        self.rng = np.random.default_rng(seed)
        self.tiny = os.path.join(folder, "tiny.safetensors")
        self.text = os.path.join(folder, "boards.csv")
        tiny_model(self.tiny, self.rng)
        self.models = [driftless.load(self.tiny, threads=2, slots=2, **scheme)
                       for scheme in ({}, {"weights": "mxint4", "acts": "int8/token"},
                                      {"weights": "mxint4", "acts": "mxint4", "native": True})]
        self.closed = driftless.load(threads=1, slots=1)
        self.closed.close()
        self.boards = driftless.generate("sudoku", 2, seed=1)

    def pick(self, items):
        return items[self.rng.integers(len(items))]

    def number(self):
        return self.pick([0, 0, 1, 1, 0, 1, 2, 3, -1, 81, 2**31, 2**63 - 1, 2**64, -2**63, 1.5, None, "2"])

    def array(self):
        shape = self.pick([(), (0,), (1,), (32,), (33,), (81,), (2, 81), (0, 81), (3, 7), (1, 1, 81), (2, 0)])
        values = self.rng.standard_normal(shape) * self.pick([1, 1e30, 1e-40, 3])
        with np.errstate(all="ignore"):
            x = np.asarray(values).astype(self.pick(DTYPES))
        kind = self.rng.integers(8)
        if kind == 0 and x.size and x.dtype.kind == "f":
            x.reshape(-1)[0] = self.pick([np.nan, np.inf, -np.inf])
        if kind == 1 and x.ndim:
            x = x[::-1]
        if kind == 2:
            x.flags.writeable = False
        if kind == 3:
            x = np.zeros(x.shape, np.uint8) + 1
        if kind == 4:
            return self.pick([None, 3, "text", [1.0], b"bytes", object()])
        return x

    def call(self):
        model = self.closed if self.rng.integers(10) == 0 else self.pick(self.models)
        few = int(self.rng.integers(1, 3))
        return self.pick([
            lambda: driftless.quantize(self.array(), self.pick(TEXTS)),
            lambda: driftless.quantize(self.array(), self.pick(TEXTS), out=self.array()),
            lambda: driftless.inside(self.array(), self.pick(TEXTS)),
            lambda: driftless.encode(self.array(), self.pick(TEXTS)),
            lambda: driftless.decode(self.rng.integers(0, 256, self.rng.integers(0, 80)).astype(np.uint8),
                                     self.pick(TEXTS), count=self.pick([None, self.number()])),
            lambda: driftless.decode(self.array(), self.pick(TEXTS)),
            lambda: driftless.canonical(self.pick(TEXTS)),
            lambda: model.solve(self.array(), steps=few),
            lambda: model.solve(self.boards, steps=few, puzzles=self.array(), seeds=self.array()),
            lambda: model.solve(self.boards, steps=few, out=self.array()),
            lambda: model.reset(self.number(), self.array(), puzzle=self.number(), seed=self.number()),
            lambda: model.reset(int(self.rng.integers(2)), self.boards.inputs[0]),
            lambda: model.step([self.number()]),
            lambda: model.step([0, 1]),
            lambda: model.states(self.number()),
            lambda: model.logits(self.number()),
            lambda: model.set_states(self.number(), self.array(), self.array()),
            lambda: next(model.trajectory(self.array(), steps=few, seed=self.number())),
            lambda: driftless.load(self.rng.bytes(self.rng.integers(0, 200))),
            lambda: driftless.load(self.damaged(), threads=1, slots=1),
            lambda: driftless.load(self.tiny, weights=self.pick(TEXTS), acts=self.pick(TEXTS), threads=1, slots=1,
                                   native=self.pick([True, False, None]), smooth=self.pick([None, 0.5, -1, "x"]),
                                   plan=self.pick([None, {"layers": {}}, {"version": 1}, self.tiny, 3])),
            lambda: driftless.pack(self.tiny, self.pick([self.tiny + ".packed", "/nowhere/x", None]),
                                   weights=self.pick(TEXTS), method=self.pick(["nearest", "gptq", "x", None])),
            lambda: driftless.ladder(self.tiny, self.data(), [self.pick(TEXTS)], limit=1, steps=1, threads=1),
            lambda: driftless.read_boards(self.data(), task=self.pick(TASKS), limit=self.number()),
            lambda: checkpoint.read(self.data()),
            lambda: self.boards[self.pick([0, -1, 2, slice(1), slice(2, 0), [1, 0], "x", None])],
            lambda: model.solve(self.boards, steps=few, on_step=lambda *_: 1 // int(self.rng.integers(3))),
            lambda: driftless.load(self.pick(["/nowhere", "", ".", b"", 4, None]), weights=self.pick(TEXTS),
                                   threads=self.number(), slots=self.pick([0, 1, -1, None, "x"])),
            lambda: driftless.read_boards(self.pick(["/nowhere", "", ".", __file__, 4]), task=self.pick(TASKS)),
            lambda: driftless.generate("sudoku", 1, seed=self.number()),
            lambda: driftless.generate(self.pick(TASKS), self.pick([0, -1, None, "x"]), seed=self.number()),
            lambda: driftless.to_text(self.pick(TASKS), self.array()),
            lambda: driftless.draw(self.pick(TASKS), self.array()),
            lambda: driftless.to_tokens(self.pick(TASKS), self.pick(["..1", "\0", "\u20ac", "", None, 4])),
            lambda: self.boards.check(self.array()),
            lambda: driftless.Boards.from_arrays(self.pick(TASKS), self.array(), self.array(), self.array()),
            lambda: driftless.evaluate(model, self.pick([self.boards, "/nowhere", None, 4]), steps=few,
                                       halting=self.pick(["fixed", "halt", "x", None, 3])),
        ])()

    def data(self):
        """A file of boards, whole or with a few bytes changed."""
        lines = ["source,question,answer,rating"] + [
            f"x,{driftless.to_text('sudoku', question)},{driftless.to_text('sudoku', answer)},0"
            for question, answer in self.boards]
        data = bytearray("\n".join(lines).encode())
        for _ in range(self.rng.integers(4)):
            data[self.rng.integers(len(data))] = self.rng.integers(256)
        with open(self.text, "wb") as file:
            file.write(data[:self.rng.integers(len(data))] if self.rng.integers(4) == 0 else data)
        return self.text

    def damaged(self):
        """The bundled or the tiny model with a few bytes changed or cut off."""
        with open(self.pick([_model.bundled_model(), self.tiny]), "rb") as file:
            data = bytearray(file.read())
        for _ in range(self.rng.integers(1, 4)):
            data[self.rng.integers(self.pick([len(data), 4000, 8]))] = self.rng.integers(256)
        return bytes(data[:self.rng.integers(len(data))] if self.rng.integers(2) else data)


def main():
    calls, seed = int(sys.argv[1]), int(sys.argv[2])
    with tempfile.TemporaryDirectory() as folder:
        kinds = run(Fuzzer(seed, folder), calls)
    print(f"{calls} calls, seed {seed}: " + ", ".join(f"{count} {kind}" for kind, count in sorted(kinds.items())))


def run(fuzzer, calls):
    """How many calls ended how."""
    kinds = {}
    for number in range(calls):
        try:
            fuzzer.call()
            kind = "returned"
        except (IndexError, ZeroDivisionError) as error:  # numpy's, of Boards; and that of a callback
            kind = type(error).__name__
        except driftless.DriftlessError as error:
            kind = type(error).__name__
            assert str(error) and "\n" not in str(error), f"call {number}: {error!r}"
            assert not isinstance(error, driftless.InternalError), f"call {number}: {error!r}"
        kinds[kind] = kinds.get(kind, 0) + 1
    return kinds


if __name__ == "__main__":
    main()
