"""Asynchronous stepping: any games are sent, and those that finish first are received."""

from collections.abc import Mapping, Sequence
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import BlockyardError, RequestError, ServerTimeoutError, on_error
from ..formats.arguments import check_seed, copy_actions, fresh_seed, positive
from ..transport.sharded import shares_of
from ..vector.engine import Engine
from ..vector.env import BlockVectorEnv
from ..vector.games import Games
from ..vector.options import Options, Path
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
        record: Path | Mapping[str, Any] | None = None,
        checkpoint: bytes | None = None,
        **options: Any,
    ) -> None:
        """Create the games.

        Args:
            game, num_envs: as in :func:`blockyard.make_vec`.
            batch_size: number of games that recv returns by default, at most num_envs.
            seed: game i is seeded with seed + i; None: from the operating system's entropy.
            address, record: as in :func:`blockyard.make_vec`; several servers' games are recorded into one file.
            checkpoint: what :meth:`checkpoint` returned: the first ``async_reset`` continues its games, with any seed.
            **options: others of :func:`blockyard.make_vec`, except ``copy`` and ``slots``.
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
        chosen = Options.of({**options, "address": address, "seed": seed, "checkpoint": checkpoint})
        healing, shares = chosen.healing, shares_of(address, chosen.tls, self.num_games)
        seed = fresh_seed() % (1 << 32) if seed is None else check_seed(seed)
        self.envs, self._healing = list[BlockVectorEnv](), healing is not None
        with on_error(self.close):
            for where, first, size in shares:
                own = options | {"first": first, "seed": seed, "address": where, "heal": healing or False}
                self.envs.append(BlockVectorEnv(game, size, **own))
                self.envs[0].game_spec.check_same(self.envs[-1].game_spec, str(where))
            self._results = Results(self.envs[0].engine.batch, self.num_games)
            kind, firsts = HealingPoolServer if healing else PoolServer, [first for _, first, _ in shares]
            servers = [kind(env, first, self._results) for env, first in zip(self.envs, firsts, strict=True)]
            self._clock = PoolClock(self.num_games)
            self._receiver = Receiver(servers, self.num_games, chosen.timeout, self._clock)
            self._record_as(record)
            self._resume(checkpoint)
        self.timeout, self.rows_per_game = chosen.timeout, self.envs[0].rows_per_game
        self.num_envs = self.num_games * self.rows_per_game
        self._actions = np.zeros(self.num_envs, "<u2")
        self._has_action = np.zeros(self.num_envs, np.bool_)
        self._acting = np.zeros(self.num_envs, np.bool_)
        self._seats = np.zeros(self.num_envs, np.uint8)

    @property
    def _engines(self) -> Sequence[Engine]:
        return [env.engine for env in self.envs]

    def async_reset(self, seed: int | None = None) -> None:
        """Start new episodes in all games, none of which is under way; recv returns their observations.

        Game i is seeded with seed + i; None continues the sequence of each game.
        """
        self._refuse_flying("async_reset")
        self._has_action[:] = self._acting[:] = False
        self._receiver.reset(seed)

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
                mine = games[(games >= server.first) & (games < server.first + server.env.num_games)]
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

        CheckpointError: the environments of several servers have different opponents or rollout policies. RuntimeError:
        recv has not returned all rows.
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
        if self._healing:
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
        for env in self.envs:
            env.close()

    def __repr__(self) -> str:
        sizes = f"num_envs={self.num_envs}{f', num_games={self.num_games}' * (self.rows_per_game > 1)}"
        state = f"{self._receiver.flying} games in flight, {len(self.envs)} server{'s' * (len(self.envs) > 1)}"
        closed = ", closed" * self.envs[0].closed
        return f"BlockPool({self.envs[0].game_spec.id}, {sizes}, batch_size={self.batch_size}, {state}{closed})"
