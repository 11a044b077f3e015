"""The limits of the machine: a bare socket, a copy of memory, and a null game.

``socket``: two processes exchange a request and an answer of given lengths. ``memcpy``: as many bytes are copied to the
next of four places. ``null``: a game whose step costs nothing, over our protocol.
"""

from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import blockyard
from blockyard.transport.server import find_server

from ..stepper import Stepper

ROOM = 4
ECHO = Path(__file__).resolve().parent.parent / "echo.py"
_BUFFER = 4 << 20  # bytes, as on the sockets of the client


class Bare(Stepper):
    """A request and an answer between two processes."""

    def __init__(self, envs: int, ask: int, answer: int) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        path = f"{self.folder.name}/s"
        self.peer = subprocess.Popen(
            [sys.executable, ECHO, path, str(ask), str(answer)], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.peer.stdout is not None
        if self.peer.stdout.readline() != b"ready\n":
            raise RuntimeError("the other end of the bare socket did not come up")
        self.sock = socket.socket(socket.AF_UNIX)
        for option in (socket.SO_RCVBUF, socket.SO_SNDBUF):
            self.sock.setsockopt(socket.SOL_SOCKET, option, _BUFFER)
        self.sock.connect(path)
        self.request, self.memory = bytes(ask), memoryview(bytearray(ROOM * answer))
        self.places = [self.memory[k * answer : (k + 1) * answer] for k in range(ROOM)]
        self.envs = self.rows = envs
        self.size, self.others = answer, [self.peer.pid]

    def prepare(self, want: int) -> int:
        return want

    def play(self, steps: int) -> None:
        send, receive, request, size = self.sock.sendall, self.sock.recv_into, self.request, self.size
        for t in range(steps):
            send(request)
            got = receive(self.places[t % ROOM], 0, socket.MSG_WAITALL)
            if got != size:
                raise RuntimeError(f"the bare socket gave {got} bytes of {size}")

    def close(self) -> None:
        self.sock.close()
        self.peer.wait()
        self.folder.cleanup()


class Copy(Stepper):
    """Bytes copied from one place in memory into the next of several."""

    def __init__(self, envs: int, answer: int) -> None:
        super().__init__()
        self.source = np.ones(answer, np.uint8)
        self.places = np.zeros((ROOM, answer), np.uint8)
        self.envs = self.rows = envs
        self.size = answer

    def prepare(self, want: int) -> int:
        return want

    def play(self, steps: int) -> None:
        places, source, copy = list(self.places), self.source, np.copyto
        for t in range(steps):
            copy(places[t % ROOM], source)


class Null(Stepper):
    """A game that costs nothing, over our own protocol."""

    def __init__(self, envs: int, transport: str) -> None:
        super().__init__()
        self.folder = tempfile.TemporaryDirectory()
        command = [str(find_server()), "serve", "--listen", f"unix:{self.folder.name}/s", "--parent-death", "--toy"]
        self.server = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
        )
        assert self.server.stdout is not None
        address = json.loads(self.server.stdout.readline())["ready"][0]
        name = f"null:{envs}"
        self.env = blockyard.make_vec(name, 1, address=address, seed=1, opponents=None, transport=transport)  # type: ignore[arg-type]
        self.buffer = self.env.buffer(ROOM)
        self.envs, self.rows = envs, self.env.num_envs
        self.size, self.others, self.at = self.env.engine.transport.handle.slab_len, [self.server.pid], -1
        self.moves: list[Any] = []
        self._record()
        self.about = {"blockyard": blockyard.__version__}

    def _record(self) -> None:
        rng = np.random.default_rng(1)
        self.env.reset(seed=1)
        for _ in range(64):
            self.moves.append(self.env.sample_actions(rng).astype(np.uint16))
            self.env.step(self.moves[-1])
        self.at = len(self.moves)

    def prepare(self, want: int) -> int:
        if self.at == len(self.moves):
            self.env.reset(seed=1)
            self.at = 0
        return min(want, len(self.moves) - self.at)

    def play(self, steps: int) -> None:
        for t in range(self.at, self.at + steps):
            self.env.step(self.moves[t], out=self.buffer[t % ROOM])
        self.at += steps

    def close(self) -> None:
        self.env.close()
        assert self.server.stdin is not None
        self.server.stdin.close()
        self.server.wait()
        self.folder.cleanup()


def start(name: str, options: dict[str, Any]) -> Stepper:
    """Open a floor: options are envs, threads, and ask and answer, the lengths of messages in bytes."""
    os.environ["GOMAXPROCS"] = str(options["threads"])
    if name == "socket":
        return Bare(options["envs"], options["ask"], options["answer"])
    if name == "memcpy":
        return Copy(options["envs"], options["answer"])
    if name in ("null, socket", "null, shm"):
        return Null(options["envs"], name.removeprefix("null, "))
    raise ValueError(f"no floor {name!r}")
