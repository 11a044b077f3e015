"""The limits of the machine: a bare socket and a null game.

``socket``: two processes exchange a request and an answer of given lengths, which is read into the next of four places.
``null``: a game whose step costs nothing, over our protocol.
"""

from __future__ import annotations

import functools
import socket
import sys
from pathlib import Path
from typing import Any

import blockyard

from ..echo import widen
from ..servers import Server, ours
from ..stepper import Stepper
from .ours import ROOM, Games, buffered

ECHO = Path(__file__).resolve().parent.parent / "echo.py"


class Bare(Stepper):
    """A request and an answer between two processes."""

    def __init__(self, envs: int, ask: int, answer: int) -> None:
        self.peer = Server(sys.executable, ECHO, "{folder}/s", str(ask), str(answer))
        super().__init__(envs, answer, others=[self.peer.pid])
        self.env = socket.socket(socket.AF_UNIX)
        widen(self.env)
        self.env.connect(f"{self.peer.folder}/s")
        self.request, self.memory = bytes(ask), memoryview(bytearray(ROOM * answer))
        self.places = [self.memory[k * answer : (k + 1) * answer] for k in range(ROOM)]

    def play(self, steps: int) -> None:
        send, receive, request, size = self.env.sendall, self.env.recv_into, self.request, self.size
        for t in range(steps):
            send(request)
            got = receive(self.places[t % ROOM], 0, socket.MSG_WAITALL)
            if got != size:
                raise RuntimeError(f"the bare socket gave {got} bytes of {size}")

    def close(self) -> None:
        super().close()
        self.peer.close()


@functools.cache
def server() -> Server:
    """Return the server of all null games of this process."""
    return ours("--toy")


def start(name: str, options: dict[str, Any]) -> Stepper:
    """Open a floor: options are envs, and ask and answer, the lengths of messages in bytes."""
    if name == "socket":
        return Bare(**options)
    null, transport = f"null:{options['envs']}", name.removeprefix("null, ")
    where: Any = {"address": server().said["ready"][0], "transport": transport}
    env = blockyard.make_vec(null, 1, seed=1, opponents=None, **where)
    games = Games(env, [server().pid], buffered(env))
    games.envs = options["envs"]
    return games
