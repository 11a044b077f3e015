"""Requests whose answers are still to come, the memory that those go to, and the fixed heads of a step's messages."""

from __future__ import annotations

import struct
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import BlockyardError

Into = Sequence[memoryview] | None  # memory for the payload of an answer, if its length is fixed

_STEP = struct.Struct(">BBBI5sBBIBI")
_SLOT = struct.Struct(">BBBI10sBBIBI")
_ARRAYS = struct.Struct(">BBBIBBI")
_DONE = struct.Struct(">BBBIBB")
DONE = _DONE.size


@dataclass(eq=False, slots=True)
class Future:
    """A request whose answer is still to come."""

    ident: int
    method: str  # for error messages
    into: Into = None
    brief: bool = False  # the answer is a bare ``true``
    fds: list[int] | None = None  # receives the file descriptors sent with the answer; None if none are expected
    done: bool = False  # the answer is here: ``result`` or ``error`` is set
    result: Any = None
    error: BlockyardError | None = None

    def fail(self, error: BlockyardError) -> None:
        """Let the request end with an error."""
        self.done, self.error = True, error


def first_bytes(pieces: Sequence[memoryview], n: int) -> bytes:
    """Return the first n bytes of pieces."""
    out = b""
    for piece in pieces:
        if len(out) < n:
            out += bytes(piece[: n - len(out)])
    return out


def fill(pieces: Sequence[memoryview], data: bytes) -> None:
    """Write data to the beginning of pieces."""
    rest = memoryview(data)
    for piece in pieces:
        some = min(len(piece), len(rest))
        piece[:some], rest = rest[:some], rest[some:]


def after_bytes(pieces: Sequence[memoryview], n: int) -> list[memoryview]:
    """Return pieces without their first n bytes."""
    for k, piece in enumerate(pieces):
        if n < len(piece):
            return [piece[n:], *pieces[k + 1 :]]
        n -= len(piece)
    return []


def ping(ident: int) -> bytes:
    """Return the request ``ping``."""
    return struct.pack(">BBBI5sB", 0x94, 0x00, 0xCE, ident, b"\xa4ping", 0x90)


def step_head(ident: int, handle: int, size: int) -> bytes:
    """Return the request ``step`` up to its actions of size bytes."""
    return _STEP.pack(0x94, 0x00, 0xCE, ident, b"\xa4step", 0x92, 0xCE, handle, 0xC6, size)


def step_slot(ident: int, handle: int, slot: int) -> bytes:
    """Return the request ``step_slot``."""
    return _SLOT.pack(0x94, 0x00, 0xCE, ident, b"\xa9step_slot", 0x92, 0xCE, handle, 0xCE, slot)


def arrays_head(ident: int, size: int) -> bytes:
    """Return the answer to ``step`` up to its arrays of size bytes."""
    return _ARRAYS.pack(0x94, 0x01, 0xCE, ident, 0xC0, 0xC6, size)


def done(ident: int) -> bytes:
    """Return an answer that is a bare ``true``."""
    return _DONE.pack(0x94, 0x01, 0xCE, ident, 0xC0, 0xC3)
