"""One connection: requests out, replies in, in the order of the requests.

Control calls are ordinary msgpack-rpc messages. A step is written and read on the socket
itself: one ``sendmsg`` of a 23-byte head and the actions, one ``recvmsg_into`` of a 13-byte
head and the slab, straight into the caller's memory.
"""

from __future__ import annotations

import itertools
import os
import socket
import struct
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import msgpack  # type: ignore[import-untyped,unused-ignore]

from .address import Address
from .errors import BlockyardError, ForkError, ProtocolError, ServerGone, ServerTimeout, from_wire

HEAD = 13  # bytes before the slab in the answer to a step
_STEP = struct.Struct(">BBBI5sBBIBI")
_SLAB = struct.Struct(">BBBIBBI")
_CHUNK = 1 << 20
_WAITALL = getattr(socket, "MSG_WAITALL", 0)
_NOSIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)


class Pending:
    """A request whose answer is still to come."""

    __slots__ = ("done", "error", "ident", "method", "result", "slab")

    def __init__(self, ident: int, method: str, slab: memoryview | None) -> None:
        self.ident = ident
        self.method = method
        self.slab = slab  # where the answer's payload goes, if it is one of fixed length
        self.done = False
        self.result: Any = None
        self.error: BlockyardError | None = None


class Connection:
    """A socket to a server, and the requests under way on it.

    Safe to use from several threads: one of them at a time talks. Not usable in a process
    forked from the one that opened it.
    """

    def __init__(self, address: Address, timeout: float, gone_note: Callable[[], str] = lambda: "") -> None:
        self.address = address
        self.timeout = timeout
        self.max_reply = 1 << 30  # bytes; a longer answer is not believed
        self._gone_note = gone_note
        self._sock = address.connect(timeout)
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._ids = itertools.count(1)
        self._waiting: deque[Pending] = deque()
        self._left = b""  # received beyond the end of a message
        self._head = bytearray(HEAD)
        self._chunk = bytearray(0)
        self._broken: BlockyardError | None = None
        self._finalizer = weakref.finalize(self, self._sock.close)

    # -- requests -------------------------------------------------------------------

    def call(self, method: str, *params: Any) -> Any:
        """Call a method and return its result, bins as bytes.

        Raises:
            BlockyardError: the server's refusal, or the end of the connection.
        """
        with self._lock:
            return self.wait(self.post(method, *params))

    def post(self, method: str, *params: Any, slab: memoryview | None = None) -> Pending:
        """Send a request and do not wait. slab is for the methods that answer with one."""
        with self._lock:
            pending = self._begin(method, slab)
            self._send([msgpack.packb([0, pending.ident, method, list(params)])], pending)
            return pending

    def post_step(self, handle: int, actions: memoryview, slab: memoryview) -> Pending:
        """Send the actions of a step, as ``<u2`` bytes, and do not wait."""
        with self._lock:
            pending = self._begin("step", slab)
            head = _STEP.pack(0x94, 0x00, 0xCE, pending.ident, b"\xa4step", 0x92, 0xCE, handle, 0xC6, actions.nbytes)
            self._send([head, actions], pending)
            return pending

    def wait(self, pending: Pending) -> Any:
        """Return the result of a request, None if it went into a slab; raise its error."""
        with self._lock:
            while not pending.done:
                self._check()
                try:
                    self._read_one()
                except BlockyardError:
                    raise
                except BaseException:  # Ctrl-C amid a reply: what follows cannot be told apart
                    self._break(ServerGone("the connection was given up: a reply was interrupted half-way"))
                    raise
        if pending.error is not None:
            raise pending.error
        return pending.result

    # -- ends -----------------------------------------------------------------------

    @property
    def open(self) -> bool:
        """Whether requests can still be made."""
        return self._broken is None and self._pid == os.getpid()

    def close(self) -> None:
        """Close the socket; the server forgets the session. May be called again."""
        if self._broken is None:
            self._broken = ServerGone("the connection is closed")
        self._finalizer()

    def _check(self) -> None:
        if self._pid != os.getpid():
            raise ForkError(
                f"this connection belongs to process {self._pid}; a forked process has to make its own environment"
            )
        if self._broken is not None:
            raise type(self._broken)(*self._broken.args)

    def _break(self, error: BlockyardError) -> BlockyardError:
        """Give the connection up: nothing that was under way is answered any more."""
        if self._broken is None:
            self._broken = error
            for pending in self._waiting:
                pending.done, pending.error = True, error
            self._waiting.clear()
            self._finalizer()
        return error

    def _begin(self, method: str, slab: memoryview | None) -> Pending:
        self._check()
        pending = Pending(next(self._ids) & 0xFFFFFFFF, method, slab)
        self._waiting.append(pending)
        return pending

    # -- bytes ----------------------------------------------------------------------

    def _send(self, parts: list[Any], pending: Pending) -> None:
        size = sum(len(part) if isinstance(part, bytes) else part.nbytes for part in parts)
        sent = 0
        try:
            sent = self._sock.sendmsg(parts, (), _NOSIGNAL)
            if sent < size:
                rest = memoryview(b"".join(parts))
                while sent < size:
                    sent += self._sock.send(rest[sent:], _NOSIGNAL)
        except OSError as error:
            where = f"{pending.method}: after {sent} of {size} bytes of the request"
            raise self._break(self._failure(where, error)) from error
        except BaseException:  # Ctrl-C amid a request
            self._break(ServerGone("the connection was given up: a request was interrupted half-way"))
            raise

    def _failure(self, where: str, error: OSError) -> BlockyardError:
        if isinstance(error, BlockingIOError):
            return ServerTimeout(f"{where}: the server at {self.address} did nothing for {self.timeout:g} s")
        return ServerGone(f"{where}: the server at {self.address} is gone: {error}{self._gone_note()}")

    def _recv(self, buffers: list[Any], flags: int, got: int, want: int | str) -> int:
        """Receive into buffers; got and want are for the message of a failure."""
        pending = self._waiting[0]
        where = f"{pending.method}: after {got} of {want} bytes of the answer"
        try:
            n = (
                self._sock.recvmsg_into(buffers, 0, flags)[0]
                if len(buffers) > 1
                else (self._sock.recv_into(buffers[0], 0, flags))
            )
        except OSError as error:
            raise self._break(self._failure(where, error)) from error
        if n == 0:
            text = f"{where}: the server at {self.address} closed the connection{self._gone_note()}"
            raise self._break(ServerGone(text))
        return n

    def _read_one(self) -> None:
        """Read the next reply, whosoever's it is."""
        slab = self._waiting[0].slab
        if slab is None or self._left:
            self._read_message(b"")
        else:
            self._read_slab(self._waiting[0], slab)

    def _read_slab(self, pending: Pending, slab: memoryview) -> None:
        """Read a reply into slab, which it has if it is no error."""
        head, total = self._head, HEAD + slab.nbytes
        expected = _SLAB.pack(0x94, 0x01, 0xCE, pending.ident, 0xC0, 0xC6, slab.nbytes)
        n = self._recv([head, slab], 0, 0, total)
        while n < HEAD and expected.startswith(head[:n]):
            n += self._recv([memoryview(head)[n:]], 0, n, total)
        if head[:n] != expected:
            self._read_message(bytes(head[:n]) + bytes(slab[: max(0, n - HEAD)]))
            return
        while n < total:
            n += self._recv([slab[n - HEAD :]], _WAITALL, n, total)
        self._waiting.popleft()
        pending.done = True

    def _read_message(self, start: bytes) -> None:
        """Read one message of any shape, of which start has arrived, and deliver it."""
        start, self._left = self._left + start, b""
        unpacker = msgpack.Unpacker(max_buffer_size=self.max_reply + (1 << 16), strict_map_key=False)
        if not self._chunk:
            self._chunk = bytearray(_CHUNK)
        chunk, fed = memoryview(self._chunk), len(start)
        try:
            unpacker.feed(start)
            last: Any = start
            while True:
                try:
                    message = unpacker.unpack()
                    break
                except msgpack.OutOfData:
                    n = self._recv([chunk], 0, fed, "?")
                    last = chunk[:n]
                    unpacker.feed(last)
                    fed += n
        except (ValueError, msgpack.UnpackException, msgpack.BufferFull) as error:
            raise self._break(ProtocolError(f"the server sent what is no message: {error}")) from error
        if extra := fed - unpacker.tell():
            self._left = bytes(last[len(last) - extra :])
        self._deliver(message)

    def _deliver(self, message: Any) -> None:
        if not (isinstance(message, list) and len(message) == 4 and message[0] == 1):
            raise self._break(ProtocolError(f"the server sent what is no response: {message!r:.200}"))
        _, ident, error, result = message
        for pending in self._waiting:
            if pending.ident == ident:
                break
        else:
            if error is not None:  # about a request it could not read
                raise self._break(from_wire(error, "connection"))
            raise self._break(ProtocolError(f"the server answered request {ident}, which was never made"))
        self._waiting.remove(pending)
        pending.done, pending.result = True, result
        if error is not None:
            pending.error = from_wire(error, pending.method)
            if isinstance(pending.error, ProtocolError):
                self._break(pending.error)
        elif pending.slab is not None:
            self._fill(pending, pending.slab)

    def _fill(self, pending: Pending, slab: memoryview) -> None:
        """Put a payload that came with an ordinary message where it belongs."""
        if not isinstance(pending.result, bytes) or len(pending.result) != slab.nbytes:
            size = len(pending.result) if isinstance(pending.result, bytes) else "no"
            raise self._break(ProtocolError(f"{pending.method}: {size} bytes where {slab.nbytes} were announced"))
        slab[:] = pending.result
        pending.result = None
