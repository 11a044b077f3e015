"""Legal actions, afterstates, states of games, and rollouts: what searches and value learners ask for."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats.arguments import Ids, game_ids, positive
from ..formats.seeding import check_seed
from ..transport.buffer import RolloutBuffer
from .batch import Batch
from .infos import FinalStep
from .opponents import OpponentSeats
from .policy_opponents import PolicyOpponents
from .requests import Requests
from .results import Afterstates, LegalActions, Rollout, join
from .steps import Steps


class Search:
    """Asks about games, and moves them from one state to another.

    Attributes:
        afterstate_calls: number of calls of :meth:`afterstates`: the seed of the next.
        opponents: of the games.
    """

    def __init__(
        self, requests: Requests, batch: Batch, steps: Steps, opponents: OpponentSeats | PolicyOpponents
    ) -> None:
        self._requests, self._batch, self._steps, self.opponents = requests, batch, steps, opponents
        self.afterstate_calls = 0

    def legal_actions(self, env_ids: Ids) -> LegalActions:
        """Return the legal actions of rows; see :meth:`BlockVectorEnv.legal_actions`."""
        pages = [
            LegalActions(np.frombuffer(d["indptr"], "<u4"), np.frombuffer(d["actions"], "<u2"))
            for d in self._requests.pages("legal", env_ids)
        ]
        return join(pages)

    def afterstates(self, env_ids: Ids, seed: int | None) -> Afterstates:
        """Return the position after each legal action; see :meth:`BlockVectorEnv.afterstates`."""
        self.afterstate_calls += 1
        options = {"seed": self.afterstate_calls if seed is None else check_seed(seed)}
        return join([self._afterstates(d) for d in self._requests.pages("afterstates", env_ids, options)])

    def _afterstates(self, d: dict[str, Any]) -> Afterstates:
        m, spec = len(d["actions"]) // 2, self._batch.spec
        return Afterstates(
            np.frombuffer(d["indptr"], "<u4"),
            np.frombuffer(d["actions"], "<u2"),
            np.frombuffer(d["planes"], np.uint8).reshape(m, *spec.planes_shape),
            np.frombuffer(d["globals"], "<f4").reshape(m, len(spec.global_names)),
            np.frombuffer(d["reward"], "<f4"),
            np.frombuffer(d["done"], np.bool_),
        )

    def final(self) -> FinalStep:
        """Return the final positions of the games that ended in the last step."""
        self._requests.check("final")
        return self._batch.final_step(self._requests.transport.finals())

    # -- states -----------------------------------------------------------------------

    def snapshot(self, env_ids: Ids) -> NDArray[np.uint8]:
        """Return the states of games; see :meth:`BlockVectorEnv.snapshot`."""
        self._requests.check("snapshot")
        return self._requests.transport.states(game_ids(env_ids, self._batch.num_games))

    def restore(self, states: NDArray[np.uint8], env_ids: Ids, reseed: int | None) -> None:
        """Restore the states of games; see :meth:`BlockVectorEnv.restore`."""
        ids, width = game_ids(env_ids, self._batch.num_games), self._batch.handle.state_len
        rows = np.ascontiguousarray(states)
        if rows.dtype != np.uint8 or rows.shape != (len(ids), width):
            raise ValueError(f"states: want uint8 ({len(ids)}, {width}), got {rows.dtype} {rows.shape}")
        self._requests.check("restore")
        memory = self._steps.next_memory()
        self._requests.transport.restore(memory, ids, rows, _reseed(reseed))
        self._steps.take(memory)

    def clone(self, src: Ids, dst: Ids, reseed: int | None) -> None:
        """Copy the states of games to others; see :meth:`BlockVectorEnv.clone`."""
        self._requests.check("clone")
        games = self._batch.num_games
        source, target = game_ids(src, games, "src"), game_ids(dst, games, "dst")
        if len(source) != len(target):
            raise ValueError(f"clone: {len(source)} sources for {len(target)} targets, want equal numbers")
        memory = self._steps.next_memory()
        self._requests.transport.clone(memory, source, target, _reseed(reseed))
        self._steps.take(memory)

    # -- rollouts ---------------------------------------------------------------------

    def buffer(self, steps: int) -> RolloutBuffer:
        """Return memory for this many steps."""
        return self._requests.transport.buffer(positive("steps", steps))

    def rollout(self, steps: int | RolloutBuffer, policy: str, last: bool) -> Rollout:
        """Let the server play; see :meth:`BlockVectorEnv.rollout`. With last, only the last step is kept."""
        self._requests.check("rollout")
        policy = self.opponents.send_policy(policy)
        transport = self._requests.transport
        if isinstance(steps, RolloutBuffer):
            count, buffer = steps.steps, steps
        else:
            count = positive("steps", steps)
            if last and count > 1:
                transport.skip(count - 1, policy)
            buffer = self.buffer(1 if last else count)
        transport.rollout(buffer, policy)
        for t in range(len(buffer)):
            self._batch.complete(buffer[t], self._batch.same_step)
        self._steps.take(buffer.memory(len(buffer) - 1))
        return Rollout(buffer, count)


def _reseed(reseed: int | None) -> dict[str, int]:
    return {} if reseed is None else {"reseed": check_seed(reseed, "reseed")}
