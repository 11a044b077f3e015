"""The games of a pool on one server: what was sent to it, what it returns, and how they go on without it."""

from __future__ import annotations

import select
import time
import weakref
from collections import deque

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError, EnvironmentsError, OpponentError, ServerTimeoutError
from ..transport.connection import Future
from ..transport.healing import LOST, HealingTransport
from ..transport.memory import Handle, StepMemory, resized
from ..vector.env import BlockVectorEnv
from .batch import Received, some

_MOST_WAIT = 10.0  # seconds for which a server is asked to wait; the pool then asks again


class PoolServer:
    """Sends the games of env, from index first on, to one server and receives them, if possible without waiting."""

    _lost: tuple[type[BlockyardError], ...] = ()  # errors that concern the server, not the games that were sent

    def __init__(self, env: BlockVectorEnv, first: int) -> None:
        self.env, self.first, self.flying = env, first, 0
        self._sent: deque[tuple[Future, NDArray[np.int64]]] = deque()  # answers to come
        self.asked: Future | None = None  # the recv that waits at the server
        self._wait = 0.0  # seconds for which it waits
        self._layouts: dict[int, Handle] = {}  # by number of games
        self._playing = np.zeros((env.num_games, env.seats), "<u2")  # opponents, in the field ``opponent``

    def send(self, games: NDArray[np.int64], actions: NDArray[np.uint16]) -> None:
        """Send games of the pool, with the actions of their rows."""
        self._sent.append(self._post(games, actions))
        self.flying += len(games)

    def _post(self, games: NDArray[np.int64], actions: NDArray[np.uint16]) -> tuple[Future, NDArray[np.int64]]:
        ids, leaf = (games - self.first).astype("<u4"), self.env.engine.transport.leaf
        if leaf.policies.by_name:
            leaf.policies.check()
            leaf.answer(ids)
        number = leaf.handle.number
        return self.env.client.connection.post("send", number, ids.tobytes(), actions.tobytes()), games

    def ask(self, least: int, most: int, seconds: float) -> None:
        """Ask for games whose step is done, unless that was done before."""
        if self.asked is None:
            connection, number = self.env.client.connection, self.env.engine.transport.handle.number
            self._wait = max(0.0, min(seconds, _MOST_WAIT, connection.timeout / 2))
            least = max(1, min(least, self.flying))
            most = min(max(least, most), self.env.num_games)
            self.asked = connection.post("recv", number, least, most, int(1000 * self._wait))

    def readable(self) -> bool:
        """Whether bytes of an answer have been received already, or none can come any more."""
        connection = self.env.client.connection
        return connection.buffered or not connection.open

    @property
    def silent(self) -> bool:
        """Whether an answer is overdue of a server whose games can continue elsewhere."""
        return False

    def check(self) -> None:
        """Give up a server that has not answered for the timeout, if its games can continue elsewhere."""

    def receive(self, waits: NDArray[np.bool_], refusals: list[BlockyardError]) -> Received | None:
        """Wait for the answers to all that was sent and asked, and return the games that came.

        Games whose step was refused are marked in waits; the errors are added to refusals.
        """
        connection = self.env.client.connection
        while self._sent:
            future, games = self._sent[0]
            try:
                connection.wait(future)
            except BlockyardError as failed:
                if not connection.open or isinstance(failed, self._lost):
                    raise
                if isinstance(failed, EnvironmentsError):
                    failed.renumber(self.first)
                self._arrived(games)
                waits[games] = True
                refusals.append(failed)
            self._sent.popleft()
        asked, self.asked = self.asked, None
        if asked is None:
            return None
        try:
            answer = connection.wait(asked)
        except BlockyardError:
            self.flying = 0
            raise
        ids = np.frombuffer(answer["envs"], "<u4").astype(np.int64)
        if not len(ids):
            return None
        received = Received(ids + self.first, StepMemory.separate(self._layout(len(ids)), answer["slab"]))
        if self.env.engine.transport.leaf.policies.by_name:
            received = self._complete(received)
            if not len(received.games):
                return None
        self._arrived(received.games, received.memory)
        self._add_finals(received)
        if (fetch := self.env.engine.fetch) is not None:
            fetch()
        return received

    def _arrived(self, games: NDArray[np.int64], memory: StepMemory | None = None) -> None:
        """Note that games are not in flight any more; memory has their results, unless they were refused."""
        self.flying -= len(games)
        if memory is not None and "opponent" in memory.arrays:
            self._playing[games - self.first] = memory.arrays["opponent"]
            self.env.engine.opponents.seen(self._playing)

    def _complete(self, received: Received) -> Received:
        """Return the games whose step is over; the others, which wait for answers of policies, go on."""
        leaf, ids = self.env.engine.transport.leaf, received.games - self.first
        waiting = np.isin(ids, np.frombuffer(leaf.ask(ids.astype("<u4"))["waiting"], "<u4"))
        if not waiting.any():
            return received
        try:
            ignored = np.zeros((int(waiting.sum()), self.env.rows_per_game), "<u2")
            self._sent.append(self._post(received.games[waiting], ignored))
        except Exception:
            self.flying = 0  # the games that wait are lost until all are reset
            leaf.policies.fail()
            raise
        return some(received, self.env.engine.transport.handle, ~waiting)

    def _layout(self, games: int) -> Handle:
        return self._layouts.get(games) or self._layouts.setdefault(
            games, resized(self.env.engine.transport.handle, games)
        )

    def _add_finals(self, received: Received) -> None:
        """Fetch the final positions of the games that ended, before their next step overwrites them."""
        memory = received.memory
        if self.env.autoreset_mode.value == "SameStep" and (memory.terminated | memory.truncated).any():
            final = self.env.final()
            received.finals = {int(game) + self.first: (final, k) for k, game in enumerate(final.games)}

    def reset(self, seed: int | None) -> Received:
        """Start new episodes in all games."""
        self.env.reset(seed=seed)
        if "opponent" in self.env.engine.batch.current.arrays:
            self._playing[:] = self.env.engine.batch.current.arrays["opponent"]
        games = np.arange(self.first, self.first + self.env.num_games)
        return Received(games, self.env.engine.batch.current)

    def busy(self) -> tuple[float, int]:
        """Return the seconds that the server's workers spent on steps, all together, and their number."""
        d = self.env.engine.transport.call("stream_stats")
        return float(d["busy_s"]), int(d["workers"])


class HealingPoolServer(PoolServer):
    """Sends the games in flight again to the server that takes them over.

    A step counts once its results have been read: then it is in the journal of the transport. All else that a lost
    server has done is forgotten: its games are rebuilt as they were before their steps in flight.
    """

    _lost = LOST

    def __init__(self, env: BlockVectorEnv, first: int) -> None:
        super().__init__(env, first)
        assert isinstance(env.engine.transport, HealingTransport)
        self._transport = env.engine.transport
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

    def reset(self, seed: int | None) -> Received:
        self._away[:] = False
        return super().reset(seed)

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
