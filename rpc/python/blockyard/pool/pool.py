"""Asynchronous stepping: any games are sent, and those that finish first are received."""

from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError, RequestError, ServerTimeoutError
from ..formats.arguments import copy_actions, positive
from ..transport.healing import HealingTransport
from ..vector.env import BlockVectorEnv
from ..vector.games import Games
from ..vector.options import Options
from .batch import PoolBatch, Results
from .receiver import PoolClock, Receiver
from .server import HealingPoolServer, PoolServer


class BlockPool(Games):
    """Many games that are stepped one by one, like EnvPool's asynchronous mode.

    ``send`` takes actions for any rows that ``recv`` has returned, and ``recv`` returns those whose step finished
    first. The server steps games while the policy chooses actions for others, and a game with a slow opponent
    delays no other. A game is stepped as soon as each of its rows has an action. Its observations and rewards depend
    on its seed and its actions alone: they are bit-identical to those of one environment with all games, in whatever
    order games are sent and received.

    It pays off where the time of a step varies from game to game, or the policy takes about as long as the server; see
    ``docs/pool.md``.

    Attributes:
        num_envs: number of rows.
        num_games: number of games.
        rows_per_game: rows of each game.
        batch_size: number of games that recv returns by default.
        timeout: seconds that recv waits for a server before it counts as gone.
        envs: a list of the vector environment that has the games. Its methods, such as ``afterstates(env_ids)``, can be
            used for games that wait for an action; it must not be stepped.
        engine: the games behind it, for the rest of this package.
    """

    def __init__(self, game: str, num_envs: int, batch_size: int, **options: Any) -> None:
        """Create the games.

        Args:
            game, num_envs: as in :func:`blockyard.make_vec`.
            batch_size: number of games that recv returns by default, at most num_envs.
            **options: others of :func:`blockyard.make_vec`, except ``copy`` and ``slots``. With ``checkpoint``, the
                first ``async_reset`` continues its games, with any seed.
        """
        self.num_games, self.batch_size = positive("num_envs", num_envs), positive("batch_size", batch_size)
        if self.batch_size > self.num_games:
            raise ValueError(f"batch_size: want at most num_envs={self.num_games}, got {batch_size}")
        transport = options.get("transport", "auto")
        if transport == "inproc":
            what = 'transport="inproc": a pool waits for servers in other processes'
            raise RequestError(f"{what}; call blockyard.make_vec")
        Options.refuse(options, "a pool", {name: "call blockyard.make_vec" for name in ("actions", "candidates")})
        options["transport"] = "process" if transport == "auto" else transport
        env = BlockVectorEnv(game, num_envs, **options)
        self.envs, self.engine = [env], env.engine
        self._results, servers = Results(env.engine.batch, self.num_games), list[PoolServer]()
        for part in env.engine.transport.parts:
            first = sum(server.part.handle.games for server in servers)
            kind: Any = HealingPoolServer if isinstance(part, HealingTransport) else PoolServer
            servers.append(kind(part, first, env.engine, self._results))
        self._clock, self.timeout = PoolClock(self.num_games), env.engine.options.timeout
        self._receiver = Receiver(servers, self.num_games, self.timeout, self._clock)
        self.rows_per_game, self.num_envs = env.rows_per_game, env.num_envs
        self._actions = np.zeros(self.num_envs, "<u2")
        self._has_action = np.zeros(self.num_envs, np.bool_)
        self._acting = np.zeros(self.num_envs, np.bool_)
        self._seats = np.zeros(self.num_envs, np.uint8)

    def async_reset(self, seed: int | None = None) -> None:
        """Start new episodes in all games, none of which is under way; recv returns their observations.

        Game i is seeded with seed + i; None continues the sequence of each game.
        """
        self._refuse_flying("async_reset")
        self._has_action[:] = self._acting[:] = False
        self.envs[0].reset(seed=seed)
        self._results.put(np.arange(self.num_games), self.engine.batch.current.arrays)
        self._receiver.begin()

    def send(self, actions: Any, env_ids: Any = None) -> None:
        """Send actions for rows that recv has returned; any of them, in any order.

        An illegal action, with ``illegal="error"``, raises IllegalActionError in a later :meth:`recv`. The games that
        were sent together with it then wait for actions again.

        ``actions`` and ``env_ids``, the indices of their rows, are integers (n,); None means all rows in order.
        ValueError: a row does not exist, appears twice, or is not waiting for an action.
        """
        self._check_open("send")
        ids = np.arange(self.num_envs) if env_ids is None else np.asarray(env_ids)
        numbers = ids.ndim == 1 and ids.dtype.kind in "iu"
        if not numbers or (len(ids) and not (ids.min() >= 0 and ids.max() < self.num_envs)):
            raise ValueError(f"env_ids: want a list of integers from 0 to {self.num_envs - 1}, got {env_ids!r:.100}")
        ids, row = ids.astype(np.intp, copy=False), np.zeros(len(ids), "<u2")
        if not self._receiver.waits[ids // self.rows_per_game].all():
            bad = int(ids[~self._receiver.waits[ids // self.rows_per_game]][0])
            raise ValueError(f"send: row {bad} is not waiting for an action; call recv until it returns the row")
        copy_actions(actions, row, self.envs[0].game_spec.actions, self._acting[ids])
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
        self._clock.sent(games)
        self._receiver.waits[games] = False
        self._has_action.reshape(self.num_games, -1)[games] = False
        actions = self._actions.reshape(self.num_games, -1)
        for server in self._receiver.servers:
            mine = games
            if len(self._receiver.servers) > 1:
                mine = games[(games >= server.first) & (games < server.first + server.part.handle.games)]
            if len(mine):
                server.send(mine, actions[mine])

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
        self._check_open("recv")
        late, self._receiver.late = self._receiver.late, None
        if late:
            raise late
        least, most = self._receiver.wanted(min_envs, max_envs, self.batch_size, self.rows_per_game)
        with self._clock.waiting():
            self._receiver.wait(least, most, timeout)
        if not len(self._receiver.ready):
            seconds = self.timeout if timeout is None else timeout
            raise ServerTimeoutError(f"recv: no step was done within {seconds:g} s; pass a larger timeout=")
        return self._batch(most)

    def _batch(self, most: int) -> PoolBatch:
        games = self._receiver.take(most)
        reader, memory = self._results.reader(len(games)), self._results.get(games)
        rows = (games[:, None] * self.rows_per_game + np.arange(self.rows_per_game)).reshape(-1)
        before = reader.index_of(self._seats[rows]) if reader.varying else None
        result = reader.result(memory, before, self._acting[rows], partial(self._results.finals, games, memory))
        self._seats[rows] = memory.seat
        self._acting[rows] = result[4]["acting"]
        return PoolBatch(rows, result)

    def checkpoint(self) -> bytes:
        """Return the games as bytes, which a pool on other servers, or one environment with all games, continues.

        RuntimeError: recv has not returned all rows.
        """
        self._check_open("checkpoint")
        if not self._receiver.waits.all() or self._has_action.any():
            raise RuntimeError("checkpoint: steps are under way; call recv until every row waits for an action")
        return super().checkpoint()

    def restore_checkpoint(self, data: bytes) -> None:
        """Continue the games of a checkpoint, whose observations recv returns; RuntimeError: steps are under way."""
        self._refuse_flying("restore_checkpoint")
        self._resume(data)
        self.async_reset()

    def _check_open(self, method: str) -> None:
        if self.envs[0].closed:
            raise BlockyardError(f"{method}: the pool is closed; create a new one")

    def _refuse_flying(self, method: str) -> None:
        self._check_open(method)
        if flying := self._receiver.flying:
            raise RuntimeError(f"{method}: {flying} games are under way, call recv first")

    def _before(self, method: str) -> None:
        """With ``heal``, receive all games in flight, so that the order of all that changes them is known."""
        if self.engine.options.heal:
            self._receiver.wait_for_all()

    def stats(self) -> dict[str, float]:
        """Return how well the pool is used since the first :meth:`send`.

        ============== ======================================================================================
        ``steps``      steps of single games that were received
        ``batches``    calls of recv, also those that timed out
        ``occupancy``  mean share of the games that were in flight, 0 to 1
        ``wait``       share of the time that recv waited for the server: near 0, the policy is the bottleneck
        ``latency_s``  mean time from send to the answer of a game, in seconds; ``latency_max_s``: the longest
        ``workers``    goroutines of the servers that step games
        ``busy``       mean share of these at work: near 1, the servers are the bottleneck
        ============== ======================================================================================
        """
        busy, workers = map(sum, zip(*(server.busy() for server in self._receiver.servers), strict=True))
        return self._clock.stats(busy, int(workers))

    def close(self) -> None:
        """Free the games."""
        self.envs[0].close()

    def __reduce__(self) -> tuple[Any, ...]:
        raise TypeError("a pool cannot be copied or pickled: save its games with checkpoint(), and create a new one")

    def __repr__(self) -> str:
        servers = len(self._receiver.servers)
        sizes = f"num_envs={self.num_envs}{f', num_games={self.num_games}' * (self.rows_per_game > 1)}"
        state = f"{self._receiver.flying} games in flight, {servers} server{'s' * (servers > 1)}"
        closed = ", closed" * self.envs[0].closed
        return f"BlockPool({self.envs[0].game_spec.id}, {sizes}, batch_size={self.batch_size}, {state}{closed})"
