"""Waiting for the games of a pool that are in flight."""

from __future__ import annotations

import select
import time
from collections import deque

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError, EnvironmentsError, OpponentError, ServerTimeoutError
from .batch import Received
from .server import PoolServer, until
from .stats import PoolClock


class PoolWaiting:
    """The part of BlockPool that receives games from its servers.

    Attributes:
        num_games, timeout: see the pool.
    """

    num_games: int
    timeout: float
    _servers: list[PoolServer]
    _healing: bool
    _ready: deque[Received]
    _waits: NDArray[np.bool_]
    _clock: PoolClock

    _late: BlockyardError | None = None  # for the next recv

    @property
    def _lost_seconds(self) -> float:
        return sum(server.lost_seconds for server in self._servers)

    @property
    def _flying(self) -> int:
        return sum(server.flying for server in self._servers)

    def _await(self, least: int, most: int, timeout: float | None = None) -> None:
        """Receive games until so many are ready, or none are in flight, or the time is over.

        The time without a server does not count. Without a timeout it is the pool's, and a server whose games can
        continue elsewhere is waited for until it counts as lost.
        """
        seconds = self.timeout if timeout is None else timeout
        lost, deadline = self._lost_seconds, time.monotonic() + seconds
        while (have := sum(len(one.games) for one in self._ready)) < least and self._flying:
            found = self._collect(least - have, most, deadline)
            for server in self._servers:
                server.check()
            if self._lost_seconds > lost:
                lost, deadline = self._lost_seconds, time.monotonic() + seconds
            elif not (found or until(deadline) or (timeout is None and any(s.silent for s in self._servers))):
                return

    def _settle(self) -> None:
        if not self._healing:
            return
        while self._flying:
            before = self._flying
            try:
                self._await(self.num_games, self.num_games)
            except (EnvironmentsError, OpponentError) as error:
                self._late = self._late or error
            if self._flying == before:
                raise ServerTimeoutError(f"{before} games are in flight after {self.timeout:g} s; call recv first")

    def _collect(self, least: int, most: int, deadline: float) -> bool:
        """Receive games that are done, and wait for some until the deadline. Return whether there were any."""
        servers = [server for server in self._servers if server.flying or server.asked]
        for server in servers:
            server.ask(least if len(servers) == 1 else 1, most, until(deadline))
        if len(servers) > 1:
            by_fd = {server.env.client.connection.fileno(): server for server in servers}
            servers = [server for server in servers if server.readable()]
            if not servers:
                servers = [by_fd[fd] for fd in select.select(list(by_fd), [], [], until(deadline) + 1)[0]]
        found, first_error = False, None
        for server in servers:
            try:
                received, refused, error = server.answer()
            except BlockyardError as failed:
                first_error = first_error or failed
                continue
            for games in refused:
                self._waits[games] = True
            if received is not None:
                self._clock.received(received.games)
                self._ready.append(received)
                found = True
            first_error = first_error or error
        if first_error is not None:
            raise first_error
        return found
