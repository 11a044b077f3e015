"""Games in blocks that are stepped apart: whoever is ready comes first."""

from __future__ import annotations

import operator
import select
import time
from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .address import Tls
from .asking import action_row, fresh_seed, one_seed
from .errors import ServerTimeout
from .rows import Obs
from .vector import BlockVectorEnv


@dataclass(frozen=True)
class Batch:
    """Rows whose step is done.

    Attributes:
        env_ids: int64 (n,): which rows these are.
        obs: as of the vector environment, n rows.
        rewards, terminated, truncated: (n,).
        infos: of each block that the rows come from, in order, as the vector environment gives them.
        action_masks: bool (n, actions).
    """

    env_ids: NDArray[np.int64]
    obs: Obs
    rewards: NDArray[np.float64]
    terminated: NDArray[np.bool_]
    truncated: NDArray[np.bool_]
    infos: tuple[dict[str, Any], ...]
    action_masks: NDArray[np.bool_] | None


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
        self._ready: deque[tuple[int, Any]] = deque()  # blocks with what their step returned
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
        ids = np.arange(self.num_envs) if env_ids is None else np.asarray(env_ids)
        numbers = ids.ndim == 1 and ids.dtype.kind in "iu"
        if not numbers or (len(ids) and not (ids.min() >= 0 and ids.max() < self.num_envs)):
            raise ValueError(f"env_ids: want integers from 0 to {self.num_envs - 1}")
        row = np.zeros(len(ids), "<u2")
        action_row(actions, row)
        which = np.unique(ids // self.rows)
        if busy := [int(k) for k in which if int(k) not in self._resting]:
            raise ValueError(f"send: rows of block {busy[0]} are not waiting for actions; recv them first")
        if len(np.unique(ids)) != len(ids) or self._given.reshape(-1)[ids].any():
            raise ValueError("send: a row has an action already")
        self._actions.reshape(-1)[ids] = row
        self._given.reshape(-1)[ids] = True
        for k in map(int, which):
            if self._given[k].all():
                self._given[k] = False
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

    def _batch(self, parts: list[tuple[int, Any]]) -> Batch:
        ids = np.concatenate([np.arange(k * self.rows, (k + 1) * self.rows) for k, _ in parts])
        results = [r for _, r in parts]
        masks = None
        if self.blocks[0]._with_mask:
            masks = _joined([self.blocks[k].action_masks for k, _ in parts])
        self._resting.update(k for k, _ in parts)
        return Batch(
            ids,
            {key: _joined([r[0][key] for r in results]) for key in results[0][0]},
            _joined([r[1] for r in results]),
            _joined([r[2] for r in results]),
            _joined([r[3] for r in results]),
            tuple(r[4] for r in results),
            masks,
        )

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
