"""One connection: requests out, replies in, in the order of the requests.

Control calls are ordinary msgpack-rpc messages. A step is written and read on the socket
itself: one ``sendmsg`` of a 23-byte head and the actions, one ``recvmsg_into`` of a 13-byte
head and the slab, straight into the caller's memory, in one piece or several. Where slots of
shared memory hold both, only a number goes and a word comes back.
"""

from __future__ import annotations

import itertools
import os
import socket
import ssl
import struct
import threading
import weakref
from collections import deque
from collections.abc import Callable, Sequence
from typing import Any

import msgpack  # type: ignore[import-untyped,unused-ignore]

from .address import Address, Tls
from .errors import BlockyardError, ForkError, ProtocolError, ServerGone, ServerTimeout, from_wire
from .pending import Into, Pending, beyond, files_in, first_of
from .slab import HEAD

_STEP = struct.Struct(">BBBI5sBBIBI")
_SLAB = struct.Struct(">BBBIBBI")
_SLOT = struct.Struct(">BBBI10sBBIBI")
_DONE = struct.Struct(">BBBIBB")
_CHUNK = 1 << 20
_SMALL = 4096  # bytes of actions that are copied behind their head, to be sent in one piece
_WAITALL = getattr(socket, "MSG_WAITALL", 0)
_CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_NOSIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)


