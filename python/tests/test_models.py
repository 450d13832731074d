# SPDX-License-Identifier: Apache-2.0
"""Models: answers, trajectories as the program has them, slots, and what happens at the edges."""
import hashlib
import json
import os
import signal
import subprocess
import sys
import threading
import time
import types

import numpy as np
import pytest

import driftless


def test_the_bundled_model_solves(board):
    with driftless.load() as model:
        assert model.info["is_packed"] and model.info["device"] == "native"
        solutions = model.solve([board, board])
        assert np.array_equal(solutions.tokens[0], solutions.tokens[1])
        question = driftless.to_tokens("sudoku", board)
        boards = driftless.Boards.from_arrays("sudoku", question[None], solutions.tokens[:1])
        assert boards.check(solutions.tokens[:1]) == ["exact"]
        assert solutions[0].halt_logit > 0 and solutions[0].steps < model.max_steps
        assert [s.steps for s in solutions] == solutions.steps.tolist()


@pytest.mark.parametrize("scheme", [{}, {"weights": "mxint4", "acts": "mxint4"},
                                    {"weights": "mxint4", "acts": "mxint4", "native": True}])
def test_trajectories_end_where_solving_does(small, board, scheme):
    with driftless.load(small, threads=1, **scheme) as model:
        steps = list(model.trajectory(board, steps=3))
        solution = model.solve(board, steps=3, halting=False)[0]
        assert [step.number for step in steps] == [1, 2, 3]
        assert np.array_equal(steps[-1].tokens, solution.tokens)
        assert np.float32(steps[-1].halt_logit) == np.float32(solution.halt_logit)
        assert steps[0].z_h.shape == model.state_shape and not np.array_equal(steps[0].z_h, steps[1].z_h)


def confidence(logits):
    """A base-36 digit a cell: 35 times the probability of the answer, rounded, as a trace writes it."""
    logits = logits.astype(np.float64)
    shares = 1 / np.exp(logits - logits.max(axis=1, keepdims=True)).sum(axis=1)
    return "".join("0123456789abcdefghijklmnopqrstuvwxyz"[int(35 * share + 0.5)] for share in shares)


def test_changes_are_the_same_simulated_and_native(board, small):
    scheme = {"weights": "mxint4,window=4", "acts": "mxint4,window=4"}
    with driftless.load(small, delta=True, **scheme) as simulated, driftless.load(small, **scheme) as inputs, \
            driftless.load(small, delta=True, native=True, **scheme) as native:
        assert "delta" in native.info["scheme"] and "delta" not in inputs.info["scheme"]
        states = [list(model.trajectory(board, steps=2))[-1].z_h for model in (simulated, native, inputs)]
        assert np.array_equal(states[0], states[1]) and not np.array_equal(states[0], states[2])


def test_trajectories_are_those_of_trace(program, small, data, tmp_path):
    """Native steps are the same bits everywhere, so that the trace's text of them is equal. A trace has four digits.
    Its float model sums in oneDNN's order, ours in our own: what depends on it agrees to a part in 200."""
    out = tmp_path / "trace.json"
    subprocess.run([program, "trace", str(small), "--data", str(data), "--limit", "2", "--steps", "4", "--native",
                    "--schemes", "none", "mxint4", "--out", str(out)], check=True, capture_output=True)
    runs = [board["runs"] for board in json.loads(out.read_text())["boards"]]
    boards = driftless.read_boards(data, limit=2)
    with driftless.load(small) as model, driftless.load(small, weights="mxint4", acts="mxint4", native=True) as native:
        for board, (float_run, run) in zip(boards.inputs, runs):
            pairs = zip(model.trajectory(board, steps=4), native.trajectory(board, steps=4))
            before = ["", ""]
            for i, (reference, step) in enumerate(pairs):
                for which, (seen, recorded) in enumerate(((reference, float_run), (step, run))):
                    text = driftless.to_text("sudoku", seen.tokens)
                    assert (recorded["answers"][i] or before[which]) == text
                    before[which] = text
                assert float(f"{step.halt_logit:.4g}") == run["halt"][i]
                assert confidence(step.logits) == run["confidence"][i]
                assert reference.halt_logit == pytest.approx(float_run["halt"][i], rel=5e-3)
                distance = np.linalg.norm(step.z_l.astype(np.float64) - reference.z_l)
                assert distance == pytest.approx(run["divergence"][i], rel=5e-3)


def test_trajectories_have_the_bits_of_the_program(program, root, board, tmp_path):
    """All states and logits of native steps, hashed as a conformance vector, which the program answers by itself."""
    file = root / "models" / "sudoku-small-mxint4-qat.safetensors"
    with driftless.load(file) as model:
        steps = list(model.trajectory(board, steps=3))
    hashes = [hashlib.sha256(b"".join(part.tobytes() for part in (step.z_h, step.z_l, step.logits,
                                                                  np.float32(step.halt_logit)))).hexdigest()
              for step in steps]
    fields = [file.name, hashlib.sha256(file.read_bytes()).hexdigest(), "3",
              driftless.to_tokens("sudoku", board).tobytes().hex()]
    lines = f"driftless-vectors 1\nstep {' '.join(fields)} = {' '.join(hashes)} {steps[-1].tokens.tobytes().hex()}\n"
    case = tmp_path / "case.txt"
    case.write_text(f"{lines}end 1 {hashlib.sha256(lines.encode()).hexdigest()}\n")
    done = subprocess.run([program, "vectors", "verify", str(case), "--model", str(file)], capture_output=True,
                          text=True, check=False)
    assert done.returncode == 0 and done.stdout.startswith("1 cases agree"), done.stderr


