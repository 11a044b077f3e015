"""A connection: requests and their answers.

Control requests are ordinary MessagePack-RPC messages. A step is written to and read from the socket directly: a
23-byte head and the actions, then a 13-byte head and the arrays, straight into the caller's memory. With shared memory
only the number of a slot goes out, and ``true`` comes back.
"""

from __future__ import annotations

import itertools
import os
import secrets
from collections.abc import Callable, Sequence
from typing import Any

import msgpack  # type: ignore[import-untyped,unused-ignore]

from ..errors import BlockyardError, ProtocolError, from_wire
from . import heads
from .address import Address, Tls
from .futures import Future, Into, after_bytes, fill, first_bytes
from .memory import HEAD
from .stream import NOSIGNAL, NOTHING, WAITALL, WHOLE, Stream

_CHUNK = 1 << 20
_SMALL = 4096  # bytes: fewer actions than this are copied behind their head and sent in one piece


class Connection(Stream):
    """A socket to a server and the requests on it.

    Several threads may use it; one at a time talks to the server.

    Attributes:
        max_reply: bytes; a longer answer is refused.
        dropped: functions that free what nobody refers to any more, for the next call.
    """

    def __init__(
        self,
        address: Address,
        timeout: float,
        exit_note: Callable[[], str] = lambda: "",
        tls: Tls = None,
        patience: float | None = None,
    ) -> None:
        """Connect; arguments as in :class:`Stream`."""
        super().__init__(address, timeout, exit_note, tls, patience)
        self.max_reply = 1 << 30
        self.dropped: list[Callable[[], None]] = []
        self._ids = itertools.count(1)
        self._head = bytearray(HEAD)
        self._word = memoryview(self._head)[: heads.DONE]
        self._chunk = bytearray(0)
        self._finals: dict[int, tuple[int, Any]] = {}  # by handle: after which step, and its ``final``

    # -- requests -------------------------------------------------------------------

    def call(self, method: str, *params: Any) -> Any:
        """Call a method and return its result, binary data as bytes.

        Raise BlockyardError if the server refused the request, or the connection failed.
        """
        with self._lock:
            while self.dropped:
                self.dropped.pop()()
            return self.wait(self.post(method, *params))

    def call_for_files(self, method: str, *params: Any) -> tuple[Any, list[int]]:
        """Call a method whose answer comes with files; return its result and the descriptors, which the caller owns."""
        with self._lock:
            future = self.post(method, *params, files=True)
            assert future.fds is not None
            try:
                return self.wait(future), future.fds
            except BaseException:
                fds, future.fds = future.fds, None  # files of a later answer are not taken
                for fd in fds:
                    os.close(fd)
                raise

    def post(self, method: str, *params: Any, into: Into = None, files: bool = False) -> Future:
        """Send a request without waiting. into receives the arrays of methods that answer with a step."""
        with self._lock:
            future = self._begin(method, into)
            if files:
                future.fds = []
            self._send([msgpack.packb([0, future.ident, method, list(params)])], future)
            return future

    def post_step(self, handle: int, actions: memoryview, into: Into) -> Future:
        """Send the actions of a step, as ``<u2`` bytes, without waiting."""
        with self._lock:
            future = self._begin("step", into)
            self._send([heads.step(future.ident, handle, actions.nbytes), actions], future)
            return future

    def post_slot(self, handle: int, slot: int) -> Future:
        """Let the server step with the actions in a slot, without waiting."""
        with self._lock:
            future = self._begin("step", None)
            future.brief = True
            self._send([heads.step_slot(future.ident, handle, slot)], future)
            return future

    def step(self, handle: int, actions: memoryview, into: list[memoryview], frame: memoryview | None) -> int:
        """Send a step's actions, as ``<u2`` bytes, wait for its arrays, and return the number of the request.

        frame is the memory of into with HEAD bytes before it; None if that is not contiguous.
        """
        with self._lock:
            if frame is None or self._waiting or self._leftover or not self._scatter or actions.nbytes > WHOLE // 2:
                future = self.post_step(handle, actions, into)
                self.wait(future)
                return future.ident
            self._check()
            ident, size = next(self._ids) & 0xFFFFFFFF, actions.nbytes
            head, want = heads.step(ident, handle, size), heads.arrays(ident, len(frame) - HEAD)
            self._exchange(ident, (head + actions,) if size < _SMALL else (head, actions), frame, want, into)
            return ident

    def step_slot(self, handle: int, slot: int) -> int:
        """Let the server step with the actions in a slot, wait, and return the number of the request."""
        with self._lock:
            if self._waiting or self._leftover or not self._scatter:
                future = self.post_slot(handle, slot)
                self.wait(future)
                return future.ident
            self._check()
            ident = next(self._ids) & 0xFFFFFFFF
            self._exchange(ident, (heads.step_slot(ident, handle, slot),), self._word, heads.done(ident), None)
            return ident

    def step_at(self, handle: int, actions: int, slab: int) -> None:
        """Let the server, which is in this process, step with memory at these addresses."""
        with self._lock:
            self._check()
            if self._sock.step_handle(self._sock.number, handle, actions, slab):
                self.wait(self._owe(0, None))

    def final_after(self, handle: int, ident: int) -> Any:
        """Return the last observations of games that this step of the handle ended, which the server sends unasked."""
        with self._lock:
            waiting = self._begin("final", None)
            try:
                while self._finals.get(handle, (None,))[0] != ident:
                    self._check()
                    self._guard(self._read_one)
            finally:
                if waiting in self._waiting:
                    self._waiting.remove(waiting)
            return self._finals.pop(handle)[1]

    def _exchange(self, ident: int, parts: tuple[Any, ...], frame: memoryview, want: bytes, into: Into) -> None:
        """Send a step while no other request waits, and receive its answer into frame; it has to begin with want.

        This is the fast path of post and wait: it need not handle answers in another order.
        """
        sock, total, got, sent, size = self._sock, len(frame), 0, 0, sum(map(len, parts))
        kept, frame[0] = bytes(frame[HEAD:_SMALL]), NOTHING
        try:
            sent = sock.send(parts[0], NOSIGNAL) if len(parts) == 1 else sock.sendmsg(parts, (), NOSIGNAL)
            while sent < size:
                sent += sock.send(memoryview(b"".join(parts))[sent:], NOSIGNAL)
            self._await()
            got = n = sock.recv_into(frame)
            while n and got < len(want) and want.startswith(frame[:got]):
                self._await()
                n = sock.recv_into(frame[got:])
                got += n
            if frame[: len(want)] == want:
                while n and got < total:
                    self._await()
                    n = sock.recv_into(frame[got:], 0, WAITALL)
                    got += n
                if got == total:
                    return
            if n == 0:
                raise self._closed_by_server("step", got, total)
        except BlockyardError:
            raise
        except OSError as error:
            where = f"{sent} of {size} bytes of the request"
            if sent == size:
                where = f"{got} of {total} bytes of the answer"
            raise self._break(self._failure(f"step: after {where}", error)) from error
        except BaseException:  # Ctrl-C, most likely while the server steps
            if sent == size and not got and frame[0] == NOTHING:
                self._owe(ident, into)
            else:
                self._lose_place(size if sent < size else 0)
            raise
        future = self._owe(ident, into)  # an error, or the answer to another request
        start = bytes(frame[:got])
        frame[HEAD : HEAD + len(kept)] = kept  # a step that fails changes nothing
        self._read_message(start)
        self.wait(future)

    def wait(self, future: Future) -> Any:
        """Wait for a request; return its result (None if it went into memory) or raise its error."""
        with self._lock:
            while not future.done:
                self._check()
                self._guard(self._read_one)
        if future.error is not None:
            raise future.error
        return future.result

    def _guard(self, read: Callable[[], None]) -> None:
        """Call read, which may be interrupted: before the first byte of an answer, or in the middle."""
        self._untouched = False
        try:
            read()
        except BlockyardError:
            raise
        except BaseException:
            if not self._untouched:
                self._lose_place(0)
            raise

    def _owe(self, ident: int, into: Into) -> Future:
        """Note a step whose answer is still to come: it is read before the next answer, awaited or not."""
        future = Future(ident, "step", into)
        future.brief = into is None
        self._waiting.append(future)
        return future

    def _find_place(self) -> None:
        """Drop all that the server has sent, up to the answer to a new request that is recognised by its number."""
        self._place_lost = False
        try:
            ident = secrets.randbits(31) | 1 << 31
            self._sock.sendall(msgpack.packb([0, ident, "ping", []]))
            end, last = heads.done(ident), b""
            while not last.endswith(end):  # which is the last that the server sends
                if not (got := self._sock.recv(_CHUNK)):
                    raise self._closed_by_server("ping", 0, len(end))
                last = (last + got)[-len(end) :]
        except OSError as error:
            raise self._break(self._failure("ping after an interruption", error)) from error
        except BlockyardError:
            raise
        except BaseException:
            self._place_lost = True
            raise

    # -- answers --------------------------------------------------------------------

    def _begin(self, method: str, into: Into) -> Future:
        self._check()
        future = Future(next(self._ids) & 0xFFFFFFFF, method, into)
        self._waiting.append(future)
        return future

    def _read_one(self) -> None:
        """Read the next answer, whichever request it belongs to."""
        future = self._waiting[0]
        if self._leftover:
            self._read_message(b"")
        elif future.brief:
            self._read_brief(future)
        elif future.into is not None:
            self._read_arrays(future, future.into)
        else:
            self._read_message(b"")

    def _read_brief(self, future: Future) -> None:
        """Read an answer that is a bare ``true`` unless it is an error."""
        head = self._head
        n = self._recv([self._word], 0, 0, heads.DONE)
        if head[:n] == heads.done(future.ident):
            self._waiting.popleft()
            future.done = True
            return
        self._read_message(bytes(head[:n]))

    def _read_arrays(self, future: Future, into: Sequence[memoryview]) -> None:
        """Read an answer that consists of arrays, into their memory, unless it is an error."""
        head, total, kept = self._head, HEAD + future.size, first_bytes(into, _SMALL)
        expected = heads.arrays(future.ident, future.size)
        n = self._recv([head, *into], 0, 0, total)
        while n < HEAD and expected.startswith(head[:n]):
            n += self._recv([memoryview(head)[n:]], 0, n, total)
        if head[:n] != expected:
            start = bytes(head[:n]) + first_bytes(into, max(0, n - HEAD))
            fill(into, kept)  # a step that fails changes nothing
            self._read_message(start)
            return
        while n < total:
            n += self._recv(after_bytes(into, n - HEAD), WAITALL, n, total)
        self._waiting.popleft()
        future.done = True

    def _read_message(self, start: bytes) -> None:
        """Read one message of any shape, whose first bytes are start, and deliver it."""
        start, self._leftover = self._leftover + start, b""
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
            text = f"the server sent what is no message: {error}; is it a blockyard server?"
            raise self._break(ProtocolError(text)) from error
        if extra := fed - unpacker.tell():
            self._leftover = bytes(last[len(last) - extra :])
        self._deliver(message)

    def _deliver(self, message: Any) -> None:
        match message:
            case [2, "final", [int(handle), int(ident), dict(result)]]:
                self._finals[handle] = (ident, result)
                return
        if not (isinstance(message, list) and len(message) == 4 and message[0] == 1):
            raise self._break(ProtocolError(f"the server sent a message that is no response: {message!r:.200}"))
        _, ident, error, result = message
        for future in self._waiting:
            if future.ident == ident:
                break
        else:
            if error is not None:  # about a request that the server could not read
                raise self._break(from_wire(error, "connection"))
            raise self._break(ProtocolError(f"the server answered request {ident}, which does not exist"))
        self._waiting.remove(future)
        future.done, future.result = True, result
        if error is not None:
            future.error = from_wire(error, future.method)
            if isinstance(future.error, ProtocolError):
                self._break(future.error)
        elif future.into is not None:
            self._fill(future, future.into)

    def _fill(self, future: Future, into: Sequence[memoryview]) -> None:
        """Copy a payload that came in an ordinary message to its memory."""
        if not isinstance(future.result, bytes) or len(future.result) != future.size:
            size = len(future.result) if isinstance(future.result, bytes) else "no"
            raise self._break(ProtocolError(f"{future.method}: {size} bytes where {future.size} were announced"))
        fill(into, future.result)
        future.result = None
