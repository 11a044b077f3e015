"""A connection: requests and their answers.

Control requests are ordinary MessagePack-RPC messages. A step is written to and read from the socket directly: a
23-byte head and the actions, then a 13-byte head and the arrays, straight into the caller's memory. With shared memory
only the number of a slot goes out, and ``true`` comes back.
"""

from __future__ import annotations

import itertools
import os
from collections.abc import Callable, Sequence
from typing import Any

import msgpack  # type: ignore[import-untyped,unused-ignore]

from ..errors import BlockyardError, LimitError, ProtocolError, from_wire
from .address import Address
from .memory import HEAD
from .stream import (
    DONE,
    NOSIGNAL,
    WAITALL,
    WHOLE,
    Future,
    Into,
    Stream,
    after_bytes,
    arrays_head,
    done,
    fill,
    first_bytes,
    step_head,
    step_slot,
)

_CHUNK = 1 << 20
_SMALL = 4096  # bytes: fewer actions than this are copied behind their head and sent in one piece


class Connection(Stream):
    """A socket to a server and the requests on it; of several threads, one at a time talks to the server."""

    def __init__(self, address: Address, timeout: float, *how: Any) -> None:
        super().__init__(address, timeout, *how)
        self.max_reply = 1 << 30  # bytes; a longer answer is refused
        self.max_message = 1 << 30  # bytes; a longer request is refused here: the server would close the connection
        self.dropped: list[Callable[[], None]] = []  # free what nobody refers to any more, in the next call
        self._ids = itertools.count(1)
        self._head = memoryview(bytearray(HEAD))
        self._word = self._head[:DONE]
        self._chunk = memoryview(b"")
        self._finals: dict[int, tuple[int, Any]] = {}  # by handle: after which step, and its ``final``

    def call(self, method: str, *params: Any) -> Any:
        """Call a method and return its result, binary data as bytes."""
        with self._lock:
            while self.dropped:
                self.dropped.pop()()
            return self.wait(self.post(method, *params))

    def call_for_files(self, method: str, *params: Any) -> tuple[Any, list[int]]:
        """Call a method whose answer comes with files; return its result and the descriptors, which the caller owns."""
        fds: list[int] = []
        with self._lock:
            future = self.post(method, *params, fds=fds)
            try:
                return self.wait(future), fds
            except BaseException:
                future.fds = None  # files of a later answer are not taken
                for fd in fds:
                    os.close(fd)
                raise

    def post(self, method: str, *params: Any, into: Into = None, fds: list[int] | None = None) -> Future:
        """Send a request without waiting. into receives the arrays of methods that answer with a step."""
        rest = msgpack.packb(method) + msgpack.packb(params)  # first: what cannot be packed is not begun
        if len(rest) + 7 > self.max_message:
            what = f"{method}: a request of {len(rest) + 7} bytes is too large for the server, which takes"
            raise LimitError(f"{what} {self.max_message}; start it with a larger --max-message")
        with self._lock:
            future = self._begin(method, into)
            future.fds = fds
            self._send([b"\x94\0" + msgpack.packb(future.ident) + rest], future)
            return future

    def post_step(self, handle: int, actions: memoryview, into: Into) -> Future:
        """Send the actions of a step, as ``<u2`` bytes, without waiting."""
        with self._lock:
            future = self._begin("step", into)
            self._send([step_head(future.ident, handle, actions.nbytes), actions], future)
            return future

    def post_slot(self, handle: int, slot: int) -> Future:
        """Let the server step with the actions in a slot, without waiting."""
        with self._lock:
            future = self._begin("step", None)
            future.brief = True
            self._send([step_slot(future.ident, handle, slot)], future)
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
            head, want = step_head(ident, handle, size), arrays_head(ident, len(frame) - HEAD)
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
            self._exchange(ident, (step_slot(ident, handle, slot),), self._word, done(ident), None)
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
                    self._read_next()
            finally:
                if waiting in self._waiting:
                    self._waiting.remove(waiting)
            return self._finals.pop(handle)[1]

    def _exchange(self, ident: int, parts: tuple[Any, ...], frame: memoryview, want: bytes, into: Into) -> None:
        """Send a step while no other request waits, and receive its answer into frame; it has to begin with want.

        This is the fast path of post and wait: it need not handle answers in another order.
        """
        sock, total, got, sent, size = self._sock, len(frame), 0, 0, sum(map(len, parts))
        kept = bytes(frame[HEAD:_SMALL])
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
                self._read_next()
        if future.error is not None:
            raise future.error
        return future.result

    def _read_next(self) -> None:
        """Read the next answer, whichever request it is for; an interruption in the middle of it loses the place."""
        self._check()
        self._untouched, future = False, self._waiting[0]
        try:
            if self._leftover or not (future.brief or future.into is not None):
                self._read_message(b"")
            else:
                self._read_fixed(future, future.into or ())
        except BlockyardError:
            raise
        except BaseException:
            if not self._untouched:
                self._lose_place(0)
            raise

    def _owe(self, ident: int, into: Into) -> Future:
        """Note a step whose answer is still to come: it is read before the next answer, awaited or not."""
        future = Future(ident, "step", into, into is None)
        self._waiting.append(future)
        return future

    def _begin(self, method: str, into: Into) -> Future:
        self._check()
        future = Future(next(self._ids) & 0xFFFFFFFF, method, into)
        self._waiting.append(future)
        return future

    def _read_fixed(self, future: Future, into: Sequence[memoryview]) -> None:
        """Read an answer of known length, a bare ``true`` or arrays, into its memory, unless it is an error."""
        head, want, size = self._word, done(future.ident), sum(map(len, into))
        if not future.brief:
            head, want = self._head, arrays_head(future.ident, size)
        kept, room, total = first_bytes(into, _SMALL), len(want), len(want) + size
        n = self._recv([head, *into], 0, 0, total)
        while n < room and want.startswith(head[:n]):
            n += self._recv([head[n:]], 0, n, total)
        if head[:n] != want:
            start = bytes(head[:n]) + first_bytes(into, max(0, n - room))
            fill(into, kept)  # a step that fails changes nothing
            self._read_message(start)
            return
        while n < total:
            n += self._recv(after_bytes(into, n - room), WAITALL, n, total)
        self._waiting.popleft()
        future.done = True

    def _read_message(self, start: bytes) -> None:
        """Read one message of any shape, whose first bytes are start, and deliver it."""
        start, self._leftover = self._leftover + start, b""
        unpacker = msgpack.Unpacker(max_buffer_size=self.max_reply + (1 << 16), strict_map_key=False)
        chunk = self._chunk = self._chunk or memoryview(bytearray(_CHUNK))
        fed = len(start)
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
        future = next((one for one in self._waiting if one.ident == ident), None)
        if future is None:
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
        got, want = len(future.result) if isinstance(future.result, bytes) else "no", sum(map(len, into))
        if got != want:
            raise self._break(ProtocolError(f"{future.method}: {got} bytes where {want} were announced"))
        fill(into, future.result)
        future.result = None
