# SPDX-License-Identifier: Apache-2.0
"""torch modules through our formats: the same bits, the gradients of docs/numerics.md, checkpoints there and back."""
import subprocess
import sys

import numpy as np
import pytest

import driftless

torch = pytest.importorskip("torch")


def gaussian(*shape):
    return torch.from_numpy(np.random.default_rng(1).standard_normal(shape).astype(np.float32))


@pytest.mark.parametrize("spec", ["mxint4", "mxint4,rule=mse", "mxfp4", "nvfp4", "int4/group32", "int8/token", "bf16"])
def test_values_are_ours_to_the_bit(spec):
    x = gaussian(5, 96)
    y = driftless.torch.fake_quantize(x, spec)
    assert np.array_equal(y.numpy(), driftless.quantize(x.numpy(), spec))
    assert np.array_equal(driftless.torch.fake_quantize(x.t(), spec).numpy(),
                          driftless.quantize(np.ascontiguousarray(x.numpy().T), spec))


def test_every_format_and_rule_takes_tensors():
    x = gaussian(64)
    taken = 0
    for row in driftless.formats():
        name = row.name if row.scaling != "none" or row.bits > 8 else row.name + "/tensor"
        rules = [f"{name},rule={rule}" for rule in driftless.exponent_rules()] if row.scaling == "e8m0" else []
        for spec in [name] + rules:
            try:
                expected = driftless.quantize(x.numpy(), spec)
            except driftless.InvalidArgument as error:
                assert "stores scales" in str(error), spec
                continue
            assert np.array_equal(driftless.torch.fake_quantize(x, spec).numpy(), expected), spec
            taken += 1
    assert taken > 2 * len(driftless.formats())


def test_gradients_stop_where_values_are_clipped():
    """mxint4 with rule floor: values up to 1.75 of the block's power of two in steps of 0.25, so that a value
    beyond 1.875 of it is clipped by more than half a step."""
    x = gaussian(128, 32).requires_grad_()
    upstream = gaussian(128, 32)
    driftless.torch.fake_quantize(x, "mxint4").backward(upstream)
    values = x.detach().numpy().astype(np.float64)
    scale = 2.0 ** np.floor(np.log2(np.abs(values).max(axis=1, keepdims=True)))
    clipped = np.abs(values / scale) > 1.875
    assert clipped.any() and not clipped.all()
    assert np.array_equal(x.grad.numpy(), np.where(clipped, 0, upstream.numpy()))


def test_gradients_pass_where_nothing_is_clipped():
    x = gaussian(8, 32).requires_grad_()
    driftless.torch.fake_quantize(x, "int4/group32").sum().backward()
    assert np.array_equal(x.grad.numpy(), np.ones((8, 32), np.float32)), "the largest magnitude is the largest value"
    y = gaussian(3).requires_grad_()
    assert driftless.torch.fake_quantize(y, "none") is y


def test_tensors_that_do_not_fit_are_refused():
    with pytest.raises(driftless.InvalidArgument, match="float32"):
        driftless.torch.fake_quantize(gaussian(3).double(), "mxint4")
    with pytest.raises(driftless.InvalidArgument, match="tensor"):
        driftless.torch.fake_quantize(np.zeros(3, np.float32), "mxint4")
    with pytest.raises(driftless.NumericError):
        driftless.torch.fake_quantize(torch.tensor([float("nan")]), "mxint4")


class Recursive(torch.nn.Module):
    """One block applied three times, as a reasoner does."""

    def __init__(self):
        super().__init__()
        self.up = torch.nn.Linear(32, 64)
        self.down = torch.nn.Linear(64, 32, bias=False)

    def forward(self, x):
        for _ in range(3):
            x = x + self.down(torch.relu(self.up(x)))
        return x


def test_wrapped_layers_multiply_what_they_say_and_are_counted():
    torch.manual_seed(1)
    model, x = Recursive(), gaussian(4, 32)
    before = model(x)
    with driftless.torch.wrap(model, weights="mxint4", acts="mxint8") as wrapped:
        after = wrapped(x)
        assert wrapped.calls == {"up": 3, "down": 3}
        wrapped.reset_calls()
        assert wrapped.calls == {"up": 0, "down": 0}
        layer = wrapped.layers["down"]
        inputs = gaussian(4, 64)
        expected = torch.nn.functional.linear(driftless.torch.fake_quantize(inputs, "mxint8"),
                                              driftless.torch.fake_quantize(layer.linear.weight, "mxint4"))
        assert torch.equal(layer(inputs), expected)
        after.sum().backward()
        assert layer.linear.weight.grad is not None
    assert not torch.equal(before, after)
    assert torch.equal(model(x), before), "unwrapped again"


def test_plans_name_layers():
    model = Recursive()
    plan = {"version": 1, "layers": {"down.weight": {"weights": "mxint4"}}}
    wrapped = driftless.torch.wrap(model, plan)
    assert set(wrapped.layers) == {"down"} and wrapped.layers["down"].acts == "none"
    wrapped.unwrap()
    with pytest.raises(driftless.BadConfig, match="no linear layer 'side.weight'"):
        driftless.torch.wrap(model, {"layers": {"side.weight": {}}})
    with pytest.raises(driftless.BadConfig, match="smooth"):
        driftless.torch.wrap(model, {"layers": {"down.weight": {"smooth": 0.5}}})
    with pytest.raises(driftless.InvalidArgument, match="nothing to quantize"):
        driftless.torch.wrap(torch.nn.ReLU())


def test_checkpoints_go_there_and_back(small, board, tmp_path):
    state, config = driftless.torch.load_checkpoint(small)
    copy = tmp_path / "copy.safetensors"
    driftless.torch.save_checkpoint(copy, state, config)
    again, same = driftless.torch.load_checkpoint(copy)
    assert same == config and set(again) == set(state)
    assert all(torch.equal(again[name], state[name]) for name in state)
    with driftless.load(copy) as ours, driftless.load(small) as theirs:
        assert np.array_equal(next(ours.trajectory(board)).logits, next(theirs.trajectory(board)).logits)


def test_files_of_torch_save_are_read(small, board, tmp_path):
    """A state dict does not tell its recursion; the file that training writes beside it does."""
    state, _ = driftless.torch.load_checkpoint(small)
    path = tmp_path / "step_1"
    torch.save(state, path)
    with pytest.raises(driftless.BadConfig, match="shapes do not tell the outer cycles"):
        driftless.load(path)
    arch = {"name": "recursive_reasoning.trm@TinyRecursiveReasoningModel_ACTV1", "H_cycles": 3, "L_cycles": 6,
            "halt_max_steps": 16, "mlp_t": "true", "pos_encodings": "none"}
    lines = ["arch:"] + [f"  {key}: {value}" for key, value in arch.items()]
    (tmp_path / "all_config.yaml").write_text("\n".join([*lines, "data_paths:", "- data/sudoku", "lr: 0.0001", ""]))
    with driftless.load(path) as ours, driftless.load(small) as theirs:
        assert np.array_equal(next(ours.trajectory(board)).logits, next(theirs.trajectory(board)).logits)
    (tmp_path / "all_config.yaml").write_text("arch: {H_cycles: 3}")
    with pytest.raises(driftless.Unsupported, match="all_config.yaml:1: more than plain YAML"):
        driftless.load(path)
    damaged = bytearray(path.read_bytes())
    damaged[len(damaged) // 2] ^= 1
    path.write_bytes(damaged)
    with pytest.raises(driftless.BadFile, match="checksum"):
        driftless.load(path)


def test_numpy_alone_imports_no_torch():
    code = "import sys, driftless; driftless.formats(); assert 'torch' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)
