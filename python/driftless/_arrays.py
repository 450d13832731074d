# SPDX-License-Identifier: Apache-2.0
"""Number formats on numpy arrays, bit for bit as docs/numerics.md defines them."""
from __future__ import annotations

import ctypes
from dataclasses import dataclass
from typing import Any, List, Optional

import numpy as np

from . import _library
from ._library import check, library, text
from .errors import InvalidArgument


_FLOAT = np.dtype(np.float32)
_memory: Any = (ctypes.c_char * 0).from_buffer  # where a writable array lies, as C takes it


@dataclass(frozen=True)
class Format:
    """A row of the format table."""

    name: str
    bits: int
    bits_with_scale: float
    block: int
    scaling: str
    max: float
    smallest: float


class Formats(List[Format]):
    """The table of formats."""

    def __repr__(self) -> str:
        lines = [f"{'name':<16} {'bits':>4} {'with scale':>10} {'block':>5} {'scale':>5} {'max':>12} {'smallest':>12}"]
        lines += [f"{f.name:<16} {f.bits:>4} {f.bits_with_scale:>10g} {f.block:>5} {f.scaling:>5} {f.max:>12g} "
                  f"{f.smallest:>12g}" for f in self]
        return "\n".join(lines)


def formats() -> Formats:
    """Every number format, element formats first; a list that shows itself as a table.

    >>> [f.bits_with_scale for f in formats() if f.name == "mxint4"]
    [4.25]
    """
    rows = Formats()
    for index in range(library().format_count()):
        row = _library.Format()
        check(library().format_at(index, ctypes.byref(row)))
        rows.append(Format(row.name.decode(), row.bits, row.bits_with_scale, row.block, row.scaling.decode(),
                           row.max, row.smallest))
    return rows


def exponent_rules() -> List[str]:
    """The rules by which a block of an mx format chooses its exponent.

    >>> exponent_rules()[0]
    'floor'
    """
    rules: List[str] = []
    while True:
        name = library().exponent_rule(len(rules))
        if name is None:
            return rules
        rules.append(name.decode())


def canonical(quantizer: str) -> str:
    """The shortest text of a quantizer.

    >>> canonical("mxint4,rule=floor,block=32")
    'mxint4'
    """
    out = ctypes.c_void_p()
    check(library().parse_quantizer(_text(quantizer, "quantizer"), ctypes.byref(out)))
    return _library.take_text(out)


def _text(value: str, what: str) -> bytes:
    encoded = text(value, what)
    if encoded is None:
        raise InvalidArgument(f"{what}; got None, expected a text such as 'mxint4'")
    return encoded


def require_array(x: Any, dtype: Any, what: str, writable: bool = False) -> "np.ndarray[Any, Any]":
    """An array whose memory the library can use as it lies."""
    expected = np.dtype(dtype)
    if not isinstance(x, np.ndarray):
        raise InvalidArgument(f"{what}; got {type(x).__name__}, expected a numpy array of {expected}")
    if x.dtype != expected or not x.dtype.isnative:
        raise InvalidArgument(f"{what}: dtype; got {x.dtype.str}, expected {expected}; x.astype('{expected}')")
    if not x.flags.c_contiguous:
        raise InvalidArgument(f"{what}: order; got strides {x.strides}, expected C order without gaps; "
                              "numpy.ascontiguousarray(x)")
    if not x.flags.aligned:
        raise InvalidArgument(f"{what}: alignment; got an address that is no multiple of {x.dtype.itemsize}; "
                              "x.copy()")
    if writable and not x.flags.writeable:
        raise InvalidArgument(f"{what}; got a read-only array, expected one to write to")
    return x


