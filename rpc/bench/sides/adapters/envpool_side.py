"""EnvPool: its port of Jumanji's Tetris, a step of which is one piece placed, on one thread per core."""

from __future__ import annotations

import os
from importlib.metadata import version
from typing import Any

import envpool
import numpy as np

from ..stepper import Stepper


class Pool(Stepper):
    """Games in EnvPool, stepped synchronously, which resets them when they end."""

    def __init__(self, envs: int) -> None:
        threads = len(os.sched_getaffinity(0))
        self.env = envpool.make_gymnasium("Jumanji/Tetris-v0", num_envs=envs, num_threads=threads, seed=1)
        self.shown, _ = self.env.reset()
        super().__init__(envs, sum(a.nbytes for a in self.shown.values()), {"envpool": version("envpool")})
        self.rng, self.actions = np.random.default_rng(1), np.zeros((envs, 2), np.int32)

    def prepare(self, want: int) -> int:
        mask = self.shown["action_mask"].reshape(len(self.actions), -1)
        pick = (mask * self.rng.random(mask.shape, np.float32)).argmax(1)
        self.actions = np.stack([pick // 10, pick % 10], 1).astype(np.int32)
        return 1

    def play(self, steps: int) -> None:
        self.shown, *_ = self.env.step(self.actions)


def start(name: str, options: dict[str, Any]) -> Stepper:
    """Open games: the option is envs."""
    return Pool(options["envs"])
