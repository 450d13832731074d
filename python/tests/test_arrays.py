# SPDX-License-Identifier: Apache-2.0
"""Arrays against definitions written here, and against the program for every format and rule."""
import subprocess

import numpy as np
import pytest

import driftless


def gaussian(count, seed=1):
    return np.random.default_rng(seed).standard_normal(count).astype(np.float32)


def mxint4_floor(x):
    """OCP MX: exponent of the largest magnitude of 32, steps of a quarter, ties to even, +-1.75."""
    out = np.empty_like(x)
    for first in range(0, x.size, 32):
        block = x[first:first + 32].astype(np.float64)
        top = np.abs(block).max()
        scale = 2.0 ** np.floor(np.log2(top)) if top > 0 else 1.0
        out[first:first + 32] = np.clip(np.rint(block / scale * 4), -7, 7) / 4 * scale
    return out


@pytest.mark.parametrize("count", [1, 31, 32, 33, 97, 4096])
def test_mxint4_is_the_definition(count):
    x = gaussian(count)
    assert np.array_equal(driftless.quantize(x, "mxint4"), mxint4_floor(x))


def test_int8_with_one_scale_is_the_definition():
    x = gaussian(1000)
    scale = np.float32(np.abs(x).max() / np.float32(127))
    expected = (np.clip(np.rint(x / scale), -127, 127).astype(np.float32) * scale).astype(np.float32)
    assert np.array_equal(driftless.quantize(x, "int8/tensor"), expected)


def test_rows_have_their_own_scales_and_axes_count_rows():
    x = gaussian(6 * 40).reshape(2, 3, 40)
    whole = driftless.quantize(x, "int8/token")
    for index in np.ndindex(2, 3):
        assert np.array_equal(whole[index], driftless.quantize(x[index], "int8/tensor"))


def test_memory_is_shared_both_ways():
    x = gaussian(64)
    expected = driftless.quantize(x, "mxint4")
    memory = bytearray(x.tobytes())
    view = np.frombuffer(memory, np.float32)
    assert driftless.quantize(view, "mxint4", out=view) is view
    assert bytes(memory) == expected.tobytes(), "written through to memory that numpy does not own"
    half = np.zeros(128, np.float32)
    driftless.quantize(x, "mxint4", out=half[64:])
    assert np.array_equal(half[64:], expected) and not half[:64].any()


def test_views_are_as_good_as_arrays():
    """Arrays that own their memory take a shorter path."""
    memory = gaussian(4 * 64)
    whole = memory.copy().reshape(4, 64).copy()
    assert whole.base is None
    expected = driftless.quantize(whole, "int4/group32")
    for x in (memory.reshape(4, 64), memory.reshape(2, 2, 64)):
        assert driftless.quantize(x, "int4/group32").tobytes() == expected.tobytes()
        out = np.empty_like(x)
        assert driftless.quantize(x.copy(), "int4/group32", out=out) is out
        assert out.tobytes() == expected.tobytes()
    assert driftless.quantize(whole, "int4/group32", out=whole) is whole
    assert np.array_equal(whole, expected)
    with pytest.raises(driftless.InvalidArgument, match="expected float32"):
        driftless.quantize(expected, "mxint4", out=np.empty((4, 64)))


def test_read_only_input_is_fine_and_output_is_not():
    x = gaussian(32)
    x.flags.writeable = False
    driftless.quantize(x, "mxint4")
    with pytest.raises(driftless.InvalidArgument, match="read-only"):
        driftless.quantize(x, "mxint4", out=x)


@pytest.mark.parametrize("bad, words", [
    (np.zeros(4), "dtype; got <f8, expected float32"),
    (np.zeros(4, ">f4"), "dtype; got >f4"),
    (np.zeros((4, 4), np.float32).T[1:], "order"),
    (np.zeros(8, np.float32)[::2], "order"),
    (np.float32(1), "expected a numpy array"),
    ([1.0], "expected a numpy array"),
    (np.zeros((), np.float32), "got a number"),
    (np.frombuffer(bytes(9), np.uint8)[1:].view(np.float32), "alignment"),
])
def test_arrays_that_do_not_fit_are_refused(bad, words):
    with pytest.raises(driftless.InvalidArgument, match=words.replace("(", r"\(")):
        driftless.quantize(bad, "mxint4")


def test_values_and_texts_that_do_not_fit_are_refused():
    x = gaussian(4)
    with pytest.raises(driftless.InvalidArgument, match="did you mean 'mxint4'"):
        driftless.quantize(x, "mxint44")
    with pytest.raises(driftless.InvalidArgument):
        driftless.quantize(x, None)
    with pytest.raises(driftless.InvalidArgument):
        driftless.quantize(x, "mxint4\0")
    with pytest.raises(driftless.InvalidArgument, match="shape"):
        driftless.quantize(x, "mxint4", out=np.zeros(5, np.float32))
    two = gaussian(8)
    with pytest.raises(driftless.InvalidArgument, match="overlaps"):
        driftless.quantize(two[:4], "mxint4", out=two[2:6])
    x[1] = np.nan
    with pytest.raises(driftless.NumericError):
        driftless.quantize(x, "mxint4")
    with pytest.raises(driftless.NumericError):
        driftless.encode(x, "mxint4")
    with pytest.raises(driftless.BadFile):
        driftless.decode(np.zeros(3, np.uint8), "mxint4")
    assert driftless.quantize(np.zeros((0, 4), np.float32), "mxint4").shape == (0, 4)
    assert driftless.quantize(np.zeros((3, 0), np.float32), "mxint4").shape == (3, 0)


def specs():
    for row in driftless.formats():
        if row.scaling != "e8m0":
            yield row.name
            continue
        for rule in driftless.exponent_rules():
            yield f"{row.name},rule={rule}"


def test_every_format_and_rule_is_that_of_the_program(program, tmp_path):
    x = np.concatenate([gaussian(300), gaussian(33) * np.float32(1e-6), np.zeros(32, np.float32),
                        np.array([0.5, 1.5, 2.5, -0.5, 1.75, 1.875, 448, -464], np.float32)])
    (tmp_path / "x").write_bytes(x.tobytes())
    checked = 0
    for spec in specs():
        name, _, rule = spec.partition(",rule=")
        flags = ["--format", name] + (["--rule", rule] if rule else [])
        done = subprocess.run([program, "codec", "encode", *flags, "--input", "x", "--out", "codes"], cwd=tmp_path,
                              capture_output=True, text=True, check=False)
        if done.returncode != 0:  # a rule that the format does not have
            with pytest.raises(driftless.DriftlessError):
                driftless.encode(x, spec)
            continue
        codes = driftless.encode(x, spec)
        assert codes.tobytes() == (tmp_path / "codes").read_bytes(), spec
        subprocess.run([program, "codec", "decode", *flags, "--input", "codes", "--out", "y"], cwd=tmp_path, check=True)
        values = driftless.decode(codes, spec)
        assert values.tobytes() == (tmp_path / "y").read_bytes(), spec
        if "scale" not in spec and any(f.name == name and f.scaling != "none" for f in driftless.formats()):
            assert np.array_equal(driftless.quantize(x, spec), values[:x.size]), spec
        checked += 1
    assert checked >= len(driftless.formats())


def test_decode_drops_padding():
    x = gaussian(40)
    codes = driftless.encode(x, "mxint8")
    assert driftless.decode(codes, "mxint8").size == 64
    assert driftless.decode(codes, "mxint8", count=40).size == 40
    with pytest.raises(driftless.InvalidArgument, match="count"):
        driftless.decode(codes, "mxint8", count=65)
