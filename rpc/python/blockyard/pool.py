"""Pipelined stepping: blocks of games, each on its own connection, returned in the order in which they finish."""

from __future__ import annotations

import operator
import select
import time
from collections import deque
from collections.abc import Mapping, Sequence
from types import TracebackType
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arguments import copy_actions
from .checkpoint_file import Checkpoint
from .checkpoints import resume, save
from .errors import ServerTimeoutError
from .recorder import Path, end, start_with
from .recording import Recording
from .rows import Obs, StepResult
from .seeding import check_seed, fresh_seed
from .transport.address import Tls
from .vector import BlockVectorEnv


class PoolBatch:
    """The results of the blocks whose step is done.

    Attributes:
        env_ids: int64 (n,), indices of the rows; read-only.
        obs: dict of arrays (n, ...), as of :class:`BlockVectorEnv`.
        rewards: float64 (n,).
        terminated, truncated: bool (n,).
        infos: one dict for each block, in the order of env_ids, as of :class:`BlockVectorEnv`.
    """

    __slots__ = ("_masks", "env_ids", "infos", "obs", "rewards", "terminated", "truncated")

    def __init__(self, env_ids: NDArray[np.int64], results: Sequence[StepResult]) -> None:
        """Join the results of some blocks."""
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
        """Legal actions: bool (n, actions), unpacked when first read; None with ``mask=False``."""
        if self._masks is None and "action_mask" in self.infos[0]:
            self._masks = _joined([infos["action_mask"] for infos in self.infos]).view(np.bool_)
        return self._masks

    def __repr__(self) -> str:
        return f"PoolBatch({len(self.env_ids)} rows: {self.env_ids})"


