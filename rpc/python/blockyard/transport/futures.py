"""Requests whose answers are still to come, and the memory that those answers go to."""

from __future__ import annotations

import array
import socket
from collections.abc import Sequence
from typing import Any

from ..errors import BlockyardError

Into = memoryview | Sequence[memoryview] | None  # memory for the payload of an answer, in one or several pieces


class Future:
    """A request whose answer is still to come.

    Attributes:
        ident: number of the request.
        method: name of the method, for error messages.
        into: memory for the payload of the answer, if its length is fixed.
        size: length of that payload in bytes.
        brief: the answer is a bare ``true``.
        fds: list that receives the file descriptors sent with the answer; None if none are expected.
        done: the answer is here: ``result`` or ``error`` is set.
    """

    __slots__ = ("brief", "done", "error", "fds", "ident", "into", "method", "result", "size")

    def __init__(self, ident: int, method: str, into: Into = None) -> None:
        self.ident = ident
        self.method = method
        self.into = [into] if isinstance(into, memoryview) else into
        self.size = 0 if self.into is None else sum(map(len, self.into))
        self.brief = False
        self.fds: list[int] | None = None
        self.done = False
        self.result: Any = None
        self.error: BlockyardError | None = None


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


def received_fds(control: Sequence[tuple[int, int, bytes]]) -> list[int]:
    """Return the file descriptors in control messages of a Unix socket."""
    fds = array.array("i")
    for level, kind, data in control:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return list(fds)
