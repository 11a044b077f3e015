"""A connection: requests and their answers over a socket, and failures as errors.

Control requests are ordinary MessagePack-RPC messages. The answer to a step, a 13-byte head and the arrays, is received
straight into the caller's memory, if that is one piece. With shared memory only the number of a slot goes out, and
``true`` comes back.
"""

import itertools
import os
import secrets
import socket
import ssl
import struct
import threading
import weakref
from collections import deque
from collections.abc import Callable
from typing import Any

import msgpack  # type: ignore[import-untyped,unused-ignore]

from .. import errors
from .address import Address, Tls
from .memory import HEAD, StepMemory

_CLOEXEC = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
_NOSIGNAL = getattr(socket, "MSG_NOSIGNAL", 0)
_NOTHING = 0xC1  # in the first byte of a buffer: nothing was received; no message begins with it
_WHOLE = 1 << 16  # bytes: a request that is no longer is sent as a whole, as a rule, or not at all
_CHUNK = 1 << 20
_SMALL = 4096  # bytes, more than the message of an error has

_STEP = struct.Struct(">BBBI5sBBIBI")
_SLOT = struct.Struct(">BBBI10sBBIBI")
_ARRAYS = struct.Struct(">BBBIBBI")
_DONE = struct.Struct(">BBBIBB")
_NO_FRAME = memoryview(b"")


class Future:
    """A request whose answer is still to come.

    Attributes:
        ident, method: of the request; the method is for error messages.
        into: memory for the arrays with which the method answers; None if it answers with something else.
        done: whether the answer is here, as result or error; the result is None if it went into memory.
    """

    __slots__ = ("done", "error", "frame", "ident", "into", "length", "method", "result", "start")

    def __init__(self, ident: int, method: str, into: StepMemory | None = None) -> None:
        self.ident, self.method, self.into = ident, method, into
        self.done, self.result = False, None  # type: bool, Any
        self.error: errors.BlockyardError | None = None
        self.start, self.frame, self.length = b"", _NO_FRAME, 0  # of an answer whose length is known, and where it goes
        if into is not None:
            self.length = HEAD + into.size
            self.start = _ARRAYS.pack(0x94, 0x01, 0xCE, ident, 0xC0, 0xC6, into.size)
            self.frame = into.frame or memoryview(bytearray(self.length))


