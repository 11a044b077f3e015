"""What every adapter provides: something that is stepped."""

from __future__ import annotations

import time
from typing import Any

from .clock import seconds


class Stepper:
    """Games that are stepped together, and the actions they are given.

    A step is one action in each of the games. ``prepare`` is not timed, ``play`` is.

    Attributes:
        envs: environment steps that one step makes: how many games are stepped.
        rows: how many seats are given an observation by it; envs where one seat is driven.
        size: bytes that a step shows, 0 if unknown.
        about: what a reader of the table should know of it, by name.
        others: processes whose work counts besides this one's.
    """

    envs = 1
    rows = 1
    size = 0

    def __init__(self) -> None:
        self.about: dict[str, Any] = {}
        self.others: list[int] = []

    def prepare(self, want: int) -> int:
        """Make ready for about want steps and return for how many, at least 1."""
        raise NotImplementedError

    def play(self, steps: int) -> None:
        """Make the steps that prepare has made ready."""
        raise NotImplementedError

    def close(self) -> None:
        """Give everything back."""


def burst(s: Stepper, steps: int) -> tuple[int, float, float]:
    """Make so many steps, or a few more if they come in lots.

    Returns:
        How many were made, and their wall and processor seconds, without what prepare takes.
    """
    wall = cpu = 0.0
    done = 0
    while done < steps:
        some = s.prepare(steps - done)
        used = seconds(s.others)
        begun = time.perf_counter()
        s.play(some)
        wall += time.perf_counter() - begun
        cpu += seconds(s.others) - used
        done += some
    return done, wall, cpu


def round_trips(s: Stepper, steps: int) -> list[float]:
    """Return the seconds of each of so many single steps."""
    times: list[float] = []
    while len(times) < steps:
        for _ in range(s.prepare(1)):
            begun = time.perf_counter()
            s.play(1)
            times.append(time.perf_counter() - begun)
    return times
