# SPDX-License-Identifier: Apache-2.0
"""Checkpoints (safetensors with a configuration) as numpy arrays, and back, to the bit."""
from __future__ import annotations

import contextlib
import json
import os
import stat
import struct
from typing import Any, BinaryIO, Dict, Mapping, Tuple, Union

import numpy as np

from .errors import BadFile, InvalidArgument, IoError

PathLike = Union[str, "os.PathLike[str]"]
_DTYPES = {"F64": "<f8", "F32": "<f4", "F16": "<f2", "I64": "<i8", "I32": "<i4", "I16": "<i2", "I8": "i1",
           "U8": "u1", "BOOL": "?", "BF16": "<u2"}
_MOST_HEADER = 100 << 20


def _opened(path: PathLike) -> BinaryIO:
    """A regular file. A pipe or a device is refused, not waited for."""
    where = os.fsdecode(path)
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NONBLOCK | os.O_NOCTTY)
    except OSError as error:
        raise IoError(f"{where}: cannot open for reading; got {error.strerror}") from None
    except ValueError as error:
        raise InvalidArgument(f"path; got {error}, expected the name of a file") from None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        raise IoError(f"{where}: cannot read; got a folder, pipe or device, expected a regular file")
    return os.fdopen(descriptor, "rb")


def _header_end(data: bytes, where: str, size: int) -> int:
    """Where the tensors start."""
    if len(data) < 8:
        raise BadFile(f"{where}: not a safetensors file; got {len(data)} bytes")
    length = struct.unpack("<Q", data[:8])[0]
    if length > min(size - 8, _MOST_HEADER):
        raise BadFile(f"{where}: header; got a length of {length} in a file of {size} bytes")
    return int(8 + length)


def _parse(text: bytes, where: str) -> Dict[str, Any]:
    try:
        header = json.loads(text.decode("utf-8"))
    except (ValueError, RecursionError) as error:  # brackets in brackets in brackets
        raise BadFile(f"{where}; got no JSON ({error})") from None
    if not isinstance(header, dict):
        raise BadFile(f"{where}; got a {type(header).__name__}, expected an object")
    return header


def metadata_of(model: Union[PathLike, bytes]) -> Dict[str, str]:
    """The metadata of a safetensors file, which is read no further."""
    if isinstance(model, (bytes, bytearray)):
        start = _header_end(bytes(model[:8]), "memory", len(model))
        header = _parse(bytes(model[8:start]), "memory: header")
    else:
        where = os.fsdecode(model)
        with _opened(model) as file:
            size = os.fstat(file.fileno()).st_size
            start = _header_end(file.read(8), where, size)
            header = _parse(file.read(start - 8), where + ": header")
    metadata = header.get("__metadata__", {})
    return metadata if isinstance(metadata, dict) else {}


def read(path: PathLike) -> Tuple[Dict[str, Any], Dict[str, Any]]:
    """The tensors of a checkpoint by name, and its configuration; bfloat16 is widened to float32."""
    where = os.fsdecode(path)
    with _opened(path) as file:
        try:
            data = file.read()
        except OSError as error:
            raise IoError(f"{where}: cannot read; got {error.strerror}") from None
    start = _header_end(data[:8], where, len(data))
    header = _parse(data[8:start], where + ": header")
    metadata = header.pop("__metadata__", {})
    text = metadata.get("config", "{}") if isinstance(metadata, dict) else None
    if not isinstance(text, str):
        raise BadFile(f"{where}: metadata; got no texts, expected a configuration")
    tensors: Dict[str, Any] = {}
    for name, entry in header.items():
        try:
            dtype, (first, last) = _DTYPES[entry["dtype"]], entry["data_offsets"]
            values = np.frombuffer(data[start + first:start + last], dtype).reshape(entry["shape"])
        except (KeyError, OverflowError, TypeError, ValueError) as error:
            raise BadFile(f"{where}: tensor {name!r}; got {error!r}") from None
        if entry["dtype"] == "BF16":
            values = (values.astype(np.uint32) << 16).view(np.float32)
        tensors[name] = values.copy()
    return tensors, _parse(text.encode("utf-8", "surrogatepass"), where + ": config")


def write(path: PathLike, tensors: Mapping[str, Any], config: Mapping[str, Any]) -> None:
    """Float32 tensors and a configuration as a checkpoint that load() and the program read.

    >>> write("mine.safetensors", {"w": np.ones((2, 3), np.float32)}, {"task": "other"})
    >>> tensors, config = read("mine.safetensors")
    >>> tensors["w"].shape, config
    ((2, 3), {'task': 'other'})
    """
    import tempfile  # pylint: disable=import-outside-toplevel # which few calls need

    header: Dict[str, Any] = {"__metadata__": {"config": json.dumps(dict(config))}}
    offset, parts = 0, []
    for name in sorted(tensors):
        values = np.asarray(tensors[name])
        if values.dtype != np.float32:
            raise InvalidArgument(f"write: tensor {name!r}; got {values.dtype}, expected float32")
        part = np.ascontiguousarray(values).tobytes()
        header[name] = {"dtype": "F32", "shape": list(values.shape), "data_offsets": [offset, offset + len(part)]}
        offset += len(part)
        parts.append(part)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    where = os.fsdecode(path)
    temporary = ""
    try:
        handle, temporary = tempfile.mkstemp(dir=os.path.dirname(os.path.abspath(where)), prefix=".driftless-")
        with os.fdopen(handle, "wb") as file:
            file.write(struct.pack("<Q", len(text)) + text)
            file.writelines(parts)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, where)
    except OSError as error:
        if temporary:
            with contextlib.suppress(OSError):
                os.unlink(temporary)
        raise IoError(f"{where}: cannot write; got {error.strerror}") from None