class Connection:
    """A socket to a server and the requests on it; of several threads, one at a time talks to the server.

    After an error the connection is closed for good, and all waiting requests get that error. A process
    forked from the one that opened the connection cannot use it.
    """

    exit_note: Callable[[], str] | None = None  # returns what is known about how the server ended, for error messages

    def __init__(self, address: Address, timeout: float, tls: Tls = None, patience: float | None = None) -> None:
        """Connect; arguments as of :meth:`Address.connect`."""
        self.address, self.timeout = address, timeout
        self.max_reply = 1 << 30  # bytes; a longer answer is refused
        self.max_message = 1 << 30  # bytes; a longer request is refused here: the server would close the connection
        self.dropped: list[Callable[[], None]] = []  # free what nobody refers to any more, in the next call
        self._sock: Any = address.connect(timeout, tls, patience)
        self._flags = 0 if isinstance(self._sock, ssl.SSLSocket) else _NOSIGNAL
        self._pid = os.getpid()
        self._lock = threading.RLock()
        self._ids = itertools.count(1)
        self._waiting: deque[Future] = deque()
        self._word = memoryview(bytearray(_DONE.size))
        self._chunk = _NO_FRAME
        self._fds: list[int] | None = None  # receives file descriptors that come with bytes; None: there are none
        self._finals: dict[int, tuple[int, Any]] = {}  # by handle: after which step, and its ``final``
        self._leftover = b""  # received bytes behind the end of the last message
        self._broken: errors.BlockyardError | None = None
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
            self._broken = errors.ServerGoneError("the connection is closed, and what was made of it; create a new one")
        self._finalizer()

    # -- requests ---------------------------------------------------------------------

    def call(self, method: str, *params: Any) -> Any:
        """Call a method and return its result, binary data as bytes."""
        with self._lock:
            while self.dropped:
                self.dropped.pop()()
            return self.wait(self.post(method, *params))

    def call_for_files(self, method: str, *params: Any) -> tuple[Any, list[int]]:
        """Call a method whose answer comes with files; return its result and the descriptors, which the caller owns."""
        with self._lock:
            self._fds = fds = list[int]()
            try:
                with errors.on_error(lambda: list(map(os.close, fds))):
                    return self.call(method, *params), fds
            finally:
                self._fds = None

    def post(self, method: str, *params: Any, into: StepMemory | None = None) -> Future:
        """Send a request without waiting. into receives the arrays of methods that answer with a step."""
        ident = next(self._ids) & 0xFFFFFFFF
        request = b"\x94\0" + msgpack.packb(ident) + msgpack.packb(method) + msgpack.packb(params)
        if len(request) > self.max_message:
            what = f"{method}: a request of {len(request)} bytes is too large for the server, which takes"
            raise errors.LimitError(f"{what} {self.max_message}; start it with a larger --max-message")
        return self._send(Future(ident, method, into), request)

    def post_step(self, handle: int, actions: memoryview, into: StepMemory) -> Future:
        """Send the actions of a step, as ``<u2`` bytes, without waiting."""
        ident = next(self._ids) & 0xFFFFFFFF
        head = _STEP.pack(0x94, 0x00, 0xCE, ident, b"\xa4step", 0x92, 0xCE, handle, 0xC6, actions.nbytes)
        return self._send(Future(ident, "step", into), head + actions)

    def post_slot(self, handle: int, slot: int) -> Future:
        """Let the server step with the actions in a slot of shared memory, without waiting."""
        ident = next(self._ids) & 0xFFFFFFFF
        future = Future(ident, "step")
        future.start, future.frame = _DONE.pack(0x94, 0x01, 0xCE, ident, 0xC0, 0xC3), self._word
        future.length = _DONE.size
        return self._send(future, _SLOT.pack(0x94, 0x00, 0xCE, ident, b"\xa9step_slot", 0x92, 0xCE, handle, 0xCE, slot))

    def step_at(self, handle: int, actions: int, slab: int) -> None:
        """Let the server, which is in this process, step with memory at these addresses."""
        with self._lock:
            self._check()
            if self._sock.step_handle(self._sock.number, handle, actions, slab):
                self._waiting.append(error := Future(0, "step"))
                self.wait(error)

    def wait(self, future: Future) -> Any:
        """Wait for a request; return its result (None if it went into memory) or raise its error."""
        with self._lock:
            while not future.done:
                self._read_next()
        if future.error is not None:
            raise future.error
        return future.result

    def final_after(self, handle: int, ident: int) -> Any:
        """Return the last observations of games that this step of the handle ended, which the server sends unasked."""
        with self._lock:
            self._waiting.append(waiting := Future(0, "final"))
            try:
                while self._finals.get(handle, (None,))[0] != ident:
                    self._read_next()
            finally:
                if waiting in self._waiting:
                    self._waiting.remove(waiting)
            return self._finals.pop(handle)[1]

    # -- bytes ------------------------------------------------------------------------

    def _send(self, future: Future, request: bytes) -> Future:
        with self._lock:
            self._check()
            unsent = memoryview(request)
            try:
                self._waiting.append(future)
                while unsent:
                    unsent = unsent[self._sock.send(unsent, self._flags) :]
            except OSError as error:
                where = f"{future.method}: after {len(request) - len(unsent)} of {len(request)} bytes of the request"
                raise self._failed(where, error) from error
            except BaseException:  # Ctrl-C in the middle of a request
                self._lose_place(len(request) > _WHOLE or 0 < len(unsent) < len(request))
                raise
            return future

    def _recv(self, buffer: memoryview, got: int, want: int | str) -> int:
        """Receive into a buffer and return the number of bytes; got and want are for error messages."""
        if not got:
            buffer[0] = _NOTHING
        try:
            if self._fds is None:
                n = self._sock.recv_into(buffer)
            else:
                data, fds, _, _ = socket.recv_fds(self._sock, len(buffer), 16, _CLOEXEC)
                n, buffer[: len(data)] = len(data), data
                self._fds += fds
            if n == 0:
                raise ConnectionResetError("it has closed the connection")
        except OSError as error:
            where = f"{self._waiting[0].method}: after {got} of {want} bytes of the answer"
            raise self._failed(where, error) from error
        except BaseException:
            self._untouched = not got and buffer[0] == _NOTHING
            raise
        return int(n)

    def _read_next(self) -> None:
        """Read the next message, whichever request it answers; an interruption in the middle of it loses the place."""
        self._check()
        self._untouched, future = False, self._waiting[0]
        start, frame, total = future.start, future.frame, future.length
        try:
            if start and not self._leftover:
                kept, got = bytes(frame[HEAD:_SMALL]), self._recv(frame, 0, total)
                while got < total and frame[: min(got, HEAD)] == start[:got]:
                    got += self._recv(frame[got:], got, total)
                if frame[:HEAD] == start:
                    self._waiting.popleft()
                    if future.into is not None and future.into.frame is None:
                        future.into.fill(frame[HEAD:])
                    future.done = True
                    return
                self._leftover = bytes(frame[:got])  # an error, or the answer to another request
                frame[HEAD : HEAD + len(kept)] = kept  # a step that fails changes nothing
            self._read_message()
        except errors.BlockyardError:
            raise
        except BaseException:
            if not self._untouched:
                self._lose_place()
            raise

    def _read_message(self) -> None:
        """Read one message of any shape and deliver it."""
        start, self._leftover = self._leftover, b""
        unpacker = msgpack.Unpacker(max_buffer_size=self.max_reply + (1 << 16), strict_map_key=False)
        chunk = self._chunk = self._chunk or memoryview(bytearray(_CHUNK))
        fed, last = len(start), memoryview(start)
        try:
            unpacker.feed(start)
            while True:
                try:
                    message = unpacker.unpack()
                    break
                except msgpack.OutOfData:
                    last = chunk[: self._recv(chunk, fed, "?")]
                    unpacker.feed(last)
                    fed += len(last)
        except (ValueError, msgpack.UnpackException, msgpack.BufferFull) as error:
            what = f"the server sent what is no message: {error}; is it a blockyard server?"
            raise self._break(errors.ProtocolError(what)) from error
        if extra := fed - unpacker.tell():
            self._leftover = bytes(last[len(last) - extra :])
        match message:
            case [2, "final", [int(handle), int(ident), dict(result)]]:
                self._finals[handle] = (ident, result)
            case [1, ident, error, result]:
                self._deliver(ident, error, result)
            case _:
                what = f"the server sent a message that is no response: {message!r:.200}"
                raise self._break(errors.ProtocolError(what))

    def _deliver(self, ident: Any, error: Any, result: Any) -> None:
        future = next((one for one in self._waiting if one.ident == ident), None)
        if future is None:
            strange = errors.ProtocolError(f"the server answered request {ident}, which does not exist")
            raise self._break(strange if error is None else errors.from_wire(error, "connection"))
        self._waiting.remove(future)
        if error is not None:
            future.error = errors.from_wire(error, future.method)
            if isinstance(future.error, errors.ProtocolError):
                self._break(future.error)
        elif future.into is None:
            future.result = result
        else:
            got = len(result) if isinstance(result, bytes) else "no"
            if got != future.into.size:
                what = f"{future.method}: {got} bytes where {future.into.size} were announced"
                raise self._break(errors.ProtocolError(what))
            future.into.fill(result)
        future.done = True

    # -- failures ---------------------------------------------------------------------

    def _check(self) -> None:
        if self._pid != os.getpid():
            what = f"this connection belongs to process {self._pid}, this is process {os.getpid()}"
            raise errors.ForkError(f"{what}: create a new environment in the forked process")
        if self._broken is not None:
            raise type(self._broken)(*self._broken.args)
        if self._place_lost:
            self._find_place()

    def _lose_place(self, halfway: bool = False) -> None:
        """Let the next request find where its answer begins, unless this one may have been sent in part."""
        if halfway:
            self._break(errors.ServerGoneError("the connection was closed: a request was interrupted half-way"))
        self._fail_waiting(errors.ServerGoneError("the request was interrupted, and its answer is lost"))
        self._leftover, self._place_lost = b"", True

    def _find_place(self) -> None:
        """Drop all that the server has sent, up to the answer to a new request that is recognised by its number."""
        self._place_lost, ident = False, secrets.randbits(31) | 1 << 31
        end, last = _DONE.pack(0x94, 0x01, 0xCE, ident, 0xC0, 0xC3), b""
        chunk = self._chunk = self._chunk or memoryview(bytearray(_CHUNK))
        self._send(Future(ident, "ping"), b"\x94\0" + msgpack.packb(ident) + b"\xa4ping\x90")
        with errors.on_error(self._lose_place):
            while not last.endswith(end):  # which is the last that the server sends
                last = (last + chunk[: self._recv(chunk, 0, len(end))])[-len(end) :]
        self._waiting.clear()

    def _fail_waiting(self, error: errors.BlockyardError) -> None:
        for future in self._waiting:
            future.done, future.error = True, error
        self._waiting.clear()

    def _break(self, error: errors.BlockyardError) -> errors.BlockyardError:
        if self._broken is None:
            self._broken = error
            self._fail_waiting(error)
            self._finalizer()
        return error

    def _failed(self, where: str, error: OSError) -> errors.BlockyardError:
        """Close the connection, whose socket has failed, and return the error for the caller."""
        where = f"{where}: the server at {self.address}"
        if isinstance(error, TimeoutError):
            what = f"{where} did nothing for {self.timeout:g} s; see whether it hangs, or pass a larger timeout="
            return self._break(errors.ServerTimeoutError(what))
        note = self.exit_note() if self.exit_note else ""
        return self._break(errors.ServerGoneError(f"{where} is gone: {error}{note}"))
