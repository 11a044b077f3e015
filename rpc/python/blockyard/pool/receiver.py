"""Waiting for the games of a pool that are in flight, and measuring it."""

import select
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError, EnvironmentsError, OpponentError, ServerTimeoutError
from ..formats.arguments import integer
from .server import PoolServer


class PoolClock:
    """Measures a pool from its first send on."""

    def __init__(self, games: int) -> None:
        self._sent_at = np.zeros(games)
        self._begun = self._waited = self._latency = self._longest = 0.0
        self._steps = self._batches = 0

    def sent(self, games: NDArray[Any]) -> None:
        """Note that games are sent."""
        now = time.perf_counter()
        self._begun = self._begun or now
        self._sent_at[games] = now

    @contextmanager
    def waiting(self) -> Iterator[None]:
        """Count the time of the block as one of recv."""
        begun = time.perf_counter()
        try:
            yield
        finally:
            if self._begun:
                self._waited += time.perf_counter() - begun
                self._batches += 1

    def received(self, games: NDArray[Any]) -> None:
        """Note that the server returned games."""
        took = time.perf_counter() - self._sent_at[games]
        self._steps += len(games)
        self._latency += float(took.sum())
        self._longest = max(self._longest, float(took.max()))

    def stats(self, busy: float, workers: int) -> dict[str, float]:
        """Return the statistics; busy: seconds of work of all workers together."""
        total = time.perf_counter() - self._begun if self._begun else 0.0
        return {
            "steps": self._steps,
            "batches": self._batches,
            "occupancy": _share(self._latency, total * len(self._sent_at)),  # a game is in flight for its latency
            "wait": _share(self._waited, total),
            "latency_s": _share(self._latency, self._steps),
            "latency_max_s": self._longest,
            "workers": workers,
            "busy": _share(busy, total * workers),
        }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0


class Receiver:
    """Receives the games of a pool from its servers."""

    def __init__(self, servers: list[PoolServer], games: int, timeout: float, clock: PoolClock) -> None:
        self.servers = servers
        self.waits = np.zeros(games, np.bool_)  # the games that recv has returned, and that were not sent since
        self.ready = np.zeros(0, np.int64)  # games that recv has not returned yet, in the order in which they finished
        self.late: BlockyardError | None = None  # raised by the next recv
        self._timeout, self._clock = timeout, clock

    @property
    def flying(self) -> int:
        """The number of games that servers are stepping."""
        return sum(server.flying for server in self.servers)

    def begin(self) -> None:
        """Note that new episodes have begun in all games."""
        self.waits[:] = False
        self.ready, self.late = np.arange(len(self.waits)), None

    def wait(self, least: int, most: int, timeout: float | None = None) -> None:
        """Receive games until so many are ready, none are in flight, or the time, with a server, is over.

        Without a timeout, a server whose games can continue elsewhere is waited for until it counts as lost.
        """
        seconds = self._timeout if timeout is None else timeout
        lost, deadline = self._lost_seconds(), time.monotonic() + seconds
        while (have := len(self.ready)) < least and self.flying:
            found = self._collect(least - have, most, deadline)
            for server in self.servers:
                server.check()
            if self._lost_seconds() > lost:
                lost, deadline = self._lost_seconds(), time.monotonic() + seconds
            elif not (found or _until(deadline) or (timeout is None and any(s.silent for s in self.servers))):
                return

    def wait_for_all(self) -> None:
        """Receive all games in flight. What a server refused is raised by the next recv."""
        while before := self.flying:
            try:
                self.wait(len(self.waits), len(self.waits))
            except (EnvironmentsError, OpponentError) as error:
                self.late = self.late or error
            if self.flying == before:
                raise ServerTimeoutError(f"{before} games are in flight after {self._timeout:g} s; call recv first")

    def take(self, most: int) -> NDArray[np.int64]:
        """Return at most this many games that are ready, which wait for actions then."""
        games, self.ready = self.ready[:most], self.ready[most:]
        self.waits[games] = True
        return games

    def wanted(self, min_envs: int | None, max_envs: int | None, batch: int, rows: int) -> tuple[int, int]:
        """Return the least and the largest number of games for recv, given rows: by default, batch games."""
        least = None if min_envs is None else -(-integer("min_envs", min_envs) // rows)
        most = None if max_envs is None else integer("max_envs", max_envs) // rows
        there = self.flying + len(self.ready)
        if least is None:
            least = max(1, min(batch, there, batch if most is None else most))
        if most is None:
            most = max(least, batch)
        if most < 1 or least > most:
            want = f"min_envs <= max_envs, and max_envs of at least the {rows} row{'s' if rows > 1 else ''} of a game"
            raise ValueError(f"recv: min_envs={min_envs}, max_envs={max_envs}: want {want}")
        if least > there:
            what = f"min_envs={least * rows}, but only {there * rows} rows are under way"
            raise ValueError(f"recv: {what}; send actions first")
        return max(1, least), most

    def _lost_seconds(self) -> float:
        return sum(server.part.lost_seconds for server in self.servers)

    def _collect(self, least: int, most: int, deadline: float) -> bool:
        """Receive games that are done, and wait for some until the deadline; return whether there were any."""
        servers = [server for server in self.servers if server.flying or server.asked]
        for server in servers:
            server.ask(least if len(servers) == 1 else 1, most, _until(deadline))
        if len(servers) > 1:
            by_fd = {server.connection.fileno(): server for server in servers}
            servers = [server for server in servers if server.readable()]
            if not servers:
                servers = [by_fd[fd] for fd in select.select(list(by_fd), [], [], _until(deadline) + 1)[0]]
        found, errors = False, list[BlockyardError]()
        for server in servers:
            try:
                received = server.receive(self.waits, errors)
            except BlockyardError as failed:
                errors.append(failed)
                continue
            if len(received):
                self._clock.received(received)
                self.ready = np.concatenate([self.ready, received])
                found = True
        if errors:
            raise errors[0]
        return found


def _until(deadline: float) -> float:
    return max(0.0, deadline - time.monotonic())
