"""The games of a pool on one server: what was sent to it, and what it returns."""

from __future__ import annotations

import time
from collections import deque

import numpy as np
from numpy.typing import NDArray

from .errors import BlockyardError, EnvironmentsError
from .pool_batch import Received
from .transport.futures import Future
from .transport.layout import Handle, resized
from .transport.memory import StepMemory
from .vector import BlockVectorEnv

_MOST_WAIT = 10.0  # seconds for which a server is asked to wait; the pool then asks again


class PoolServer:
    """Sends games to one server and receives them, without waiting where that is possible.

    Attributes:
        env: the games; between recv and send its methods can be used for them.
        first: index of its first game in the pool.
        flying: number of games in flight.
    """

    def __init__(self, env: BlockVectorEnv, first: int) -> None:
        env.client.require("stream", "BlockPool")
        self.env, self.first, self.flying = env, first, 0
        self._sent: deque[tuple[Future, NDArray[np.int64]]] = deque()  # answers to come
        self._asked: Future | None = None  # the recv that waits at the server

    @property
    def asked(self) -> bool:
        """Whether a recv waits at the server."""
        return self._asked is not None

    def send(self, games: NDArray[np.int64], actions: NDArray[np.uint16]) -> None:
        """Send games of the pool, with the actions of their rows."""
        ids = (games - self.first).astype("<u4")
        future = self.env.client.connection.post("send", self.env._handle.number, ids.tobytes(), actions.tobytes())
        self._sent.append((future, games))
        self.flying += len(games)

    def ask(self, least: int, most: int, seconds: float) -> None:
        """Ask for games whose step is done, unless that was done before."""
        if self._asked is None:
            connection = self.env.client.connection
            wait = int(1000 * max(0.0, min(seconds, _MOST_WAIT, connection.timeout / 2)))
            least = max(1, min(least, self.flying))
            most = min(max(least, most), self.env.num_games)
            self._asked = connection.post("recv", self.env._handle.number, least, most, wait)

    def readable(self) -> bool:
        """Whether bytes of an answer have been received already."""
        return self.env.client.connection.buffered

    def answer(self) -> tuple[Received | None, list[NDArray[np.int64]], BlockyardError | None]:
        """Read the answers to everything that was sent and asked; wait for them.

        Returns:
            The games that came, None for none; the games whose step was refused; and the first error.
        """
        connection, refused, error = self.env.client.connection, [], None
        while self._sent:
            future, games = self._sent.popleft()
            try:
                connection.wait(future)
            except BlockyardError as failed:
                if not connection.open:
                    raise
                if isinstance(failed, EnvironmentsError):
                    failed.renumber(self.first)
                self.flying -= len(games)
                refused.append(games)
                error = error or failed
        asked, self._asked = self._asked, None
        if asked is None:
            return None, refused, error
        try:
            answer = connection.wait(asked)
        except BlockyardError:
            self.flying = 0
            raise
        ids = np.frombuffer(answer["envs"], "<u4").astype(np.int64)
        if not len(ids):
            return None, refused, error
        self.flying -= len(ids)
        received = Received(ids + self.first, StepMemory(self._layout(len(ids)), bytearray(answer["slab"])))
        self._add_finals(received)
        self.env._fetch_records()
        return received, refused, error

    def _layout(self, games: int) -> Handle:
        layouts = self.__dict__.setdefault("_layouts", {})
        if games not in layouts:
            layouts[games] = resized(self.env._handle, games)
        layout: Handle = layouts[games]
        return layout

    def _add_finals(self, received: Received) -> None:
        """Fetch the final positions of the games that ended, before their next step overwrites them."""
        memory = received.memory
        if self.env.autoreset_mode.value == "SameStep" and (memory.terminated | memory.truncated).any():
            final = self.env.final()
            received.finals = {int(game) + self.first: (final, k) for k, game in enumerate(final.games)}

    def reset(self, seed: int | None) -> Received:
        """Start new episodes in all games."""
        self.env.reset(seed=seed)
        games = np.arange(self.first, self.first + self.env.num_games)
        return Received(games, self.env._current())

    def busy(self) -> tuple[float, int]:
        """Return the seconds that the server's workers spent on steps, all together, and their number."""
        d = self.env.client.connection.call("stream_stats", self.env._handle.number)
        return float(d["busy_s"]), int(d["workers"])


def until(deadline: float) -> float:
    """Return the seconds that are left, at least 0."""
    return max(0.0, deadline - time.monotonic())
