"""Gymnasium's own vector environments, of our single environment and of a peer's.

All our single environments use one server.
"""

from __future__ import annotations

import multiprocessing
from collections.abc import Callable
from functools import partial
from importlib.metadata import version
from typing import Any

import gymnasium
import numpy as np
from gymnasium.vector import AsyncVectorEnv, SyncVectorEnv

from ..stepper import Stepper


def one_of_ours(game: str, address: str) -> Any:
    """Return our single environment."""
    import blockyard

    return blockyard.make(game, address=address, seed=1)


def one_of_tetris() -> Any:
    """Return tetris-gymnasium's environment."""
    import tetris_gymnasium.envs  # noqa: F401  (registers it)

    return gymnasium.make("tetris_gymnasium/Tetris", render_mode=None, disable_env_checker=True)


class Vector(Stepper):
    """A vector of single environments. Masks, where there are any, are read between the steps."""

    def __init__(self, kind: str, make: Callable[[], Any], envs: int, others: list[int], about: dict[str, str]) -> None:
        build: Any = {"sync": SyncVectorEnv, "async": AsyncVectorEnv}[kind]
        self.env = build([make] * envs)
        obs, self.infos = self.env.reset(seed=1)
        size = sum(np.asarray(x).nbytes for x in (obs.values() if isinstance(obs, dict) else [obs]))
        children = [child.pid for child in multiprocessing.active_children() if child.pid is not None]
        super().__init__(envs, size, about | {"gymnasium": gymnasium.__version__}, children + others)
        self.rng, self.actions = np.random.default_rng(1), list[Any]()

    def prepare(self, want: int) -> int:
        mask = self.infos.get("action_mask")
        if mask is None:
            self.actions = [self.env.action_space.sample() for _ in range(min(want, 32))]
        else:
            self.actions = [(np.asarray(mask) * self.rng.random(mask.shape)).argmax(1)]
        return len(self.actions)

    def play(self, steps: int) -> None:
        for actions in self.actions[:steps]:
            self.infos = self.env.step(actions)[-1]


def start(name: str, options: dict[str, Any]) -> Stepper:
    """Open a vector: options are envs, and game for ours."""
    kind, _, what = name.partition(" ")
    if what == "ours":
        from .ours import server

        make = partial(one_of_ours, options["game"], server().said["ready"][0])
        return Vector(kind, make, options["envs"], [server().pid], {})
    return Vector(kind, one_of_tetris, options["envs"], [], {"tetris-gymnasium": version("tetris-gymnasium")})
