"""Asynchronous stepping: any games are sent, and those that finish first are received."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ServerTimeoutError
from ..formats.arguments import copy_actions, integer, positive
from ..formats.checkpoint_file import Checkpoint
from ..formats.seeding import check_seed, fresh_seed
from ..transport.address import Tls
from ..transport.heal_options import healing_of
from ..transport.sharded import servers_of
from ..vector.batch import Batch
from ..vector.checkpoint import resume
from ..vector.env import BlockVectorEnv
from ..vector.games import Path, start_with
from .batch import PoolBatch, Received, join, read, split
from .healing import HealingPoolServer
from .opponents import PoolOpponents
from .records import PoolRecords
from .server import PoolServer
from .stats import PoolClock
from .waiting import PoolWaiting


class BlockPool(PoolWaiting, PoolOpponents, PoolRecords):
    """Many games that are stepped one by one, like EnvPool's asynchronous mode.

    ``send`` takes actions for any rows that ``recv`` has returned, and ``recv`` returns those whose step finished
    first. The server steps games while the policy chooses actions for others, and a game with a slow opponent
    delays no other. A game is stepped as soon as each of its rows has an action. Its observations and rewards depend
    on its seed and its actions alone: they are bit-identical to those of one environment with all games, in whatever
    order games are sent and received.

    A pool wins where the time of a step varies from game to game (opponents that search, games that end) or where
    the policy takes about as long as the server. With opponents of a fixed, small cost, ``step`` of
    :class:`BlockVectorEnv` is faster: it is one message for all games. ``docs/pool.md`` has a measured comparison.

    Attributes:
        num_envs: number of rows.
        num_games: number of games.
        rows_per_game: rows of each game.
        batch_size: number of games that recv returns by default.
        timeout: seconds that recv waits for a server before it counts as gone.
        envs: the vector environments, one per server, each with consecutive games. Their methods, such as
            ``afterstates(env_ids)``, can be used for games that wait for an action; they must not be stepped.
    """

    def __init__(
        self,
        game: str,
        num_envs: int,
        batch_size: int,
        *,
        seed: int | None = None,
        address: str | Sequence[str] | None = None,
        token: str | None = None,
        tls: Tls = None,
        timeout: float = 30.0,
        record: Path | Mapping[str, Any] | None = None,
        checkpoint: bytes | None = None,
        heal: bool = False,
        snapshot_every: int = 64,
        heal_timeout: float = 60.0,
        **kwargs: Any,
    ) -> None:
        """Create the games.

        Args:
            game: as in :func:`blockyard.make_vec`.
            num_envs: number of games.
            batch_size: number of games that recv returns by default, at most num_envs.
            seed: game i is seeded with seed + i; None: from the operating system's entropy.
            address: address of a server, or ``"dns:NAME:PORT"``; or a list of addresses, over which the games are
                distributed.
            token, tls, timeout: as in :func:`blockyard.make_vec`.
            record: the games are recorded into one file; as in :func:`blockyard.make_vec`.
            checkpoint: what :meth:`checkpoint` returned: the first ``async_reset`` without a seed continues its games.
            heal, snapshot_every, heal_timeout: as in :func:`blockyard.make_vec`. Games in flight are sent again.
            **kwargs: other arguments of :func:`blockyard.make_vec`, except ``copy`` and ``slots``.
        """
        self.num_games, self.batch_size = positive("num_envs", num_envs), positive("batch_size", batch_size)
        if self.batch_size > self.num_games:
            raise ValueError(f"batch_size: want at most num_envs={self.num_games}, got {batch_size}")
        count = 1 if address is None or isinstance(address, str) else len(address)
        if not 1 <= count <= self.num_games:
            raise ValueError(f"address: {count} servers for {num_envs} games, want 1 to {num_envs}")
        healing = healing_of(heal, address, kwargs.get("client"), tls, heal_timeout, snapshot_every)
        where = servers_of(address, tls, self.num_games)
        if checkpoint is not None and seed is not None:
            raise ValueError("seed: the games of a checkpoint have seeds of their own; leave out seed or checkpoint")
        seed = fresh_seed() % (1 << 32) if seed is None else check_seed(seed)
        self.envs: list[BlockVectorEnv] = []
        self._servers: list[PoolServer] = []
        self._healing = healing is not None
        try:
            first = 0
            for k, at in enumerate(where):
                size = self.num_games // len(where) + (k < self.num_games % len(where))
                options: dict[str, Any] = {
                    "first": first,
                    "seed": seed,
                    "address": at,
                    "token": token,
                    "tls": tls,
                    "timeout": timeout,
                    "heal": healing or False,
                }
                self.envs.append(BlockVectorEnv(game, size, **options, **kwargs))
                self.envs[0].game_spec.check_same(self.envs[k].game_spec, str(at))
                kind = PoolServer if healing is None else HealingPoolServer
                self._servers.append(kind(self.envs[-1], first))
                first += size
            if record is not None:
                start_with([env._games for env in self.envs], record)
            if checkpoint is not None:
                resume([env._checkpoints for env in self.envs], Checkpoint.from_bytes(checkpoint))
        except BaseException:
            self.close()
            raise
        self.timeout, self.rows_per_game = timeout, self.envs[0].rows_per_game
        self.num_envs = self.num_games * self.rows_per_game
        self._actions = np.zeros(self.num_envs, "<u2")
        self._has_action = np.zeros(self.num_envs, np.bool_)
        self._waits = np.zeros(self.num_games, np.bool_)  # games that recv returned and that were not sent since
        self._acting = np.zeros(self.num_envs, np.bool_)
        self._seats = np.zeros(self.num_envs, np.uint8)
        self._ready: deque[Received] = deque()
        self._batches: dict[int, Batch] = {}
        self._clock = PoolClock(self.num_games)

    def async_reset(self, seed: int | None = None) -> None:
        """Start new episodes in all games; recv returns their observations, with zero rewards and flags.

        Args:
            seed: game i is seeded with seed + i; None continues the sequence of each game.

        Raises:
            RuntimeError: steps are under way.
        """
        self._refuse_flying("async_reset")
        self._has_action[:] = self._waits[:] = self._acting[:] = False
        self._ready = deque(server.reset(seed) for server in self._servers)
        self._late = None

    # -- sending ----------------------------------------------------------------------

    def send(self, actions: Any, env_ids: Any = None) -> None:
        """Send actions for rows that recv has returned; any of them, in any order.

        An illegal action, with ``illegal="error"``, raises IllegalActionError in a later :meth:`recv`. The games that
        were sent together with it then wait for actions again.

        Args:
            actions: integers (n,).
            env_ids: integers (n,), indices of the rows; None means all rows in order.

        Raises:
            ValueError: a row does not exist, appears twice, or is not waiting for an action.
        """
        ids = np.arange(self.num_envs) if env_ids is None else np.asarray(env_ids)
        numbers = ids.ndim == 1 and ids.dtype.kind in "iu"
        if not numbers or (len(ids) and not (ids.min() >= 0 and ids.max() < self.num_envs)):
            raise ValueError(f"env_ids: want a list of integers from 0 to {self.num_envs - 1}, got {env_ids!r:.100}")
        ids, row = ids.astype(np.intp, copy=False), np.zeros(len(ids), "<u2")
        copy_actions(actions, row)
        if not self._waits[ids // self.rows_per_game].all():
            bad = int(ids[~self._waits[ids // self.rows_per_game]][0])
            raise ValueError(f"send: row {bad} is not waiting for an action; call recv until it returns the row")
        before = self._has_action.copy()
        self._has_action[ids] = True
        if np.count_nonzero(self._has_action) != np.count_nonzero(before) + len(ids):
            self._has_action = before
            raise ValueError("send: a row appears twice in env_ids or has an action already; call recv first")
        self._actions[ids] = row
        games = ids
        if self.rows_per_game > 1:
            games = np.unique(ids // self.rows_per_game)
            games = games[self._has_action.reshape(self.num_games, -1)[games].all(axis=1)]
        if len(games):
            self._post(games)

    def _post(self, games: NDArray[np.intp]) -> None:
        """Send games whose rows all have actions."""
        self._clock.sent(games, self._flying)
        self._waits[games] = False
        self._has_action.reshape(self.num_games, -1)[games] = False
        actions = self._actions.reshape(self.num_games, -1)
        for server in self._servers:
            mine = games
            if len(self._servers) > 1:
                mine = games[(games >= server.first) & (games < server.first + server.env.num_games)]
            if len(mine):
                server.send(mine, actions[mine])

    # -- receiving --------------------------------------------------------------------

    def recv(self, min_envs: int | None = None, max_envs: int | None = None, timeout: float | None = None) -> PoolBatch:
        """Wait for steps to be done, and return their results in the order in which they finished.

        By default it returns batch_size games: as long as so many are under way, every batch has the same shape.

        Args:
            min_envs: number of rows to wait for; by default those of batch_size games, or of max_envs, or all that are
                under way, if these are less.
            max_envs: largest number of rows to return; by default those of batch_size games, or min_envs if that is
                more. The others come next time. Games are returned with all their rows.
            timeout: seconds after which recv returns what is ready; by default the pool's timeout.

        Raises:
            ServerTimeoutError: nothing was ready in time.
            IllegalActionError, NeedsResetError: the server refused actions; their games wait for actions again.
            OpponentError: an opponent failed; call async_reset.
            ValueError: min_envs is more than max_envs or than are under way, or max_envs is less than one game.
        """
        late, self._late = self._late, None
        if late is not None:
            raise late
        least, most = self._wanted(min_envs, max_envs)
        self._clock.waiting(self._flying)
        try:
            self._await(least, most, timeout)
        finally:
            self._clock.waited(self._flying)
        if not self._ready:
            seconds = self.timeout if timeout is None else timeout
            raise ServerTimeoutError(f"recv: no step was done within {seconds:g} s; pass a larger timeout=")
        return self._batch(most)

    def _wanted(self, min_envs: int | None, max_envs: int | None) -> tuple[int, int]:
        """Return the least and the largest number of games to return."""
        rows = self.rows_per_game
        least = None if min_envs is None else -(-integer("min_envs", min_envs) // rows)
        most = None if max_envs is None else integer("max_envs", max_envs) // rows
        there = self._flying + sum(len(one.games) for one in self._ready)
        if least is None:
            least = max(1, min(self.batch_size, there, self.batch_size if most is None else most))
        if most is None:
            most = max(least, self.batch_size)
        if most < 1 or least > most:
            raise ValueError(
                f"recv: min_envs={min_envs}, max_envs={max_envs}: want min_envs <= max_envs, and max_envs of at least "
                f"the {rows} row{'s' if rows > 1 else ''} of a game"
            )
        if least > there:
            raise ValueError(
                f"recv: min_envs={least * rows}, but only {there * rows} rows are under way; send actions first"
            )
        return max(1, least), most

    def _reader(self, games: int) -> Batch:
        """Return what reads the memory of this many games."""
        if games not in self._batches:
            self._batches[games] = self.envs[0]._batch.resized(games)
        return self._batches[games]

    def _batch(self, most: int) -> PoolBatch:
        """Return the results of at most this many games."""
        parts: list[Received] = []
        while self._ready and most > 0:
            one = self._ready.popleft()
            if len(one.games) > most:
                one, rest = split(one, self._reader(len(one.games)).handle, most)
                self._ready.appendleft(rest)
            parts.append(one)
            most -= len(one.games)
        total = sum(len(part.games) for part in parts)
        reader = self._reader(total)
        received = join(parts, reader.handle)
        rows = (received.games[:, None] * self.rows_per_game + np.arange(self.rows_per_game)).reshape(-1)
        result = read(reader, received, self._seats[rows], self._acting[rows])
        self._seats[rows] = received.memory.seat
        self._acting[rows] = result[4]["acting"]
        self._waits[received.games] = True
        return PoolBatch(rows, result)

    # -- the rest -----------------------------------------------------------------------

    def stats(self) -> dict[str, float]:
        """Return how well the pool is used since the first :meth:`send`.

        ============== ======================================================================================
        ``steps``      steps of single games that were received
        ``batches``    number of batches that recv returned or was asked for
        ``occupancy``  mean share of the games that were in flight, 0 to 1
        ``wait``       share of the time that recv waited for the server: near 0, the policy is the bottleneck
        ``latency_s``  mean time from send to the answer of a game, in seconds; ``latency_max_s``: the longest
        ``workers``    goroutines of the servers that step games
        ``busy``       mean share of these at work: near 1, the servers are the bottleneck
        ============== ======================================================================================
        """
        busy = [server.busy() for server in self._servers]
        return self._clock.stats(self._flying, sum(b for b, _ in busy), sum(n for _, n in busy))

    def close(self) -> None:
        """Free the games."""
        for env in self.envs:
            env.close()

    def __repr__(self) -> str:
        games = f", num_games={self.num_games}" if self.rows_per_game > 1 else ""
        sizes = f"num_envs={self.num_envs}{games}, batch_size={self.batch_size}"
        state = f"{self._flying} games in flight, {len(self.envs)} server{'s' if len(self.envs) > 1 else ''}"
        closed = ", closed" if self.envs[0].closed else ""
        return f"BlockPool({self.envs[0].game_spec.id}, {sizes}, {state}{closed})"

    def __enter__(self) -> BlockPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()
