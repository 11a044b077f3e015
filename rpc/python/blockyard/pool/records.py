"""Checkpoints and recordings of a pool's games."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats.checkpoint_file import Checkpoint
from ..vector.checkpoint import resume, save
from ..vector.env import BlockVectorEnv
from ..vector.games import Path, end, start_with
from ..vector.recording import Recording


class PoolRecords:
    """The part of BlockPool that saves and restores games, and records them."""

    envs: list[BlockVectorEnv]
    _waits: NDArray[np.bool_]
    _has_action: NDArray[np.bool_]

    @property
    def _flying(self) -> int:
        raise NotImplementedError

    def _settle(self) -> None:
        raise NotImplementedError

    def async_reset(self, seed: int | None = None) -> None:
        """Start new episodes in all games."""
        raise NotImplementedError

    def _refuse_flying(self, method: str) -> None:
        if self._flying:
            raise RuntimeError(f"{method}: {self._flying} games are under way, call recv first")

    def checkpoint(self) -> bytes:
        """Return the games as bytes, from which they continue exactly.

        The bytes are those of :meth:`BlockVectorEnv.checkpoint` of one environment with all games: a pool on other
        servers, or such an environment, continues them too.

        Raises:
            CheckpointError: the environments of several servers have different opponents or rollout policies.
            NeedsResetError, RequestError: as in :meth:`BlockVectorEnv.checkpoint`.
            RuntimeError: a row does not wait for an action: steps are under way, or recv has not returned them.
        """
        if not self._waits.all() or self._has_action.any():
            raise RuntimeError("checkpoint: steps are under way; call recv until every row waits for an action")
        return save([env._checkpoints for env in self.envs]).to_bytes()

    def restore_checkpoint(self, data: bytes) -> None:
        """Continue the games of a checkpoint; recv then returns their observations, with zero rewards and flags.

        Raises:
            CheckpointError: as in :meth:`BlockVectorEnv.restore_checkpoint`.
            RuntimeError: steps are under way.
        """
        self._refuse_flying("restore_checkpoint")
        resume([env._checkpoints for env in self.envs], Checkpoint.from_bytes(data))
        self.async_reset()

    def record(self, path: Path, every: int = 100, **options: Any) -> Recording:
        """Record games into one file; arguments and errors as in :meth:`BlockVectorEnv.record`."""
        self._settle()
        return start_with([env._games for env in self.envs], {"path": path, "every": every, **options})

    def stop_recording(self) -> Recording:
        """Write the games that have ended so far, and end the recording; waits for steps that are under way."""
        self._settle()
        return end([env._games for env in self.envs])

    @property
    def recording(self) -> Recording | None:
        """The current or last recording; None if there was none."""
        return self.envs[0].recording