def test_slots_states_and_logits(board, small):
    with driftless.load(small, slots=3, threads=2) as model:
        model.reset(0, board)
        model.reset(2, board)
        model.step([0])
        model.set_states(2, *model.states(0))
        model.step([2, 0])
        for a, b in zip(model.states(0) + model.logits(0)[:1], model.states(2) + model.logits(2)[:1]):
            assert np.array_equal(a, b)


def test_bytes_are_as_good_as_a_file(board, small):
    with driftless.load(small.read_bytes()) as one, driftless.load(small) as other:
        assert np.array_equal(next(one.trajectory(board)).z_l, next(other.trajectory(board)).z_l)


def test_memory_is_shared_both_ways(board):
    with driftless.load() as model:
        memory = bytearray(2 * 81)
        view = np.frombuffer(memory, np.uint8).reshape(2, 81)
        solutions = model.solve([board, board], out=view)
        assert solutions.tokens is view and bytes(memory[:81]) == solutions.tokens[0].tobytes()
        with pytest.raises(driftless.InvalidArgument, match="other memory"):
            model.solve(view, out=view)


def test_seeds_and_puzzle_rows(root, board):
    with driftless.load(root / "models" / "eqr-small.safetensors") as model:
        seeds = np.array([1, 2, 1], np.uint64)
        halts = model.solve([board] * 3, steps=1, halting=False, seeds=seeds).halt_logits
        assert halts[0] == halts[2] != halts[1]


def test_a_closed_model_says_so(board):
    model = driftless.load()
    model.close()
    model.close()
    assert "closed" in repr(model)
    for call in (lambda: model.solve(board), lambda: model.states(0), lambda: list(model.trajectory(board))):
        with pytest.raises(driftless.InvalidArgument, match="closed"):
            call()


def test_calls_from_callbacks_are_refused(board):
    with driftless.load() as model:
        heard = []

        def again(*_):
            with pytest.raises(driftless.InvalidArgument, match="one at a time"):
                model.solve(board)
            with pytest.raises(driftless.InvalidArgument, match="at work"):
                model.close()
            heard.append(1)

        model.solve(board, steps=1, on_step=again)
        assert heard == [1]


def test_what_a_callback_raises_comes_through(board):
    with driftless.load() as model:
        def stop(number, step, tokens, halt_logit):
            assert (number, step, tokens.shape) == (0, 1, (81,))
            raise KeyError("enough")

        with pytest.raises(KeyError, match="enough"):
            model.solve(board, on_step=stop)
        assert model.solve(board, steps=1)[0].steps == 1, "usable afterwards"


