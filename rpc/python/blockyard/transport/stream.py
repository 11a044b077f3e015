"""The socket of a connection: it sends and receives bytes, and turns failures into errors."""

from __future__ import annotations

import os
import secrets
import select
import socket
import ssl
import struct
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from ..errors import BlockyardError, ForkError, ServerGoneError, ServerTimeoutError
from .address import Address, Tls

Into = Sequence[memoryview] | None  # memory for the payload of an answer, if its length is fixed

CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
NOSIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)
WAITALL = getattr(socket, "MSG_WAITALL", 0)
_DONTWAIT = getattr(socket, "MSG_DONTWAIT", 0)
_NOTHING = 0xC1  # in the first byte of a buffer: nothing was received; no message begins with it
_OUT = getattr(select, "POLLOUT", 4)
WHOLE = 1 << 16  # bytes: a request that is no longer is sent as a whole or not at all

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


def first_bytes(pieces: Sequence[memoryview], n: int) -> bytes:
    """Return a copy of the first n bytes of pieces, as if these were one after the other."""
    return b"".join(piece[:n] for piece in pieces)[:n]


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
    """Return the request ``ping``, which a server answers with ``true``."""
    return struct.pack(">BBBI5sB", 0x94, 0x00, 0xCE, ident, b"\xa4ping", 0x90)


def step_head(ident: int, handle: int, size: int) -> bytes:
    """Return the request ``step`` up to its actions of size bytes."""
    return _STEP.pack(0x94, 0x00, 0xCE, ident, b"\xa4step", 0x92, 0xCE, handle, 0xC6, size)


def step_slot(ident: int, handle: int, slot: int) -> bytes:
    """Return the request ``step_slot``, whose actions and arrays are in shared memory."""
    return _SLOT.pack(0x94, 0x00, 0xCE, ident, b"\xa9step_slot", 0x92, 0xCE, handle, 0xCE, slot)


def arrays_head(ident: int, size: int) -> bytes:
    """Return the answer to ``step`` up to its arrays of size bytes."""
    return _ARRAYS.pack(0x94, 0x01, 0xCE, ident, 0xC0, 0xC6, size)


def done(ident: int) -> bytes:
    """Return an answer that is a bare ``true``."""
    return _DONE.pack(0x94, 0x01, 0xCE, ident, 0xC0, 0xC3)


