"""Those at the HTTP doors of the chaos test: they hold bad connections open, and good ones must be answered."""

from __future__ import annotations

import base64
import http.client
import json
import os
import random
import re
import resource
import signal
import socket
import struct
import subprocess
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

OPENENV_GAME = "Blocking-v0"
FEW_FILES = 512  # that a tournament may have open

_PATIENCE = 120  # seconds for an answer
_PAUSE = 2  # seconds between two visits of a door
_BAD = {
    "silence": b"",
    "half a head": b"GET / HT",
    "half a body": b"POST /reset HTTP/1.1\r\nHost: localhost\r\nContent-Length: 60000\r\n\r\n{",
    "kept after an answer": b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n",
    "nonsense": bytes(range(256)) * 16,
}


def hold(host: str, chance: random.Random) -> Iterator[socket.socket]:
    """Open bad connections: a few of each kind, or sometimes more than a server keeps."""
    address, port = host.rsplit(":", 1)
    for way, text in _BAD.items():
        for _ in range(80 if chance.random() < 0.1 else 8):
            conn = socket.create_connection((address, int(port)), _PATIENCE)
            with suppress(OSError):  # another one has pushed it out
                conn.sendall(text)
            if way == "half a body" and chance.random() < 0.5:
                conn.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))  # its close is a reset
            yield conn


def ask(host: str, method: str, path: str, body: Any = None, **headers: str) -> tuple[Any, str]:
    """Send a request; return the answer (of JSON, what it says) and the MCP session."""
    conn = http.client.HTTPConnection(host, timeout=_PATIENCE)
    headers = {"Content-Type": "application/json", "Accept": "application/json, text/event-stream", **headers}
    try:
        conn.request(method, path, None if body is None else json.dumps(body), headers)
        reply = conn.getresponse()
        text = reply.read().decode()
        if reply.status == http.HTTPStatus.TOO_MANY_REQUESTS:
            raise BlockingIOError(path)
        assert reply.status // 100 == 2, f"{method} {path}: {reply.status}: {text}"
        is_json = reply.headers.get("Content-Type", "").startswith("application/json")
        return json.loads(text) if is_json else text, reply.headers.get("Mcp-Session-Id", "")
    finally:
        conn.close()


class Socket:
    """A client of nothing but a WebSocket with short messages."""

    def __init__(self, host: str) -> None:
        """Connect."""
        address, port = host.rsplit(":", 1)
        self._socket = socket.create_connection((address, int(port)), _PATIENCE)
        self._file = self._socket.makefile("rb")
        key = base64.b64encode(os.urandom(16)).decode()
        self._socket.sendall(
            f"GET /ws HTTP/1.1\r\nHost: {host}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
            f"Sec-WebSocket-Key: {key}\r\nSec-WebSocket-Version: 13\r\n\r\n".encode()
        )
        assert b" 101 " in self._file.readline(), "no WebSocket"
        while self._file.readline().strip():
            pass

    def send(self, message: dict[str, Any]) -> Any:
        """Send a message and return the answer."""
        text = json.dumps(message).encode()
        self._socket.sendall(struct.pack("!BBHI", 0x81, 0x80 | 126, len(text), 0) + text)
        length = self._file.read(2)[1]
        if length > 125:
            length = int.from_bytes(self._file.read(2 if length == 126 else 8), "big")
        return json.loads(self._file.read(length))

    def close(self) -> None:
        """End the connection, without a word."""
        self._file.close()
        self._socket.close()


