"""The connection against servers that misbehave, each simulated by a script of bytes."""

from __future__ import annotations

import contextlib
import socket
import struct
import threading
import time

import msgpack
import numpy as np
import pytest
from conftest import shorten

import blockyard
from blockyard.transport.address import Address
from blockyard.transport.connection import Connection
from blockyard.transport.memory import HEAD


class Script:
    """Accepts one connection, and answers each request with answer(request), piece by piece."""

    def __init__(self, path, answers) -> None:
        self.requests: list[bytes] = []
        self._listener = socket.socket(socket.AF_UNIX)
        self._listener.bind(str(path))
        self._listener.listen()
        self.address = Address.parse(f"unix:{path}")
        self._answers = answers
        self._received = threading.Semaphore(0)
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        with self._listener, self._listener.accept()[0] as sock:
            for answer in self._answers:
                self.requests.append(sock.recv(65536))
                self._received.release()
                for piece in answer(self.requests[-1]) if callable(answer) else answer:
                    sock.sendall(piece)
                    time.sleep(0.002)
            if self._answers[-1:] != [HANG]:
                sock.shutdown(socket.SHUT_WR)
            with contextlib.suppress(ConnectionResetError):
                sock.recv(1)

    def wait_for_request(self) -> None:
        """Wait until one more request has come, so that the next comes by itself."""
        assert self._received.acquire(timeout=60)

    def join(self) -> None:
        self._thread.join(60)
        assert not self._thread.is_alive()


HANG: list[bytes] = []


@pytest.fixture
def script(tmp_path):
    made = []

    def make(*answers, timeout=60.0):
        server = Script(tmp_path / f"s{len(made)}", list(answers))
        connection = Connection(server.address, timeout)
        made.append((server, connection))
        return server, connection

    yield make
    for server, connection in made:
        connection.close()
        server.join()


def ok(result):
    return lambda request: [msgpack.packb([1, msgpack.unpackb(request)[1], None, result])]


def slab(ident: int, payload: bytes) -> bytes:
    return b"\x94\x01\xce" + struct.pack(">I", ident) + b"\xc0\xc6" + struct.pack(">I", len(payload)) + payload


def refusal(ident: int, code=400, name="illegal_action") -> bytes:
    return msgpack.packb([1, ident, {"code": code, "name": name, "msg": "no", "data": {"envs": [1]}}, None])


ACTIONS = memoryview(b"\x00\x00")


class Memory:
    """The memory of a step, with or without room for the head of an answer."""

    def __init__(self, size: int, framed: bool = False) -> None:
        whole = memoryview(bytearray(HEAD + size))
        self.size, self.data, self.frame = size, whole[HEAD:], whole if framed else None

    def fill(self, data) -> None:
        self.data[:] = data


def step(connection, memory, handle=1, actions=ACTIONS):
    connection.wait(connection.post_step(handle, actions, memory))
    return bytes(memory.data)


def in_pieces(connection, size):
    """Step into memory without room for the head of the answer."""
    return step(connection, Memory(size))


def at_once(connection, size):
    """Step into memory with room for the head of the answer, in one call."""
    return step(connection, Memory(size, framed=True))


ways = pytest.mark.parametrize("way", [in_pieces, at_once])


def test_calls(script):
    server, connection = script(ok(True), ok({"a": b"x" * 100}))
    assert connection.call("ping") is True
    assert connection.call("ask", 7, {"b": 1}) == {"a": b"x" * 100}
    assert msgpack.unpackb(server.requests[1]) == [0, 2, "ask", [7, {"b": 1}]]


def test_step_bytes(script):
    server, connection = script([slab(1, b"abcdefgh")])
    assert step(connection, Memory(8), 3, memoryview(b"\x01\x00\x02\x00")) == b"abcdefgh"
    assert server.requests[0] == bytes.fromhex("9400ce00000001a47374657092ce00000003c600000004") + b"\x01\x00\x02\x00"


@ways
@pytest.mark.parametrize("size", [1, 3, 13, 14])
def test_dribbled_slabs(script, size, way):
    payload = np.random.default_rng(size).bytes(100)
    message = slab(1, payload)
    server, connection = script([message[i : i + size] for i in range(0, len(message), size)])
    assert way(connection, 100) == payload
    assert server.requests[0] == bytes.fromhex("9400ce00000001a47374657092ce00000001c600000002") + b"\x00\x00"


def pushed(ident: int, handle: int = 1) -> bytes:
    return bytes(msgpack.packb([2, "final", [handle, ident, {"ended": ident}]]))


@pytest.mark.parametrize("size", [1, 7, 21, 1000])
@ways
def test_last_observations_behind_slabs(script, size, way):
    """Those of step 2 are read; those of step 1, which nobody read, and of another handle are skipped."""
    first, second = slab(1, b"12345678") + pushed(1), pushed(1, 7) + slab(2, b"abcdefgh") + pushed(2)
    pieces = [[m[i : i + size] for i in range(0, len(m), size)] for m in (first, second)]
    _, connection = script(*pieces, ok("still here"))
    assert way(connection, 8) == b"12345678"
    assert way(connection, 8) == b"abcdefgh"
    assert connection.final_after(1, 2) == {"ended": 2}
    assert connection.call("ping") == "still here"