@pytest.fixture
def sigint():
    """Python's own handler, which it does not have where a shell ran it in the background."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


def test_control_c_ends_a_long_call(board, sigint):
    with driftless.load(threads=1) as model:
        timer = threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        start = time.monotonic()
        with pytest.raises(KeyboardInterrupt):
            model.solve([board] * 2000, halting=False)
        assert time.monotonic() - start < 20


def test_other_threads_run_meanwhile(board, small):
    """Within one call: between two of them Python lets others in by itself."""
    with driftless.load(small, weights="mxint4,rule=mse", acts="mxint4,rule=mse", threads=1, slots=32) as model:
        ticks, done = [], threading.Event()

        def tick():
            while not done.wait(0.001):
                ticks.append(1)

        model.step([])
        for slot in range(model.slots):
            model.reset(slot, board)
        thread = threading.Thread(target=tick)
        thread.start()
        before = len(ticks)
        model.step(range(model.slots))
        during = len(ticks) - before
        done.set()
        thread.join()
        assert during > 5


def test_a_trajectory_notices_other_boards(board):
    with driftless.load() as model:
        steps = model.trajectory(board)
        next(steps)
        model.solve(board, steps=1)
        with pytest.raises(driftless.InvalidArgument, match="other boards meanwhile"):
            next(steps)
        both = zip(model.trajectory(board, steps=2), model.trajectory(board, steps=2))
        assert all(np.array_equal(a.z_h, b.z_h) for a, b in both)


def test_progress_is_told(board):
    told = []
    with driftless.load() as model:
        model.solve([board] * 3, steps=1, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (3, 3)


def test_answers_show_themselves(board):
    with driftless.load() as model:
        solutions = model.solve(board)
        assert repr(solutions).startswith("<driftless.Solutions: 1 sudoku board, ")
        assert solutions.texts == [solutions[0].text] and solutions[0].text[:9] == "346819572"
        assert "346819572" in repr(solutions[0])
        assert len(str(solutions[0]).splitlines()) == 11
        assert len(next(model.trajectory(board)).text) == 81


def test_boards_of_another_task_are_refused(board):
    with driftless.load() as model:
        tokens = driftless.to_tokens("sudoku", board)[None]
        mazes = driftless.Boards.from_arrays("maze", tokens, tokens)
        with pytest.raises(driftless.InvalidArgument, match="got maze, expected sudoku"):
            model.solve(mazes)
        assert len(model.solve(driftless.Boards.from_arrays("other", tokens, tokens), steps=1)) == 1


def test_digits_are_not_tokens(board):
    digits = np.array([0 if c == "." else int(c) for c in board], np.uint8)
    with driftless.load() as model:
        with pytest.raises(driftless.InvalidArgument, match=r"token 0.*digits \+ 1"):
            model.solve(digits)
        several = model.solve([digits + 1, digits + 1], steps=1)
        assert np.array_equal(several.tokens[0], model.solve(board, steps=1).tokens[0])
        with pytest.raises(driftless.InvalidArgument, match="several shapes"):
            model.solve([digits + 1, digits[:80] + 1])


def test_messages_speak_python(small):
    with pytest.raises(driftless.DriftlessError) as raised:
        driftless.load(small, native=True)
    assert "weights= and acts=" in str(raised.value) and "--" not in str(raised.value)
    with pytest.raises(driftless.InvalidArgument, match=r"driftless\.formats\(\)"):
        driftless.load(small, weights="mxint5")
    with driftless.load() as model, pytest.raises(driftless.InvalidArgument, match="got -1, expected 0 or more"):
        model.solve("." * 81, steps=-1)


class FakeBar:
    """What we use of tqdm."""

    shown = []

    def __init__(self, total, unit):
        self.total, self.unit, self.n = total, unit, 0

    def __enter__(self):
        return self

    def __exit__(self, *_):
        FakeBar.shown.append((self.n, self.total, self.unit))

    def update(self, more):
        self.n += more


def test_progress_is_a_bar_where_tqdm_is(board, small, data, monkeypatch):
    FakeBar.shown = []
    monkeypatch.setitem(sys.modules, "tqdm", types.SimpleNamespace(tqdm=FakeBar))
    with driftless.load() as model:
        model.solve([board] * 3, steps=1, progress=True)
        driftless.evaluate(model, data, limit=2, steps=1, progress=True)
    driftless.ladder(small, data, ["none"], limit=2, steps=1, progress=True)
    assert FakeBar.shown[:2] == [(3, 3, "boards"), (2, 2, "boards")]
    assert FakeBar.shown[2][0] == FakeBar.shown[2][1] > 0


def test_progress_is_silent_where_tqdm_is_not(board, monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm", None)
    with driftless.load() as model:
        assert len(model.solve([board] * 3, steps=1, progress=True)) == 3


@pytest.mark.parametrize("boards", ["12", ["12"], np.zeros((2, 80), np.uint8), np.zeros((1, 1, 81), np.uint8),
                                    np.zeros(81), np.full(81, 11, np.uint8), None, [], 5,
                                    np.zeros((81, 2), np.uint8).T])
def test_boards_that_do_not_fit_are_refused(boards):
    with driftless.load() as model, pytest.raises(driftless.InvalidArgument) as raised:
        model.solve(boards)
    assert "expected" in str(raised.value) and "\n" not in str(raised.value)


def test_no_boards_have_no_answers():
    with driftless.load() as model:
        assert len(model.solve(np.zeros((0, 81), np.uint8))) == 0


@pytest.mark.parametrize("arguments, kind, words", [
    ({"model": "/nowhere"}, driftless.IoError, "/nowhere"),
    ({"model": b"12345678"}, driftless.BadFile, "memory"),
    ({"weights": "mxint4"}, driftless.InvalidArgument, "packed model is quantized already"),
    ({"threads": -1}, driftless.InvalidArgument, "threads"),
    ({"wieghts": "mxint4"}, driftless.InvalidArgument, "unknown keyword"),
    ({"plan": {"version": 2}}, driftless.DriftlessError, "plan"),
    ({"model": 5}, driftless.InvalidArgument, "expected a string"),
])
def test_loading_says_what_is_wrong(arguments, kind, words):
    with pytest.raises(kind, match=words):
        driftless.load(**arguments)


def test_plans_may_be_mappings(small, board):
    with driftless.load(small) as model:
        names = [name for name in model.info["config"]]
        assert "seq_len" in names
    layer = "L_level.layers.0.mlp.down_proj.weight"
    with driftless.load(small, plan={"version": 1, "layers": {layer: {"weights": "mxint4"}}}) as model:
        assert "mxint4" in model.info["scheme"]
        assert model.solve(board, steps=1)[0].steps == 1
    with pytest.raises(driftless.DriftlessError, match="no linear layer"):
        driftless.load(small, plan={"version": 1, "layers": {"nothing": {"weights": "mxint4"}}})
