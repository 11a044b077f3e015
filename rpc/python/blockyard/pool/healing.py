"""The games of a pool on one server, which continue elsewhere when it is lost."""

from __future__ import annotations

import select
import time
import weakref
from collections import deque

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError, OpponentError, ServerTimeoutError
from ..transport.healing import LOST, HealingTransport
from ..transport.memory import StepMemory
from ..vector.env import BlockVectorEnv
from .batch import Received
from .server import PoolServer


class HealingPoolServer(PoolServer):
    """Sends the games in flight again to the server that takes them over.

    A step counts once its results have been read: then it is in the journal of the transport. All else that a lost
    server has done is forgotten: its games are rebuilt as they were before their steps in flight.
    """

    _lost = LOST

    def __init__(self, env: BlockVectorEnv, first: int) -> None:
        super().__init__(env, first)
        assert isinstance(env._transport, HealingTransport)
        self._transport = env._transport
        self._transport.eager = True
        self._transport.on_rebuilt = weakref.WeakMethod(self._send_again)  # it does not keep its environment alive
        self._away = np.zeros(env.num_games, np.bool_)  # in flight
        self._actions = np.zeros((env.num_games, env.rows_per_game), "<u2")  # sent last
        self._asked_at = 0.0
        self._slow: ServerTimeoutError | None = None  # since the last results

    @property
    def silent(self) -> bool:
        return self.asked is not None and time.monotonic() > self._asked_at + self._wait + 1 and not self._speaks()

    def send(self, games: NDArray[np.int64], actions: NDArray[np.uint16]) -> None:
        ids = games - self.first
        self._actions[ids] = actions
        posted = self._transport.retry(lambda: self._post(games, actions))
        self._sent.append(posted)
        self._away[ids] = True
        self.flying += len(games)

    def ask(self, least: int, most: int, seconds: float) -> None:
        if self.asked is None:
            ask = super().ask
            self._transport.retry(lambda: ask(least, most, seconds))
            self._asked_at = time.monotonic()

    def check(self) -> None:
        connection = self.env.client.connection
        if self.asked is not None and time.monotonic() > self._asked_at + connection.timeout and not self._speaks():
            what = f"recv: the server at {connection.address} did nothing for {connection.timeout:g} s"
            slow = ServerTimeoutError(what)
            self._transport.check_slow(slow, self._slow)
            self._slow = slow
            self._transport.recover(slow)

    def _speaks(self) -> bool:
        """Whether bytes of an answer are here, or none can come any more."""
        return self.readable() or bool(select.select([self.env.client.connection.fileno()], [], [], 0)[0])

    def receive(self, waits: NDArray[np.bool_], refusals: list[BlockyardError]) -> Received | None:
        try:
            received = super().receive(waits, refusals)
        except LOST as lost:
            self.flying = int(np.count_nonzero(self._away))
            self._transport.recover(lost)
            return None
        except OpponentError:
            self._away[:] = False
            raise
        if received is not None:
            self._slow = None
            if self._transport.due()[received.games - self.first].any():
                often = self._transport.due(0.5) & ~self._away
                self._transport.save(np.flatnonzero(often).astype("<u4"))
        return received

    def _arrived(self, games: NDArray[np.int64], memory: StepMemory | None = None) -> None:
        super()._arrived(games, memory)
        ids = games - self.first
        self._away[ids] = False
        if memory is not None:
            self._transport.log(ids.astype("<u4"), self._actions[ids], memory)

    def _send_again(self) -> None:
        """Send the games in flight to the server on which they have been rebuilt.

        Those that no server has accepted so far, which may be refused, are sent as they were sent together at first.
        """
        self.asked, self.flying = None, int(np.count_nonzero(self._away))
        unanswered = [games for _, games in self._sent]
        accepted = self._away.copy()
        for games in unanswered:
            accepted[games - self.first] = False
        sent = [np.flatnonzero(accepted) + self.first, *unanswered]
        self._sent = deque(self._post(games, self._actions[games - self.first]) for games in sent if len(games))
