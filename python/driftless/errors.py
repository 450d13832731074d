# SPDX-License-Identifier: Apache-2.0
"""Exceptions by kind. Each carries the library's one line: what, where, got, expected."""
from __future__ import annotations

from typing import Dict, Type


class DriftlessError(Exception):
    """Anything that driftless refuses or fails at; ``code`` is that of the program's exit."""

    code = 16


class InvalidArgument(DriftlessError, ValueError):
    """An argument that no model or array could take."""

    code = 10


class BadConfig(DriftlessError, ValueError):
    """A configuration or plan with a mistake in it."""

    code = 11


class BadFile(DriftlessError, ValueError):
    """A file that is not what it should be."""

    code = 12


class Unsupported(DriftlessError, RuntimeError):
    """Something that this build or machine does not do."""

    code = 13


class IoError(DriftlessError, OSError):
    """A file that cannot be read or written."""

    code = 14


class NumericError(DriftlessError, ArithmeticError):
    """A value that is not finite."""

    code = 15


class InternalError(DriftlessError, RuntimeError):
    """A mistake of driftless itself."""

    code = 16


KINDS: Dict[int, Type[DriftlessError]] = {
    kind.code: kind
    for kind in (InvalidArgument, BadConfig, BadFile, Unsupported, IoError, NumericError, InternalError)
}