class Connection:
    """A socket to a server, and the requests under way on it.

    Safe to use from several threads: one of them at a time talks. Not usable in a process
    forked from the one that opened it.
    """

    def __init__(
        self, address: Address, timeout: float, gone_note: Callable[[], str] = lambda: "", tls: Tls = None
    ) -> None:
        self.address = address
        self.timeout = timeout
        self.max_reply = 1 << 30  # bytes; a longer answer is not believed
        self._gone_note = gone_note
        self._sock = address.connect(timeout, tls)
        # Without these (TLS, Windows) pieces go and come one by one.
        self._scatter = hasattr(self._sock, "recvmsg_into") and not isinstance(self._sock, ssl.SSLSocket)
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._ids = itertools.count(1)
        self._waiting: deque[Pending] = deque()
        self._left = b""  # received beyond the end of a message
        self._head = bytearray(HEAD)
        self._chunk = bytearray(0)
        self._broken: BlockyardError | None = None
        self._finalizer = weakref.finalize(self, self._sock.close)
        self._word = memoryview(self._head)[: _DONE.size]

    # -- requests -------------------------------------------------------------------

    def call(self, method: str, *params: Any) -> Any:
        """Call a method and return its result, bins as bytes.

        Raises:
            BlockyardError: the server's refusal, or the end of the connection.
        """
        with self._lock:
            return self.wait(self.post(method, *params))

    def call_for_files(self, method: str, *params: Any) -> tuple[Any, list[int]]:
        """Call a method whose answer brings files along; return its result and their descriptors."""
        with self._lock:
            pending = self.post(method, *params, files=True)
            assert pending.fds is not None
            try:
                return self.wait(pending), pending.fds
            except BaseException:
                for fd in pending.fds:
                    os.close(fd)
                raise

    def post(
        self, method: str, *params: Any, into: Into = None, files: bool = False
    ) -> Pending:
        """Send a request and do not wait. into is for the methods that answer with a slab."""
        with self._lock:
            pending = self._begin(method, into)
            if files:
                pending.fds = []
            self._send([msgpack.packb([0, pending.ident, method, list(params)])], pending)
            return pending

    def post_step(self, handle: int, actions: memoryview, into: Into) -> Pending:
        """Send the actions of a step, as ``<u2`` bytes, and do not wait."""
        with self._lock:
            pending = self._begin("step", into)
            head = _STEP.pack(0x94, 0x00, 0xCE, pending.ident, b"\xa4step", 0x92, 0xCE, handle, 0xC6, actions.nbytes)
            self._send([head, actions], pending)
            return pending

    def post_slot(self, handle: int, slot: int) -> Pending:
        """Let the server play the actions that lie in a slot, and do not wait."""
        with self._lock:
            pending = self._begin("step", None)
            pending.brief = True
            head = _SLOT.pack(0x94, 0x00, 0xCE, pending.ident, b"\xa9step_slot", 0x92, 0xCE, handle, 0xCE, slot)
            self._send([head], pending)
            return pending

    def step(self, handle: int, actions: memoryview, into: list[memoryview], frame: memoryview | None) -> None:
        """Send the actions of a step, as ``<u2`` bytes, and wait; frame is into with HEAD bytes before it."""
        with self._lock:
            if frame is None or self._waiting or self._left or not self._scatter:
                self.wait(self.post_step(handle, actions, into))
                return
            self._check()
            ident, size = next(self._ids) & 0xFFFFFFFF, actions.nbytes
            head = _STEP.pack(0x94, 0x00, 0xCE, ident, b"\xa4step", 0x92, 0xCE, handle, 0xC6, size)
            want = _SLAB.pack(0x94, 0x01, 0xCE, ident, 0xC0, 0xC6, len(frame) - HEAD)
            self._exchange(ident, (head + actions,) if size < _SMALL else (head, actions), frame, want, into)

    def step_slot(self, handle: int, slot: int) -> None:
        """Let the server play the actions that lie in a slot, and wait."""
        with self._lock:
            if self._waiting or self._left or not self._scatter:
                self.wait(self.post_slot(handle, slot))
                return
            self._check()
            ident = next(self._ids) & 0xFFFFFFFF
            head = _SLOT.pack(0x94, 0x00, 0xCE, ident, b"\xa9step_slot", 0x92, 0xCE, handle, 0xCE, slot)
            self._exchange(ident, (head,), self._word, _DONE.pack(0x94, 0x01, 0xCE, ident, 0xC0, 0xC3), None)

    def _exchange(self, ident: int, parts: tuple[Any, ...], frame: memoryview, want: bytes, into: Into) -> None:
        """Send a step when nothing else is under way, and receive its answer, which begins with want, into frame.

        This is post and wait without what those need for answers that come in another order.
        """
        sock, total, got, sent, size = self._sock, len(frame), 0, 0, sum(map(len, parts))
        try:
            sent = sock.send(parts[0], _NOSIGNAL) if len(parts) == 1 else sock.sendmsg(parts, (), _NOSIGNAL)
            while sent < size:
                sent += sock.send(memoryview(b"".join(parts))[sent:], _NOSIGNAL)
            got = n = sock.recv_into(frame)
            while n and got < len(want) and want.startswith(frame[:got]):
                n = sock.recv_into(frame[got:])
                got += n
            if frame[: len(want)] == want:
                while n and got < total:
                    n = sock.recv_into(frame[got:], 0, _WAITALL)
                    got += n
                if got == total:
                    return
            if n == 0:
                where = f"step: after {got} of {total} bytes of the answer"
                text = f"{where}: the server at {self.address} closed the connection{self._gone_note()}"
                raise self._break(ServerGone(text))
        except BlockyardError:
            raise
        except OSError as error:
            where = f"{sent} of {size} bytes of the request"
            if sent == size:
                where = f"{got} of {total} bytes of the answer"
            raise self._break(self._failure(f"step: after {where}", error)) from error
        except BaseException:  # Ctrl-C amid it: what follows cannot be told apart
            self._break(ServerGone("the connection was given up: a step was interrupted half-way"))
            raise
        pending = Pending(ident, "step", into)  # it was refused, or this is none of its answers
        self._waiting.append(pending)
        self._read_message(bytes(frame[:got]))
        self.wait(pending)

    def wait(self, pending: Pending) -> Any:
        """Return the result of a request, None if it went into a slab; raise its error."""
        with self._lock:
            self._read_until(pending)
        if pending.error is not None:
            raise pending.error
        return pending.result

    def _read_until(self, pending: Pending) -> None:
        """Read replies until the one to a request is among them."""
        while not pending.done:
            self._check()
            try:
                self._read_one()
            except BlockyardError:
                raise
            except BaseException:  # Ctrl-C amid a reply: what follows cannot be told apart
                self._break(ServerGone("the connection was given up: a reply was interrupted half-way"))
                raise

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

    def fileno(self) -> int:
        """Return the socket's descriptor, for those who wait for several connections at once."""
        return self._sock.fileno()

    @property
    def buffered(self) -> bool:
        """Whether an answer, or a part of one, is here already."""
        return bool(self._left) or (isinstance(self._sock, ssl.SSLSocket) and self._sock.pending() > 0)

    def _begin(self, method: str, into: Into) -> Pending:
        self._check()
        pending = Pending(next(self._ids) & 0xFFFFFFFF, method, into)
        self._waiting.append(pending)
        return pending

    # -- bytes ----------------------------------------------------------------------

    def _send(self, parts: list[Any], pending: Pending) -> None:
        size = sum(memoryview(part).nbytes for part in parts) if len(parts) > 1 else len(parts[0])
        sent = 0
        try:
            if not self._scatter:
                self._sock.sendall(b"".join(parts))
                return
            sent = self._sock.sendmsg(parts, (), _NOSIGNAL) if len(parts) > 1 else self._sock.send(parts[0], _NOSIGNAL)
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
        if isinstance(error, (BlockingIOError, TimeoutError, ssl.SSLWantReadError, ssl.SSLWantWriteError)):
            return ServerTimeout(f"{where}: the server at {self.address} did nothing for {self.timeout:g} s")
        return ServerGone(f"{where}: the server at {self.address} is gone: {error}{self._gone_note()}")

    def _recv(self, buffers: Sequence[Any], flags: int, got: int, want: int | str) -> int:
        """Receive into buffers; got and want are for the message of a failure."""
        pending = self._waiting[0]
        try:
            if pending.fds is not None:
                n, control, _, _ = self._sock.recvmsg_into(buffers[:1], socket.CMSG_SPACE(64), flags | _CLOEXEC)
                pending.fds += files_in(control)
            elif not self._scatter:
                n = self._sock.recv_into(buffers[0])
            elif len(buffers) > 1:
                n = self._sock.recvmsg_into(buffers, 0, flags)[0]
            else:
                n = self._sock.recv_into(buffers[0], 0, flags)
        except OSError as error:
            where = f"{pending.method}: after {got} of {want} bytes of the answer"
            raise self._break(self._failure(where, error)) from error
        if n == 0:
            where = f"{pending.method}: after {got} of {want} bytes of the answer"
            text = f"{where}: the server at {self.address} closed the connection{self._gone_note()}"
            raise self._break(ServerGone(text))
        return n

    def _read_one(self) -> None:
        """Read the next reply, whosoever's it is."""
        pending = self._waiting[0]
        if self._left:
            self._read_message(b"")
        elif pending.brief:
            self._read_brief(pending)
        elif pending.into is not None:
            self._read_slab(pending, pending.into)
        else:
            self._read_message(b"")

    def _read_brief(self, pending: Pending) -> None:
        """Read a reply that says only that it is done, if it is no error."""
        head = self._head
        n = self._recv([self._word], 0, 0, _DONE.size)
        if head[:n] == _DONE.pack(0x94, 0x01, 0xCE, pending.ident, 0xC0, 0xC3):
            self._waiting.popleft()
            pending.done = True
            return
        self._read_message(bytes(head[:n]))

    def _read_slab(self, pending: Pending, into: Sequence[memoryview]) -> None:
        """Read a reply into memory in pieces, which it has if it is no error."""
        head, total = self._head, HEAD + pending.size
        expected = _SLAB.pack(0x94, 0x01, 0xCE, pending.ident, 0xC0, 0xC6, pending.size)
        n = self._recv([head, *into], 0, 0, total)
        while n < HEAD and expected.startswith(head[:n]):
            n += self._recv([memoryview(head)[n:]], 0, n, total)
        if head[:n] != expected:
            self._read_message(bytes(head[:n]) + first_of(into, max(0, n - HEAD)))
            return
        while n < total:
            n += self._recv(beyond(into, n - HEAD), _WAITALL, n, total)
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
        elif pending.into is not None:
            self._fill(pending, pending.into)

    def _fill(self, pending: Pending, into: Sequence[memoryview]) -> None:
        """Put a payload that came with an ordinary message where it belongs."""
        if not isinstance(pending.result, bytes) or len(pending.result) != pending.size:
            size = len(pending.result) if isinstance(pending.result, bytes) else "no"
            raise self._break(ProtocolError(f"{pending.method}: {size} bytes where {pending.size} were announced"))
        payload = memoryview(pending.result)
        for piece in into:
            piece[:], payload = payload[: len(piece)], payload[len(piece) :]
        pending.result = None
