"""Steps of an environment of one row, with integers: what ``Steps`` and ``Batch`` do for arrays, in less time."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..formats.arguments import copy_actions
from .batch import NO_SEAT, Batch, Obs
from .games import Games
from .requests import Requests
from .steps import Steps


class SingleSteps:
    """Steps the only row of an environment without autoreset, always to the same memory, and returns copies."""

    def __init__(self, requests: Requests, batch: Batch, games: Games, steps: Steps) -> None:
        """Prepare to step."""
        self._requests, self._batch, self._games, self._steps = requests, batch, games, steps
        self._memory = memory = requests.transport.ring(1)[0]
        self._row = np.zeros(1, "<u2") if memory.actions is None else memory.actions
        self._mask = None if memory.mask is None else memory.mask[0]
        self._generation, self._acts = -1, False  # of the memory, and whether the row acts in the next step

    def step(self, action: int) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Step, and wait; see :meth:`BlockEnv.step`."""
        batch, memory, requests = self._batch, self._memory, self._requests
        if requests.pending or requests.closed:
            requests.check("step")
        if self._games.sources:
            self._games.fetch()
        acts = self._acts
        if batch.memory is not memory or memory.generation != self._generation:
            acts = batch.memory is not None and bool(batch.complete(batch.memory, False)[0])
        if 0 <= action < batch.spec.actions:
            self._row[0] = action
        else:  # which is an error of a row that acts
            copy_actions(np.array([action]), self._row, batch.spec.actions, np.array([acts or batch.memory is None]))
        requests.transport.step(self._row, memory.reuse())
        self._steps.show(memory)
        batch.illegal.count(int(acts), memory.illegal)
        return self._result()

    def _result(self) -> tuple[Obs, float, bool, bool, dict[str, Any]]:
        """Return what step returns, as ``Batch.result`` and ``Batch.infos`` have it."""
        batch, memory = self._batch, self._memory
        terminated, truncated = bool(memory.terminated[0]), bool(memory.truncated[0])
        plays = not terminated and memory.seat[0] != NO_SEAT
        self._generation, self._acts = memory.generation, plays and not truncated
        infos: dict[str, Any] = {}
        if self._mask is not None:
            if not plays:
                self._mask[0] = 1  # the mask of such a row is empty
            infos["action_mask"] = np.unpackbits(self._mask, count=batch.spec.actions, bitorder="little").view(np.bool_)
        infos["acting"] = self._acts
        if memory.illegal is not None:
            infos["illegal"] = bool(memory.illegal[0])
        assert memory.own_score is not None
        assert memory.own_reward is not None
        infos["score"] = memory.own_score[0]
        if batch.others is not None:
            opponents = memory.arrays["opponent"][0]
            infos["opponent"] = opponents[batch.others]
        boards = {"planes": memory.planes[0].copy()} if memory.planes is not None else {}
        observation = boards | {"globals": memory.globals[0].copy()}
        return observation, float(memory.own_reward[0]), terminated, truncated, infos