def _matrix(x: "np.ndarray[Any, Any]") -> "tuple[int, int]":
    """Rows and columns: the last axis is the one that scales lie along."""
    if x.ndim == 0:
        raise InvalidArgument("quantize: got a number, expected an array of one axis or more")
    columns = x.shape[-1]
    return (x.size // columns if columns else 0, columns)


def quantize(x: "np.ndarray[Any, Any]", quantizer: str,
             out: Optional["np.ndarray[Any, Any]"] = None) -> "np.ndarray[Any, Any]":
    """The values of ``x`` after quantization by a text such as ``mxint4,rule=mse`` or ``int4/group32``.

    ``x`` is float32 in C order and is not copied; scales lie along its last axis, and all other axes
    count rows of one matrix. ``out`` takes the result and may be ``x`` itself.

    >>> import numpy
    >>> quantize(numpy.array([0.3, -1.0, 2.0, 0.0], numpy.float32), "mxint4")
    array([ 0.5, -1. ,  2. ,  0. ], dtype=float32)
    """
    # What needs no explanation takes few instructions: behind a kernel that has swept the caches, each one is slow.
    if (type(x) is np.ndarray and x.dtype is _FLOAT and x.flags.carray and x.ndim and x.size and x.base is None
            and type(quantizer) is str and quantizer.isascii() and quantizer.isprintable()):
        result = np.empty_like(x) if out is None else out
        if (type(result) is np.ndarray and result.dtype is _FLOAT and result.flags.carray and result.base is None
                and result.shape == x.shape):
            columns = x.shape[-1]
            code = library().quantize(quantizer.encode(), _memory(x), x.size // columns, columns, _memory(result))
            if code:
                check(code)
            return result
    return _quantize(x, quantizer, out)


def _quantize(x: "np.ndarray[Any, Any]", quantizer: str,
              out: Optional["np.ndarray[Any, Any]"]) -> "np.ndarray[Any, Any]":
    """Views, read-only arrays, and all that is refused."""
    values = require_array(x, np.float32, "quantize: x")
    rows, columns = _matrix(values)
    if out is None:
        out = np.empty_like(values)
    else:
        require_array(out, np.float32, "quantize: out", writable=True)
        if out.shape != values.shape:
            raise InvalidArgument(f"quantize: out; got shape {out.shape}, expected {values.shape}")
        if out is not values and np.may_share_memory(out, values) and out.ctypes.data != values.ctypes.data:
            raise InvalidArgument("quantize: out; got memory that overlaps x, expected x itself or other memory")
    check(library().quantize(_text(quantizer, "quantizer"), values.ctypes.data, rows, columns, out.ctypes.data))
    return out


def inside(x: "np.ndarray[Any, Any]", quantizer: str) -> "np.ndarray[Any, Any]":
    """Which values the quantizer does not clip: where a straight-through gradient passes.

    >>> import numpy
    >>> inside(numpy.array([1.8, 1.9], numpy.float32), "mxint4")
    array([ True, False])
    """
    values = require_array(x, np.float32, "inside: x")
    rows, columns = _matrix(values)
    mask = np.empty(values.shape, np.bool_)
    check(library().inside(_text(quantizer, "quantizer"), values.ctypes.data, rows, columns, mask.ctypes.data))
    return mask


def _taken(pointer: ctypes.c_void_p, count: int, dtype: Any) -> "np.ndarray[Any, Any]":
    """A copy of memory that the library made, which is freed."""
    out = np.empty(count, dtype)
    if count:
        ctypes.memmove(out.ctypes.data, pointer, out.nbytes)
    library().free_memory(pointer)
    return out


def encode(x: "np.ndarray[Any, Any]", format: str) -> "np.ndarray[Any, Any]":  # pylint: disable=redefined-builtin
    """The bytes that ``driftless codec encode`` writes for the values, one matrix of one row.

    >>> import numpy
    >>> encode(numpy.array([1.0, -0.5], numpy.float32), "fp8_e4m3")
    array([ 56, 176], dtype=uint8)
    """
    values = require_array(x, np.float32, "encode: x")
    pointer, size = ctypes.c_void_p(), ctypes.c_size_t()
    check(library().encode(_text(format, "format"), values.ctypes.data, values.size, ctypes.byref(pointer),
                           ctypes.byref(size)))
    return _taken(pointer, size.value, np.uint8)


def decode(codes: "np.ndarray[Any, Any]", format: str,  # pylint: disable=redefined-builtin
           count: Optional[int] = None) -> "np.ndarray[Any, Any]":
    """The values of such bytes; ``count`` drops what pads the last block.

    >>> import numpy
    >>> decode(encode(numpy.array([1.0, -0.5], numpy.float32), "mxint4"), "mxint4", count=2)
    array([ 1. , -0.5], dtype=float32)
    """
    codes = require_array(codes, np.uint8, "decode: codes")
    pointer, size = ctypes.c_void_p(), ctypes.c_size_t()
    check(library().decode(_text(format, "format"), codes.ctypes.data, codes.size, ctypes.byref(pointer),
                           ctypes.byref(size)))
    values = _taken(pointer, size.value, np.float32)
    return values if count is None else values[:_library.whole(count, "decode: count", 0, values.size)]


def instruction_set() -> str:
    """The instruction set whose kernels run here; DRIFTLESS_ISA limits it before the first call."""
    name = ctypes.c_char_p()
    check(library().instruction_set(ctypes.byref(name)))
    return (name.value or b"").decode()