def openenv(host: str, chance: random.Random) -> None:
    """Play a few moves over a WebSocket, over HTTP and over MCP."""
    ws = Socket(host)
    seen = ws.send({"type": "reset", "data": {"seed": chance.randrange(1000)}})["data"]
    for _ in range(3):
        move = chance.choice(seen["observation"]["legal_moves"])
        seen = ws.send({"type": "step", "data": {"move": move}})["data"]
        assert not seen["observation"]["error"], seen
    ws.close()
    name = f"soak{chance.randrange(1 << 40)}"
    seen, _ = ask(host, "POST", "/reset", {"seed": 1, "episode_id": name})
    move = chance.choice(seen["observation"]["legal_moves"])
    seen, _ = ask(host, "POST", "/step", {"action": {"move": move}, "episode_id": name})
    assert not seen["observation"]["error"], seen

    def mcp(method: str, params: Any, session: str, number: int | None = 1) -> tuple[Any, str]:
        body = {"jsonrpc": "2.0", "method": method, "params": params}
        extra = {"Mcp-Session-Id": session} if session else {}
        return ask(host, "POST", "/mcp", body | ({"id": number} if number else {}), **extra)

    hello = {"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "soak", "version": "1"}}
    seen, session = mcp("initialize", hello, "")
    assert session, seen
    mcp("notifications/initialized", {}, session, None)
    seen, _ = mcp("tools/list", {}, session)
    assert seen["result"]["tools"], seen
    seen, _ = mcp("tools/call", {"name": "play", "arguments": {"move": "nonsense"}}, session)
    assert "legal moves" in json.dumps(seen), seen
    ask(host, "DELETE", "/mcp", **{"Mcp-Session-Id": session})


def metrics(host: str, chance: random.Random) -> None:
    """Ask for the health and the metrics."""
    for path, want in (("/healthz", ""), ("/readyz", ""), ("/metrics", "blockyard_")):
        text, _ = ask(host, "GET", path)
        assert want in text, f"{path}: {text}"


def watch(host: str, chance: random.Random) -> None:
    """Look at games; who comes too soon after another look comes again."""
    seen = None
    while seen is None:
        with suppress(BlockingIOError):
            seen, _ = ask(host, "GET", f"/watch?count={chance.randint(1, 64)}")
        time.sleep(0.2)
    assert "games" in seen, seen


def page(host: str, chance: random.Random) -> None:
    """Read the page of a tournament."""
    text, _ = ask(host, "GET", "/")
    assert "<table" in text, text[:500]


DOORS: dict[str, Callable[[str, random.Random], None]]
DOORS = {"openenv": openenv, "http": metrics, "watch": watch, "tournament": page}


def visit(door: str, host: str, chance: random.Random) -> None:
    """Hold bad connections to a door, and be answered beside them."""
    with ExitStack() as held:
        for conn in hold(host, chance):
            held.callback(conn.close)
        DOORS[door](host, chance)


@contextmanager
def visiting(hosts: dict[str, str], seed: int, visits: Counter[str], failures: list[str]) -> Iterator[None]:
    """Visit all doors again and again, each in a thread of its own; count visits, and note what went wrong."""
    over = threading.Event()

    def come_again(door: str, chance: random.Random) -> None:
        while not over.wait(_PAUSE):
            try:
                visit(door, hosts[door], chance)
            except Exception as error:
                failures.append(f"{door}, visit {visits[door]}: {type(error).__name__}: {error}"[:1000])
            visits[door] += 1

    threads = [
        threading.Thread(target=come_again, args=(door, random.Random(seed + k)), daemon=True)
        for k, door in enumerate(hosts)
    ]
    for thread in threads:
        thread.start()
    try:
        yield
    finally:
        over.set()
        for thread in threads:
            thread.join(10 * _PATIENCE)


@contextmanager
def tournament(server: Path, folder: Path, games: int) -> Iterator[str]:
    """Run a tournament with few open files, and yield the address of its page. It must end without an error."""
    command = [str(server), "tournament", "blockbattle", "first", "random", "--games", str(games), "--finals=0"]
    command += ["--quiet", "--listen=127.0.0.1:0", f"--out={folder / 'tournament'}", "--isolate=off"]
    path = folder / "tournament.log"

    def few() -> None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (FEW_FILES, FEW_FILES))

    with path.open("wb") as log:
        process = subprocess.Popen(command, stdout=log, stderr=log, preexec_fn=few)
    try:
        while not (address := re.search(r"http://(\S+)/\s", path.read_text())) and process.poll() is None:
            time.sleep(0.05)
        if address:
            yield address[1]
    finally:
        process.send_signal(signal.SIGINT)
        status, said = process.wait(_PATIENCE), path.read_text()
    if status != 0 or "panic" in said or not address:
        raise SystemExit(f"the tournament ended with {status} and said\n{said[-4000:]}")
