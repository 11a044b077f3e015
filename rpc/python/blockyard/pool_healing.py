"""The games of a pool on one server, which continue elsewhere when it is lost."""

from __future__ import annotations

import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from .errors import BlockyardError, OpponentError, ServerTimeoutError
from .pool_batch import Received
from .pool_server import PoolServer
from .transport.healing import LOST, HealingTransport
from .transport.memory import StepMemory
from .vector import BlockVectorEnv


class HealingPoolServer(PoolServer):
    """Keeps the actions of the games in flight, and sends these games again to the server that takes them over."""

    def __init__(self, env: BlockVectorEnv, first: int) -> None:
        """Prepare the games of env, which was created with ``heal``."""
        super().__init__(env, first)
        assert isinstance(env._transport, HealingTransport)
        self._transport = env._transport
        self._transport.eager, self._transport.on_rebuilt = True, self._send_again
        self._away = np.zeros(env.num_games, np.bool_)  # in flight
        self._actions = np.zeros((env.num_games, env.rows_per_game), "<u2")  # sent last
        self._asked_at = 0.0

    @property
    def lost_seconds(self) -> float:
        return self._transport.lost_seconds

    def send(self, games: NDArray[np.int64], actions: NDArray[np.uint16]) -> None:
        ids = games - self.first
        self._actions[ids] = actions
        post: Callable[[], None] = lambda: self._post(games, actions)  # noqa: E731
        self._transport.retry(post)
        self._away[ids] = True
        self.flying += len(games)

    def ask(self, least: int, most: int, seconds: float) -> None:
        if self._asked is None:
            self._asked_at = time.monotonic()
            ask = super().ask
            self._transport.retry(lambda: ask(least, most, seconds))

    def answer(self) -> tuple[Received | None, list[NDArray[np.int64]], BlockyardError | None]:
        try:
            received, refused, error = super().answer()
        except LOST as lost:
            self._transport.recover(lost)
            return None, [], None
        except OpponentError:
            self._away[:] = False
            raise
        due = self._transport.due()
        if received is not None and due[received.games - self.first].any():
            often = self._transport.due(0.5) & ~self._away
            self._transport.save(np.flatnonzero(often).astype("<u4"))
        return received, refused, error

    def check(self) -> bool:
        connection = self.env.client.connection
        if self._asked is None or time.monotonic() - self._asked_at < connection.timeout:
            return False
        text = f"recv: the server at {connection.address} did nothing for {connection.timeout:g} s"
        self._transport.recover(ServerTimeoutError(text))
        return True

    def _landed(self, games: NDArray[np.int64], memory: StepMemory | None = None) -> None:
        super()._landed(games, memory)
        ids = games - self.first
        self._away[ids] = False
        if memory is not None:
            self._transport.log(ids.astype("<u4"), self._actions[ids], memory)

    def _send_again(self) -> None:
        """Send the games in flight to the server on which they have been rebuilt."""
        self._asked, self.flying = None, int(np.count_nonzero(self._away))
        unanswered = [games for _, games in self._sent]
        self._sent.clear()
        accepted = self._away.copy()
        for games in unanswered:  # one at a time, as it may be refused
            accepted[games - self.first] = False
        for games in [np.flatnonzero(accepted) + self.first, *unanswered]:
            if len(games):
                self._post(games, self._actions[games - self.first])