class BlockPool:
    """Many games in blocks of ``batch_size`` games, each on its own connection.

    ``recv`` returns the blocks whose step is done, in the order in which they finish. ``send`` takes actions
    for their rows, and a block is stepped as soon as each of its rows has an action. While the policy is
    evaluated on one block, the server steps the others; two blocks are double buffering. The games are
    bit-identical to those of one environment with all games, in whatever order blocks finish.

    Attributes:
        num_envs: number of rows of all blocks.
        rows: number of rows of each block.
        timeout: seconds that recv waits for a server before it counts as gone.
        blocks: the vector environments. Between recv and send of a block, all its methods may be used.
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
        **kwargs: Any,
    ) -> None:
        """Create the blocks.

        Args:
            game: as in :func:`blockyard.make_vec`.
            num_envs: number of games of all blocks.
            batch_size: number of games of a block; divides num_envs.
            seed: game i of all games is seeded with seed + i; None: from the operating system's entropy.
            address: address of a server; or a list of addresses, to which blocks are assigned in turn.
            token, tls, timeout: as in :func:`blockyard.make_vec`.
            record: the games of all blocks are recorded into one file; as in :func:`blockyard.make_vec`.
            checkpoint: what :meth:`checkpoint` returned: the first ``async_reset`` without a seed continues its games.
            **kwargs: other arguments of :func:`blockyard.make_vec`.
        """
        games, size = operator.index(num_envs), operator.index(batch_size)
        if size < 1 or games < 1 or games % size:
            raise ValueError(f"batch_size: want a divisor of num_envs={games}, got {size}")
        where = [address] if address is None or isinstance(address, str) else list(address)
        if checkpoint is not None and seed is not None:
            raise ValueError("seed: the games of a checkpoint have seeds of their own; leave out seed or checkpoint")
        seed = fresh_seed() % (1 << 32) if seed is None else check_seed(seed)
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
            if record is not None:
                start_with(self.blocks, record)
            if checkpoint is not None:
                resume(self.blocks, Checkpoint.from_bytes(checkpoint))
        except BaseException:
            self.close()
            raise
        self.timeout = timeout
        self.rows = self.blocks[0].num_envs
        self.num_envs = self.rows * len(self.blocks)
        self._actions = np.zeros((len(self.blocks), self.rows), "<u2")
        self._has_action = np.zeros((len(self.blocks), self.rows), np.bool_)
        self._under_way: set[int] = set()  # blocks
        self._ready: deque[tuple[int, StepResult]] = deque()  # blocks with what their step returned
        # The env_ids of each whole block: send recognises these arrays by identity and skips the checks.
        self._ids = [np.arange(k * self.rows, (k + 1) * self.rows) for k in range(len(self.blocks))]
        for ids in self._ids:
            ids.flags.writeable = False
        self._known = {id(ids): k for k, ids in enumerate(self._ids)}
        self._resting: set[int] = set()

    def async_reset(self, seed: int | None = None) -> None:
        """Start new episodes in all games; recv returns their observations, with zero rewards and flags.

        Args:
            seed: game i of all games is seeded with seed + i; None continues the sequence of each game.

        Raises:
            RuntimeError: steps are under way.
        """
        if self._under_way:
            raise RuntimeError("async_reset: steps are under way, call recv first")
        self._ready.clear()
        self._has_action[:] = False
        none = np.zeros(self.rows, np.bool_)
        for k, block in enumerate(self.blocks):
            obs, infos = block.reset(seed=seed)
            self._ready.append((k, (obs, np.zeros(self.rows), none, none, infos)))
        self._resting.clear()

    def send(self, actions: Any, env_ids: Any = None) -> None:
        """Send actions for rows that recv has returned.

        An illegal action raises IllegalActionError in the :meth:`recv` of its block.

        Args:
            actions: integers (n,).
            env_ids: integers (n,), indices of the rows; None means all rows in order.

        Raises:
            ValueError: a row does not exist, appears twice, or is not waiting for an action.
        """
        k = self._known.get(id(env_ids), -1)
        if k >= 0 and k in self._resting and not self._has_action[k].any():
            copy_actions(actions, self._actions[k])
            self._post(k)
            return
        ids = np.arange(self.num_envs) if env_ids is None else np.asarray(env_ids)
        numbers = ids.ndim == 1 and ids.dtype.kind in "iu"
        if not numbers or (len(ids) and not (ids.min() >= 0 and ids.max() < self.num_envs)):
            raise ValueError(f"env_ids: want a list of integers from 0 to {self.num_envs - 1}, got {env_ids!r:.100}")
        ids, row = ids.astype(np.intp, copy=False), np.zeros(len(ids), "<u2")
        copy_actions(actions, row)
        which = np.flatnonzero(np.bincount(ids // self.rows, minlength=len(self.blocks)))
        if busy := [int(k) for k in which if int(k) not in self._resting]:
            raise ValueError(f"send: rows of block {busy[0]} are not waiting for actions; call recv first")
        given = self._has_action.reshape(-1)
        before = given.copy()
        given[ids] = True
        if np.count_nonzero(given) != np.count_nonzero(before) + len(ids):
            given[:] = before
            raise ValueError("send: a row appears twice in env_ids or has an action already; call recv first")
        self._actions.reshape(-1)[ids] = row
        for k in map(int, which):
            if self._has_action[k].all():
                self._has_action[k] = False
                self._post(k)

    def _post(self, k: int) -> None:
        """Send a block's actions."""
        self._resting.discard(k)
        self.blocks[k].step_async(self._actions[k])
        self._under_way.add(k)

    def recv(self, min_envs: int | None = None, max_envs: int | None = None, timeout: float | None = None) -> PoolBatch:
        """Wait for steps to be done, and return their results in the order in which they finished.

        Args:
            min_envs: number of rows to wait for; by default one block.
            max_envs: largest number of rows to return; by default all that are ready. The others come next time.
            timeout: seconds after which recv returns what is ready; by default the pool's timeout.

        Raises:
            ServerTimeoutError: nothing was ready in time.
            ValueError: max_envs is less than a block, or min_envs is more than max_envs or than are under way.
        """
        least = self.rows if min_envs is None else operator.index(min_envs)
        most = self.num_envs if max_envs is None else operator.index(max_envs)
        if most < self.rows or least > most:
            raise ValueError(
                f"recv: min_envs={least}, max_envs={most}: want min_envs <= max_envs, "
                f"and max_envs of at least a block, {self.rows} rows"
            )
        if least > (len(self._ready) + len(self._under_way)) * self.rows:
            raise ValueError(f"recv: min_envs={least}, but fewer rows are under way; send actions first")
        deadline = time.monotonic() + (self.timeout if timeout is None else timeout)
        while len(self._ready) * self.rows < least or not self._ready:
            if not self._collect(deadline):
                break
        if self._under_way:
            self._collect(0)
        if not self._ready:
            seconds = self.timeout if timeout is None else timeout
            raise ServerTimeoutError(f"recv: no step was done within {seconds:g} s; pass a larger timeout=")
        return self._batch([self._ready.popleft() for _ in range(min(len(self._ready), most // self.rows))])

    def _collect(self, deadline: float) -> bool:
        """Collect the results of steps that are done; wait for one until the deadline. Return whether there was one."""
        by_fd = {self.blocks[k].client.connection.fileno(): k for k in sorted(self._under_way)}
        done = [k for k in by_fd.values() if self.blocks[k].client.connection.buffered]
        if not done and by_fd:
            ready = select.select(list(by_fd), [], [], max(0.0, deadline - time.monotonic()))[0]
            done = [by_fd[fd] for fd in ready]
        for k in done:
            self._under_way.discard(k)
            self._resting.add(k)  # also if the step fails: other actions may be sent
            result = self.blocks[k].step_wait()
            self._resting.discard(k)
            self._ready.append((k, result))
        return bool(done)

    def _batch(self, parts: list[tuple[int, StepResult]]) -> PoolBatch:
        self._resting.update(k for k, _ in parts)
        if len(parts) == 1:
            k, result = parts[0]
            return PoolBatch(self._ids[k], [result])
        return PoolBatch(np.concatenate([self._ids[k] for k, _ in parts]), [result for _, result in parts])

    def checkpoint(self) -> bytes:
        """Return the games of all blocks as bytes, from which they continue exactly.

        The bytes are those of :meth:`BlockVectorEnv.checkpoint` of one environment with all games: a pool with blocks
        of another size, or such an environment, continues them too.

        Raises:
            CheckpointError: single blocks were given other opponents or rollout policies.
            NeedsResetError, RequestError: as in :meth:`BlockVectorEnv.checkpoint`.
            RuntimeError: a row does not wait for an action: steps are under way, or recv has not returned them.
        """
        if len(self._resting) < len(self.blocks) or self._has_action.any():
            raise RuntimeError("checkpoint: steps are under way; call recv until every row waits for an action")
        return save(self.blocks).to_bytes()

    def restore_checkpoint(self, data: bytes) -> None:
        """Continue the games of a checkpoint; recv then returns their observations, with zero rewards and flags.

        Raises:
            CheckpointError: as in :meth:`BlockVectorEnv.restore_checkpoint`.
            RuntimeError: steps are under way.
        """
        if self._under_way:
            raise RuntimeError("restore_checkpoint: steps are under way, call recv first")
        resume(self.blocks, Checkpoint.from_bytes(data))
        self.async_reset()

    def record(self, path: Path, every: int = 100, **options: Any) -> Recording:
        """Record games of all blocks into one file; arguments and errors as in :meth:`BlockVectorEnv.record`."""
        return start_with(self.blocks, {"path": path, "every": every, **options})

    def stop_recording(self) -> Recording:
        """Write the games that have ended so far, and end the recording; waits for steps that are under way."""
        return end(self.blocks)

    @property
    def recording(self) -> Recording | None:
        """The current or last recording; None if there was none."""
        return self.blocks[0].recording

    def close(self) -> None:
        """Free the games."""
        for block in self.blocks:
            block.close()

    def __enter__(self) -> BlockPool:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, tb: TracebackType | None) -> None:
        self.close()


def _joined(arrays: list[NDArray[Any]]) -> NDArray[Any]:
    """Concatenate arrays; a single one is returned as it is."""
    return arrays[0] if len(arrays) == 1 else np.concatenate(arrays)
