"""The games of a pool on one server: what was sent to it, what it returns, and how they go on without it."""

import select
import time
import weakref
from collections import deque

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError, ServerTimeoutError
from ..transport.connection import Connection, Future
from ..transport.healing import LOST, HealingTransport
from ..transport.over_socket import SocketTransport
from ..vector.engine import Engine
from .batch import Results

_NO_GAMES = np.zeros(0, np.int64)
_MOST_WAIT = 10.0  # seconds for which a server is asked to wait; the pool then asks again


class PoolServer:
    """Sends the games of one server, from index first on, and receives them, if possible without waiting."""

    _lost: tuple[type[BlockyardError], ...] = ()  # errors that concern the server, not the games that were sent

    def __init__(self, part: SocketTransport, first: int, engine: Engine, results: Results) -> None:
        """Talk to the server of a part of the engine's games."""
        self.part, self.first, self._engine, self._results = part, first, engine, results
        self._away = np.zeros(part.handle.games, np.bool_)  # in flight
        self._sent: deque[tuple[Future, NDArray[np.int64]]] = deque()  # answers to come
        self.asked: Future | None = None  # the recv that waits at the server
        self._wait = 0.0  # seconds for which it waits

    @property
    def connection(self) -> Connection:
        """The connection that answers now: another one after its server was lost."""
        return self.part.client.connection

    @property
    def flying(self) -> int:
        """The number of games in flight."""
        return int(np.count_nonzero(self._away))

    def send(self, games: NDArray[np.int64], actions: NDArray[np.uint16]) -> None:
        """Send games of the pool, with the actions of their rows."""
        posted = self._post(games, actions)
        self._sent.append(posted)
        self._away[games - self.first] = True

    def _post(self, games: NDArray[np.int64], actions: NDArray[np.uint16]) -> tuple[Future, NDArray[np.int64]]:
        ids, leaf = (games - self.first).astype("<u4"), self.part.leaf
        if leaf.policies.by_name:
            leaf.policies.check()
            leaf.answer(ids)
        return self.connection.post("send", leaf.handle.number, ids.tobytes(), actions.tobytes()), games

    def ask(self, least: int, most: int, seconds: float) -> None:
        """Ask for games whose step is done, unless that was done before."""
        if self.asked is None:
            self._wait = max(0.0, min(seconds, _MOST_WAIT, self.connection.timeout / 2))
            least = max(1, min(least, self.flying))
            most, number = min(max(least, most), self.part.handle.games), self.part.handle.number
            self.asked = self.connection.post("recv", number, least, most, int(1000 * self._wait))

    def readable(self) -> bool:
        """Whether bytes of an answer have been received already, or none can come any more."""
        return self.connection.buffered or not self.connection.open

    @property
    def silent(self) -> bool:
        """Whether an answer is overdue of a server whose games can continue elsewhere."""
        return False

    def check(self) -> None:
        """Give up a server that has not answered for the timeout, if its games can continue elsewhere."""

    def receive(self, waits: NDArray[np.bool_], refusals: list[BlockyardError]) -> NDArray[np.int64]:
        """Wait for the answers to all that was sent and asked, and return the games that came.

        Games whose step was refused are marked in waits; the errors are added to refusals.
        """
        while self._sent:
            future, games = self._sent[0]
            try:
                self.connection.wait(future)
            except BlockyardError as failed:
                if not self.connection.open or isinstance(failed, self._lost):
                    raise
                self._arrived(games, refused=True)
                waits[games] = True
                refusals.append(failed)
            self._sent.popleft()
        asked, self.asked = self.asked, None
        if asked is None:
            return _NO_GAMES
        try:
            answer = self.connection.wait(asked)
        except BlockyardError as failed:
            self._forget(failed)
            raise
        games = np.frombuffer(answer["envs"], "<u4").astype(np.int64) + self.first
        if len(games):
            self._results.put_slab(games, answer["slab"])
            games = self._over(games)
        if len(games):
            self._arrived(games)
            self._keep(games)
        return games

    def _over(self, games: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return the games whose step is over; the others, which wait for answers of policies, go on."""
        leaf = self.part.leaf
        if not leaf.policies.by_name:
            return games
        asked = leaf.ask((games - self.first).astype("<u4"))
        waiting = np.isin(games, np.frombuffer(asked["waiting"], "<u4") + self.first)
        if waiting.any():
            try:
                ignored = np.zeros((int(waiting.sum()), leaf.handle.rows_per_game), "<u2")
                self._sent.append(self._post(games[waiting], ignored))
            except Exception as failed:
                self._forget(failed)  # the games that wait are lost until all are reset
                leaf.policies.broken = True
                raise
        return games[~waiting]

    def _arrived(self, games: NDArray[np.int64], refused: bool = False) -> None:
        """Note that games are not in flight any more: their results are there, or their step was refused."""
        self._away[games - self.first] = False

    def _forget(self, failed: Exception) -> None:
        """Note that no games are in flight any more, unless they continue elsewhere."""
        self._away[:] &= isinstance(failed, self._lost)

    def _keep(self, games: NDArray[np.int64]) -> None:
        """Do after a step what must be done before the next: keep final positions and records, forget policies."""
        engine, field = self._engine, self._results.field
        engine.opponents.seen(field("opponent", slice(None)))
        if engine.batch.same_step and (field("terminated", games) | field("truncated", games)).any():
            self._results.put_finals(self.first, engine.batch.final_step(self.part.finals()))
        if engine.fetch is not None:
            engine.recording.poll([self.part])

    def busy(self) -> tuple[float, int]:
        """Return the seconds that the server's workers spent on steps, all together, and their number."""
        d = self.part.call("stream_stats")
        return float(d["busy_s"]), int(d["workers"])


class HealingPoolServer(PoolServer):
    """Sends the games in flight again to the server that takes them over.

    A step counts once its results have been read: then it is in the journal of the transport. All else that a lost
    server has done is forgotten: its games are rebuilt as they were before their steps in flight.
    """

    _lost = LOST

    part: HealingTransport

    def __init__(self, part: HealingTransport, first: int, engine: Engine, results: Results) -> None:
        super().__init__(part, first, engine, results)
        part.eager = True
        part.on_rebuilt = weakref.WeakMethod(self._send_again)  # it does not keep its environment alive
        self._actions = np.zeros((part.handle.games, part.handle.rows_per_game), "<u2")  # sent last
        self._asked_at = 0.0
        self._slow: ServerTimeoutError | None = None  # since the last results

    @property
    def silent(self) -> bool:
        return self.asked is not None and time.monotonic() > self._asked_at + self._wait + 1 and not self._speaks()

    def send(self, games: NDArray[np.int64], actions: NDArray[np.uint16]) -> None:
        self._actions[games - self.first] = actions
        send = super().send
        self.part.retry(lambda: send(games, actions))

    def ask(self, least: int, most: int, seconds: float) -> None:
        if self.asked is None:
            ask = super().ask
            self.part.retry(lambda: ask(least, most, seconds))
            self._asked_at = time.monotonic()

    def check(self) -> None:
        timeout = self.connection.timeout
        if self.asked is not None and time.monotonic() > self._asked_at + timeout and not self._speaks():
            slow = ServerTimeoutError(f"recv: the server at {self.connection.address} did nothing for {timeout:g} s")
            self.part.check_slow(slow, self._slow)
            self._slow = slow
            self.part.recover(slow)

    def _speaks(self) -> bool:
        """Whether bytes of an answer are here, or none can come any more."""
        return self.readable() or bool(select.select([self.connection.fileno()], [], [], 0)[0])

    def receive(self, waits: NDArray[np.bool_], refusals: list[BlockyardError]) -> NDArray[np.int64]:
        try:
            received = super().receive(waits, refusals)
        except LOST as lost:
            self.part.recover(lost)
            return _NO_GAMES
        if len(received):
            self._slow = None
            if self.part.due()[received - self.first].any():
                often = self.part.due(0.5) & ~self._away
                self.part.save(np.flatnonzero(often).astype("<u4"))
        return received

    def _arrived(self, games: NDArray[np.int64], refused: bool = False) -> None:
        super()._arrived(games)
        ids = games - self.first
        if not refused:
            self.part.log(ids.astype("<u4"), self._actions[ids], self._results.field("moves", games))

    def _send_again(self) -> None:
        """Send the games in flight to the server on which they have been rebuilt.

        Those that no server has accepted so far, which may be refused, are sent as they were sent together at first.
        """
        self.asked = None
        unanswered = [games for _, games in self._sent]
        accepted = self._away.copy()
        for games in unanswered:
            accepted[games - self.first] = False
        sent = [np.flatnonzero(accepted) + self.first, *unanswered]
        self._sent = deque(self._post(games, self._actions[games - self.first]) for games in sent if len(games))
