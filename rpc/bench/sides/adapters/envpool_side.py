"""EnvPool: its port of Jumanji's Tetris, a step of which is one piece placed, and CartPole.

``tetris`` and ``cartpole`` are stepped synchronously. ``cartpole, async`` uses EnvPool's asynchronous mode: two batches
are in flight, and the first that is done is received. (Tetris has no such entrant: its legal actions have to be chosen
between the steps, which is not timed, and steps that run meanwhile would cost nothing.) It uses one thread per core.
"""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

import envpool
import numpy as np
from numpy.typing import NDArray

from ..stepper import Stepper

TASKS = {"tetris": "Jumanji/Tetris-v0", "cartpole": "CartPole-v1"}


class Pool(Stepper):
    """Games in EnvPool, which resets them when they end."""

    def __init__(self, task: str, envs: int, threads: int, batch: int) -> None:
        super().__init__()
        self.env = envpool.make_gymnasium(TASKS[task], num_envs=envs, batch_size=batch, num_threads=threads, seed=1)
        self.rng = np.random.default_rng(1)
        self.envs = self.rows = batch
        self.about = {"envpool": version("envpool"), "envs": envs, "batch": batch}
        self.together = batch == envs
        if self.together:
            self.shown, self.info = self.env.reset()
        else:
            self.env.async_reset()
            self.shown, *_, self.info = self.env.recv()
        arrays = self.shown.values() if isinstance(self.shown, dict) else [self.shown]
        self.size = sum(a.nbytes for a in arrays)
        self.actions: list[NDArray[np.int32]] = []

    def choices(self) -> NDArray[np.int32]:
        """Return random legal actions for the games that were shown last."""
        if not isinstance(self.shown, dict):
            return self.rng.integers(0, 2, self.envs, np.int32)
        mask = self.shown["action_mask"].reshape(self.envs, -1)
        pick = (mask * self.rng.random(mask.shape, np.float32)).argmax(1)
        return np.stack([pick // 10, pick % 10], 1).astype(np.int32)

    def prepare(self, want: int) -> int:
        some = 1 if isinstance(self.shown, dict) else min(want, 32)
        self.actions = [self.choices() for _ in range(some)]
        return some

    def play(self, steps: int) -> None:
        for actions in self.actions[:steps]:
            if self.together:
                self.shown, *_, self.info = self.env.step(actions)
            else:
                self.env.send(actions, self.info["env_id"])
                self.shown, *_, self.info = self.env.recv()

    def close(self) -> None:
        self.env.close()


def start(name: str, options: dict[str, Any]) -> Stepper:
    """Open games: options are envs and threads."""
    task, _, extra = name.partition(", ")
    envs = options["envs"]
    return Pool(task, envs, options["threads"], envs // 2 if extra == "async" else envs)
