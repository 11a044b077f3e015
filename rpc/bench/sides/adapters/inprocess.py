"""Our games in process, without a server or Python: BenchmarkTrace of env/vec; BLOCKYARD_INPROCESS is its program."""

from __future__ import annotations

import os
from typing import Any

from ..golang import bench
from ..stepper import Stepper


class InProcess(Stepper):
    """Games that a program of their own opens for each burst, which is not timed."""

    def __init__(self, game: str, envs: int) -> None:
        super().__init__(envs)
        self.name = f"Trace/{game.removesuffix('-v0').lower()}/N={envs}$"

    def burst(self, steps: int) -> tuple[int, float, float]:
        cores = len(os.sched_getaffinity(0))
        found = bench(os.environ["BLOCKYARD_INPROCESS"], self.name, f"{steps}x", cores=cores)
        if len(found) != 1:
            raise ValueError(f"BenchmarkTrace of env/vec has {len(found)} benchmarks {self.name}, want 1")
        ((took),) = found.values()
        return steps, 1e-9 * took["ns/op"] * steps, 1e-9 * took["cpu-ns/op"] * steps


def start(name: str, options: dict[str, Any]) -> Stepper:
    """Open games: options are game and envs."""
    return InProcess(**options)
