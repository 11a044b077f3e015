"""Games in blocks that are stepped apart: whoever is ready comes first."""

from __future__ import annotations

import operator
import select
import time
from collections import deque
from collections.abc import Sequence
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .address import Tls
from .asking import action_row, fresh_seed, one_seed
from .errors import ServerTimeout
from .rows import Obs, StepResult
from .vector import BlockVectorEnv


class Batch:
    """Rows whose step is done.

    Attributes:
        env_ids: int64 (n,): which rows these are. Not to be written to.
        obs: as of the vector environment, n rows.
        rewards, terminated, truncated: (n,).
        infos: of each block that the rows come from, in order, as the vector environment gives them.
    """

    __slots__ = ("_masks", "env_ids", "infos", "obs", "rewards", "terminated", "truncated")

    def __init__(self, env_ids: NDArray[np.int64], results: Sequence[StepResult]) -> None:
        """Join what the steps of some blocks returned."""
        self.env_ids = env_ids
        self.infos: tuple[dict[str, Any], ...] = tuple(r[4] for r in results)
        self.obs: Obs = results[0][0]
        if len(results) > 1:
            self.obs = {key: np.concatenate([r[0][key] for r in results]) for key in self.obs}
        self.rewards: NDArray[np.float64] = _joined([r[1] for r in results])
        self.terminated: NDArray[np.bool_] = _joined([r[2] for r in results])
        self.truncated: NDArray[np.bool_] = _joined([r[3] for r in results])
        self._masks: NDArray[np.bool_] | None = None

    @property
    def action_masks(self) -> NDArray[np.bool_] | None:
        """bool (n, actions), unpacked when first read; None in a pool made with ``mask=False``."""
        if self._masks is None and "action_mask" in self.infos[0]:
            self._masks = _joined([infos["action_mask"] for infos in self.infos]).view(np.bool_)
        return self._masks

    def __repr__(self) -> str:
        return f"Batch({len(self.env_ids)} rows: {self.env_ids})"


