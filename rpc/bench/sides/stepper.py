"""The interface that every adapter implements."""

from __future__ import annotations

import time
from collections.abc import Iterable
from typing import Any

from .clock import seconds

PAUSE = 10e-6  # seconds that a client works between two steps, as trainers do


class Stepper:
    """Games that are stepped together, and their actions.

    A step is one action in each of the games. ``prepare`` is not timed, ``play`` is.

    Attributes:
        envs: number of games, which is the number of environment steps per step, or of what else is counted.
        rows: number of observations per step; the same as envs if one seat per game is driven.
        size: bytes of the result of a step, 0 if unknown.
        about: facts for the reader of the table, by name.
        others: ids of other processes whose CPU time counts.
    """

    def __init__(
        self, envs: float = 1, size: int = 0, about: Any = None, others: Iterable[int] = (), rows: int = 0
    ) -> None:
        self.envs, self.size, self.about, self.others, self.rows = envs, size, about or {}, list(others), rows or envs

    def prepare(self, want: int) -> int:
        """Prepare about want steps, and return the number prepared, at least 1; this one has nothing to prepare."""
        return want

    def play(self, steps: int) -> None:
        """Play the prepared steps."""
        raise NotImplementedError

    def close(self) -> None:
        """Free everything: what is called env, if there is no more."""
        if env := getattr(self, "env", None):
            env.close()

    def burst(self, steps: int) -> tuple[int, float, float]:
        """Play this many steps, or a few more if prepare returns more.

        Returns:
            The number of steps, and their wall-clock and CPU seconds, without the time in prepare.
        """
        wall = cpu = 0.0
        done = 0
        while done < steps:
            some = self.prepare(steps - done)
            used = seconds(self.others)
            begun = time.perf_counter()
            self.play(some)
            wall += time.perf_counter() - begun
            cpu += seconds(self.others) - used
            done += some
        return done, wall, cpu

    def round_trips(self, steps: int) -> list[float]:
        """Return the seconds of each of this many single steps; before each, the client is busy for PAUSE."""
        times: list[float] = []
        while len(times) < steps:
            for _ in range(self.prepare(1)):
                paused = time.perf_counter()
                while (begun := time.perf_counter()) < paused + PAUSE:
                    pass
                self.play(1)
                times.append(time.perf_counter() - begun)
        return times
