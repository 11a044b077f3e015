"""Requests under way, and the memory that their answers go to."""

from __future__ import annotations

import array
import socket
from collections.abc import Sequence
from typing import Any

from .errors import BlockyardError

Into = memoryview | Sequence[memoryview] | None  # bytes, in one piece or several


class Pending:
    """A request whose answer is still to come."""

    __slots__ = ("brief", "done", "error", "fds", "ident", "into", "method", "result", "size")

    def __init__(self, ident: int, method: str, into: Into = None) -> None:
        self.ident = ident
        self.method = method
        # Where the answer's payload goes, if it is one of fixed length.
        self.into = [into] if isinstance(into, memoryview) else into
        self.size = 0 if self.into is None else sum(map(len, self.into))
        self.brief = False  # the answer is but a word
        self.fds: list[int] | None = None  # files that come with the answer, if any are expected
        self.done = False
        self.result: Any = None
        self.error: BlockyardError | None = None


def first_of(pieces: Sequence[memoryview], n: int) -> bytes:
    """Return the first n bytes of pieces."""
    out = b""
    for piece in pieces:
        if len(out) < n:
            out += bytes(piece[: n - len(out)])
    return out


def beyond(pieces: Sequence[memoryview], n: int) -> list[memoryview]:
    """Return what lies behind the first n bytes of pieces."""
    for k, piece in enumerate(pieces):
        if n < len(piece):
            return [piece[n:], *pieces[k + 1 :]]
        n -= len(piece)
    return []


def files_in(control: Sequence[tuple[int, int, bytes]]) -> list[int]:
    """Return the descriptors that control messages carry."""
    fds = array.array("i")
    for level, kind, data in control:
        if level == socket.SOL_SOCKET and kind == socket.SCM_RIGHTS:
            fds.frombytes(data[: len(data) - len(data) % fds.itemsize])
    return list(fds)