class BlockPool:
    """Many games in blocks of ``batch_size`` games, each on a connection of its own.

    ``recv`` returns the blocks whose step is done, the first to be done first; ``send`` takes
    actions for rows of them, and a block goes on as soon as each of its rows has one. While the
    learner thinks about one block the server plays the others: with two blocks that is double
    buffering. A game is the same as in one environment of all, whatever the order.

    Attributes:
        num_envs: rows of all blocks.
        rows: of each block.
        timeout: seconds that recv waits for a server before it counts as gone.
        blocks: the vector environments; between recv and send they are at rest, and all that they
            can be asked may be asked.
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
        **kwargs: Any,
    ) -> None:
        """Open the blocks; with several addresses they go round.

        Args:
            game: as in :func:`blockyard.make_vec`, and so are the other arguments.
            num_envs: games of all blocks.
            batch_size: games of a block; divides num_envs.
            seed: game i of all is seeded with seed + i.
            address: of a server, or several.
            token: for servers that want one.
            tls: whom to trust.
            timeout: seconds to wait for a server before it is gone.
            **kwargs: the rest.
        """
        games, size = operator.index(num_envs), operator.index(batch_size)
        if size < 1 or games < 1 or games % size:
            raise ValueError(f"batch_size: want a divisor of num_envs={games}, got {size}")
        where = [address] if address is None or isinstance(address, str) else list(address)
        seed = fresh_seed() % (1 << 32) if seed is None else one_seed(seed)
        self.blocks: list[BlockVectorEnv] = []
        try:
            for k in range(games // size):
                at = where[k % len(where)]
                self.blocks.append(
                    BlockVectorEnv(
                        game,
                        size,
                        first=k * size,
                        seed=seed,
                        address=at,
                        token=token,
                        tls=tls,
                        timeout=timeout,
                        **kwargs,
                    )
                )
        except BaseException:
            self.close()
            raise
        self.timeout = timeout
        self.rows = self.blocks[0].num_envs
        self.num_envs = self.rows * len(self.blocks)
        self._actions = np.zeros((len(self.blocks), self.rows), "<u2")
        self._given = np.zeros((len(self.blocks), self.rows), np.bool_)
        self._under_way: set[int] = set()  # blocks
        self._ready: deque[tuple[int, StepResult]] = deque()  # blocks with what their step returned
        # Arrays that name all rows of a block: they are handed out, and known again when they come back.
        self._ids = [np.arange(k * self.rows, (k + 1) * self.rows) for k in range(len(self.blocks))]
        for ids in self._ids:
            ids.flags.writeable = False
        self._known = {id(ids): k for k, ids in enumerate(self._ids)}
        self._resting: set[int] = set()

    def async_reset(self, seed: int | None = None) -> None:
        """Start new games everywhere; recv returns their first positions, with rewards and flags of zero.

        Args:
            seed: game i of all is seeded with seed + i; None: each goes on with its own sequence.

        Raises:
            RuntimeError: steps are under way.
        """
        if self._under_way:
            raise RuntimeError("async_reset: steps are under way, recv them first")
        self._ready.clear()
        self._given[:] = False
        none = np.zeros(self.rows, np.bool_)
        for k, block in enumerate(self.blocks):
            obs, infos = block.reset(seed=seed)
            self._ready.append((k, (obs, np.zeros(self.rows), none, none, infos)))
        self._resting.clear()

    def send(self, actions: Any, env_ids: Any = None) -> None:
        """Give actions, integers (n,), to rows env_ids, (n,), that recv has returned; None: all rows.

        Raises:
            ValueError: a row is under way already, named twice, or none.
            IllegalActionError: comes with the recv of the block.
        """
        k = self._known.get(id(env_ids), -1)
        if k >= 0 and k in self._resting and not self._given[k].any():
            action_row(actions, self._actions[k])
            self._post(k)
            return
        ids = np.arange(self.num_envs) if env_ids is None else np.asarray(env_ids)
        numbers = ids.ndim == 1 and ids.dtype.kind in "iu"
        if not numbers or (len(ids) and not (ids.min() >= 0 and ids.max() < self.num_envs)):
            raise ValueError(f"env_ids: want integers from 0 to {self.num_envs - 1}")
        ids, row = ids.astype(np.intp, copy=False), np.zeros(len(ids), "<u2")
        action_row(actions, row)
        which = np.flatnonzero(np.bincount(ids // self.rows, minlength=len(self.blocks)))
        if busy := [int(k) for k in which if int(k) not in self._resting]:
            raise ValueError(f"send: rows of block {busy[0]} are not waiting for actions; recv them first")
        given = self._given.reshape(-1)
        before = given.copy()
        given[ids] = True
        if np.count_nonzero(given) != np.count_nonzero(before) + len(ids):
            given[:] = before
            raise ValueError("send: a row has an action already")
        self._actions.reshape(-1)[ids] = row
        for k in map(int, which):
            if self._given[k].all():
                self._given[k] = False
                self._post(k)

    def _post(self, k: int) -> None:
        """Send a block's actions."""
        self._resting.discard(k)
        self.blocks[k].step_async(self._actions[k])
        self._under_way.add(k)

    def recv(
        self, min_envs: int | None = None, max_envs: int | None = None, timeout: float | None = None
    ) -> Batch:
        """Wait for steps to be done and return them, the first to be done first.

        Args:
            min_envs: rows to wait for; by default those of a block.
            max_envs: rows to return at most, by default all that are ready; the others come next time.
            timeout: seconds after which whatever is ready is returned, if something is.

        Raises:
            ServerTimeout: nothing was ready in time.
            ValueError: fewer rows are wanted than a block has, or more than are under way.
        """
        least = self.rows if min_envs is None else operator.index(min_envs)
        most = self.num_envs if max_envs is None else operator.index(max_envs)
        if most < self.rows or least > most:
            raise ValueError(f"recv: from {least} to {most} rows, where a block has {self.rows}")
        if least > (len(self._ready) + len(self._under_way)) * self.rows:
            raise ValueError(f"recv: {least} rows are wanted and fewer are under way")
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        while len(self._ready) * self.rows < least or not self._ready:
            if not self._collect(deadline):
                break
        if self._under_way:
            self._collect(0)
        if not self._ready:
            raise ServerTimeout(f"recv: no step was done within {self.timeout if timeout is None else timeout:g} s")
        return self._batch([self._ready.popleft() for _ in range(min(len(self._ready), most // self.rows))])

    def _collect(self, deadline: float) -> bool:
        """Take in what is done; wait for something until the deadline. False if nothing was."""
        by_fd = {self.blocks[k].client.connection.fileno(): k for k in sorted(self._under_way)}
        done = [k for k in by_fd.values() if self.blocks[k].client.connection.buffered]
        if not done and by_fd:
            ready = select.select(list(by_fd), [], [], max(0.0, deadline - time.monotonic()))[0]
            done = [by_fd[fd] for fd in ready]
        for k in done:
            self._under_way.discard(k)
            self._resting.add(k)  # also if the step is refused: other actions may be sent
            result = self.blocks[k].step_wait()
            self._resting.discard(k)
            self._ready.append((k, result))
        return bool(done)

    def _batch(self, parts: list[tuple[int, StepResult]]) -> Batch:
        self._resting.update(k for k, _ in parts)
        if len(parts) == 1:
            k, result = parts[0]
            return Batch(self._ids[k], [result])
        return Batch(np.concatenate([self._ids[k] for k, _ in parts]), [result for _, result in parts])

    def close(self) -> None:
        """Free the games."""
        for block in self.blocks:
            block.close()

    def __enter__(self) -> BlockPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """Return arrays end to end; one alone as it is."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
