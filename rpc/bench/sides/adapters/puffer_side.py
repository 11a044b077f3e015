"""PufferLib's Tetris, in C, stepped on one thread, as PufferLib's vector environment does in a worker.

A step is one key, not one piece: with random keys, one of seven of which drops the piece, a piece takes several steps.
Every key is always legal, so the actions are chosen before the steps.
"""

from __future__ import annotations

import functools
import os
import sys
from typing import Any

import numpy as np

from ..stepper import Stepper
from .puffer_build import built

VERSION = "3.0.0"
sys.path.append(str(built(VERSION)))
sys.setdlopenflags(os.RTLD_LAZY)  # what it would draw with is not there

from pufferlib.ocean.tetris.tetris import Tetris  # noqa: E402

TRACE = 64


HOLD, BOARD, NUMBERS = 6, 200, 6  # a key; parts of an observation before the next pieces


@functools.cache
def keys_per_piece() -> float:
    """Return the number of steps with random keys per placed piece.

    It is counted without the key that swaps pieces, by changes of the next pieces, and then corrected for that key.
    """
    games, steps = 256, 500
    env = Tetris(num_envs=games)
    shown, _ = env.reset(seed=1)
    rng, before, placed = np.random.default_rng(1), shown[:, BOARD + NUMBERS :].copy(), 0
    for _ in range(steps):
        shown, *_ = env.step(rng.integers(0, HOLD, games))
        placed += int((shown[:, BOARD + NUMBERS :] != before).any(1).sum())
        before = shown[:, BOARD + NUMBERS :].copy()
    env.close()
    return games * steps / placed * (HOLD + 1) / HOLD


class Keys(Stepper):
    """Games in C; those that end are started again within the step."""

    def __init__(self, envs: int) -> None:
        self.env, self.at = Tetris(num_envs=envs), 0
        self.env.reset(seed=1)
        self.actions = np.random.default_rng(1).integers(0, self.env.single_action_space.n, (TRACE, envs))
        about = {"pufferlib": VERSION, "steps_per_piece": keys_per_piece()}
        super().__init__(envs, self.env.observations.nbytes, about)

    def play(self, steps: int) -> None:
        for _ in range(steps):
            self.env.step(self.actions[self.at % TRACE])
            self.at += 1


def start(name: str, options: dict[str, Any]) -> Stepper:
    """Open games: the option is envs."""
    return Keys(options["envs"])