class Stream:
    """A socket to a server and the requests that wait for an answer on it.

    After an error the connection is closed for good, and all waiting requests get that error. A process
    forked from the one that opened the connection cannot use it.
    """

    def __init__(
        self,
        address: Address,
        timeout: float,
        exit_note: Callable[[], str] = lambda: "",
        tls: Tls = None,
        patience: float | None = None,
    ) -> None:
        """Connect; exit_note returns what is known about how the server ended, for error messages."""
        self.address, self.timeout, self._exit_note = address, timeout, exit_note
        self._sock: Any = address.connect(timeout, tls, patience)
        # Without scatter/gather I/O (TLS, Windows), pieces are sent and received one by one.
        self._scatter = hasattr(self._sock, "recvmsg_into") and not isinstance(self._sock, ssl.SSLSocket)
        # The kernel's timeout begins anew with each signal, that of a poll does not.
        self._polls: dict[int, Any] = {}
        if self._scatter and isinstance(self._sock, socket.socket) and hasattr(select, "poll"):
            for event in (select.POLLIN, select.POLLOUT):
                self._polls[event] = select.poll()
                self._polls[event].register(self._sock, event)
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._waiting: deque[Future] = deque()
        self._leftover = b""  # received bytes behind the end of the last message
        self._broken: BlockyardError | None = None
        self._place_lost = False  # it is unknown where the next answer begins
        self._untouched = False  # the call that was interrupted had not received anything
        self._finalizer = weakref.finalize(self, self._sock.close)

    @property
    def open(self) -> bool:
        """Whether requests can still be made."""
        return self._broken is None and self._pid == os.getpid()

    @property
    def buffered(self) -> bool:
        """Whether an answer, or a part of one, has been received but not yet read."""
        return bool(self._leftover) or (isinstance(self._sock, ssl.SSLSocket) and self._sock.pending() > 0)

    def fileno(self) -> int:
        """Return the socket's file descriptor, for ``select`` over several connections."""
        return int(self._sock.fileno())

    def close(self) -> None:
        """Close the socket; the server frees the session. May be called again."""
        if self._broken is None:
            self._broken = ServerGoneError("the connection is closed")
        self._finalizer()

    def _check(self) -> None:
        if self._pid != os.getpid():
            what = f"this connection belongs to process {self._pid}, this is process {os.getpid()}"
            raise ForkError(f"{what}: create a new environment in the forked process")
        if self._broken is not None:
            raise type(self._broken)(*self._broken.args)
        if self._place_lost:
            self._find_place()

    def _lose_place(self, unsent: int) -> None:
        """Let the next request find where its answer begins, unless this one was too long to be sent as a whole."""
        error = ServerGoneError("the request was interrupted, and its answer is lost")
        if unsent > WHOLE:
            self._break(ServerGoneError("the connection was closed: a request was interrupted half-way"))
        self._fail_waiting(error)
        self._leftover, self._place_lost = b"", True

    def _find_place(self) -> None:
        """Drop all that the server has sent, up to the answer to a new request that is recognised by its number."""
        self._place_lost = False
        try:
            ident = secrets.randbits(31) | 1 << 31
            self._sock.sendall(ping(ident))
            end, last = done(ident), b""
            while not last.endswith(end):  # which is the last that the server sends
                if not (got := self._sock.recv(1 << 20)):
                    raise self._closed_by_server("ping", 0, len(end))
                last = (last + got)[-len(end) :]
        except OSError as error:
            raise self._break(self._failure("ping after an interruption", error)) from error
        except BlockyardError:
            raise
        except BaseException:
            self._place_lost = True
            raise

    def _fail_waiting(self, error: BlockyardError) -> None:
        for future in self._waiting:
            future.done, future.error = True, error
        self._waiting.clear()

    def _break(self, error: BlockyardError) -> BlockyardError:
        if self._broken is None:
            self._broken = error
            self._fail_waiting(error)
            self._finalizer()
        return error

    def _await(self, event: int = 1) -> None:
        """Wait until bytes can be received, or sent with POLLOUT; raise TimeoutError after the timeout."""
        if (poll := self._polls.get(event)) is not None and not poll.poll(1000 * self.timeout):
            raise TimeoutError

    def _send(self, parts: list[Any], future: Future) -> None:
        size = sum(memoryview(part).nbytes for part in parts) if len(parts) > 1 else len(parts[0])
        sent = 0
        try:
            if not self._scatter:
                self._sock.sendall(b"".join(parts))
                return
            if size <= WHOLE:
                sent = self._sock.sendmsg(parts, (), NOSIGNAL)
            rest = memoryview(b"".join(parts) if sent < size else b"")
            while sent < size:
                self._await(_OUT)
                sent += self._sock.send(rest[sent:], NOSIGNAL | (_DONTWAIT if self._polls else 0))
        except OSError as error:
            where = f"{future.method}: after {sent} of {size} bytes of the request"
            raise self._break(self._failure(where, error)) from error
        except BaseException:  # Ctrl-C in the middle of a request
            self._lose_place(size)
            raise

    def _recv(self, buffers: Sequence[Any], flags: int, got: int, want: int | str) -> int:
        """Receive into buffers and return the number of bytes; got and want are for error messages."""
        future = self._waiting[0]
        if not got:
            buffers[0][0] = _NOTHING
        try:
            self._await()
            if future.fds is not None:
                data, fds, _, _ = socket.recv_fds(self._sock, len(buffers[0]), 16, flags | CLOEXEC)
                n, buffers[0][: len(data)] = len(data), data
                future.fds += fds
            elif len(buffers) > 1 and self._scatter:
                n = self._sock.recvmsg_into(buffers, 0, flags)[0]
            else:
                n = self._sock.recv_into(buffers[0], 0, flags if self._scatter else 0)
        except OSError as error:
            where = f"{future.method}: after {got} of {want} bytes of the answer"
            raise self._break(self._failure(where, error)) from error
        except BaseException:
            self._untouched = not got and buffers[0][0] == _NOTHING
            raise
        if n == 0:
            raise self._closed_by_server(future.method, got, want)
        return int(n)

    def _closed_by_server(self, method: str, got: int, want: int | str) -> BlockyardError:
        where = f"{method}: after {got} of {want} bytes of the answer"
        text = f"{where}: the server at {self.address} closed the connection{self._exit_note()}"
        return self._break(ServerGoneError(text))

    def _failure(self, where: str, error: OSError) -> BlockyardError:
        if isinstance(error, (BlockingIOError, TimeoutError, ssl.SSLWantReadError, ssl.SSLWantWriteError)):
            what = f"{where}: the server at {self.address} did nothing for {self.timeout:g} s"
            return ServerTimeoutError(f"{what}; see whether it hangs, or pass a larger timeout=")
        return ServerGoneError(f"{where}: the server at {self.address} is gone: {error}{self._exit_note()}")
