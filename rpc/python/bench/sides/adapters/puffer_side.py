"""PufferLib's Tetris, in C, stepped on one thread as its vector does in a worker.

A step is one key of a falling piece, not a piece placed: with random keys, one of seven of which drops the piece, it
takes several steps a piece. Every key is legal at all times, so that the choices are made before the steps.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import numpy as np
from pufferlib.ocean.tetris.tetris import Tetris

from ..stepper import Stepper

TRACE = 64


class Keys(Stepper):
    """Games in C; those that end are started again within the step."""

    def __init__(self, envs: int) -> None:
        super().__init__()
        self.env = Tetris(num_envs=envs)
        self.env.reset(seed=1)
        self.actions = np.random.default_rng(1).integers(0, self.env.single_action_space.n, (TRACE, envs))
        self.envs = self.rows = envs
        self.size, self.at = self.env.observations.nbytes, 0
        self.about = {"pufferlib": version("pufferlib")}

    def prepare(self, want: int) -> int:
        return want

    def play(self, steps: int) -> None:
        for _ in range(steps):
            self.env.step(self.actions[self.at % TRACE])
            self.at += 1

    def close(self) -> None:
        self.env.close()


def start(name: str, options: dict[str, Any]) -> Stepper:
    """Open games: the option is envs."""
    return Keys(options["envs"])