@pytest.mark.parametrize("size", [1, 5, 1000])
@pytest.mark.parametrize("room", [4, 20, 500])
@ways
def test_refused_steps(script, size, room, way):
    message = refusal(1)
    _, connection = script([message[i : i + size] for i in range(0, len(message), size)], ok("still here"))
    with pytest.raises(blockyard.IllegalActionError, match="step: no"):
        way(connection, room)
    assert connection.call("ping") == "still here"


def test_pipelined_answers_in_one_piece(script):
    """Two steps in flight: the first is refused, both answers come as one piece and are read in the other order."""
    server, connection = script([], [refusal(1) + slab(2, b"12345678")])
    second = Memory(8)
    a = connection.post_step(1, ACTIONS, Memory(64))
    server.wait_for_request()
    b = connection.post_step(2, ACTIONS, second)
    connection.wait(b)
    assert second.data == b"12345678"
    with pytest.raises(blockyard.IllegalActionError):
        connection.wait(a)


def test_refusal_overtakes(script):
    server, connection = script([], [refusal(2, 500, "busy"), slab(1, b"1234")])
    first = Memory(4)
    a = connection.post_step(1, ACTIONS, first)
    server.wait_for_request()
    b = connection.post_step(2, ACTIONS, Memory(4))
    connection.wait(a)
    assert first.data == b"1234"
    with pytest.raises(blockyard.BusyError):
        connection.wait(b)


@pytest.mark.parametrize(
    ("answer", "what"),
    [
        (b"\xc1", "no message"),
        (b"HTTP/1.1 400 Bad Request\r\n\r\n", "no response"),
        (msgpack.packb([2, "hi", []]), "no response"),
        (msgpack.packb([2, "final", []]), "no response"),
        (msgpack.packb([2, "final", [1, 1, b"x"]]), "no response"),
        (msgpack.packb([1, 99, None, 1]), "request 99"),
        (slab(1, b"123"), "3 bytes where 8"),
        (slab(7, b"12345678"), "request 7"),
        (msgpack.packb([1, 1, None, {"x": 1}]), "no bytes where 8"),
        (msgpack.packb([1, 0, {"code": 100, "name": "bad_frame", "msg": "gibberish"}, None]), "gibberish"),
    ],
)
@ways
def test_nonsense(script, answer, what, way):
    _, connection = script([answer])
    with pytest.raises(blockyard.ProtocolError, match=what):
        way(connection, 8)
    with pytest.raises(blockyard.BlockyardError):
        connection.call("ping")
    assert not connection.open


@ways
@pytest.mark.parametrize("cut", [0, 5, 13, 60])
def test_cut_off(script, cut, way):
    _, connection = script([slab(1, bytes(100))[:cut]])
    with pytest.raises(blockyard.ServerGoneError, match=rf"step: after {cut} of 113 bytes"):
        way(connection, 100)


@ways
@pytest.mark.parametrize("cut", [0, 5, 60])
def test_silence(script, cut, way):
    def answer(request):
        shorten(connection, 0.2)
        return [slab(1, bytes(100))[:cut]] if cut else []

    _, connection = script(answer, HANG, timeout=60 if cut else 0.2)
    with pytest.raises(blockyard.ServerTimeoutError, match=rf"step: after {cut} of 113 bytes.*0\.2 s"):
        way(connection, 100)


def test_longer_than_announced_is_not_believed(script):
    _, connection = script([b"\x94\x01\xce\x00\x00\x00\x01\xc0\xc6\xff\xff\xff\xff"])
    connection.max_reply = 1000
    with pytest.raises(blockyard.BlockyardError):
        connection.call("ping")


def test_addresses():
    assert str(Address.parse("tcp:[::1]:80")) == "tcp:::1:80"
    assert Address.parse("tcp:[::1]:80").host == "::1"
    assert Address.parse("unix:/a:b").path == "/a:b"
    for bad in ("", "unix:", "tcp:", "tcp:h", "tcp:h:x", "tcp:h:0", "tcp:h:99999", "http://x", "/tmp/x"):
        with pytest.raises(ValueError, match="unix:PATH"):
            Address.parse(bad)


def word(ident: int) -> bytes:
    return b"\x94\x01\xce" + struct.pack(">I", ident) + b"\xc0\xc3"


@pytest.mark.parametrize("size", [1, 8, 100])
def test_slots(script, size):
    """A short answer in pieces, an error instead of it, and the end of the connection."""

    def pieces(message):
        return [message[i : i + size] for i in range(0, len(message), size)]

    server, connection = script(pieces(word(1)), pieces(refusal(2)), [word(3)])
    connection.wait(connection.post_slot(3, 7))
    assert server.requests[0] == bytes.fromhex("9400ce00000001a9737465705f736c6f7492ce00000003ce00000007")
    with pytest.raises(blockyard.IllegalActionError, match="step: no"):
        connection.wait(connection.post_slot(3, 7))
    connection.wait(connection.post_slot(3, 7))
    with pytest.raises(blockyard.ServerGoneError):
        connection.wait(connection.post_slot(3, 7))


def test_a_step_at_once_while_another_is_under_way(script):
    """The answer to the first step comes first and is kept."""
    server, connection = script([], [slab(1, b"1234") + slab(2, b"12345678")])
    first = Memory(4)
    pending = connection.post_step(1, ACTIONS, first)
    server.wait_for_request()
    assert step(connection, Memory(8, framed=True), 2) == b"12345678"
    connection.wait(pending)
    assert first.data == b"1234"
