"""Rewards with a potential: denser, and the same policies are optimal (Ng, Harada and Russell 1999)."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats.spec import GameSpec

GAMMA = 0.99
# The potential of a position is the hyperbolic tangent of the sum of these multiples of its globals.
POTENTIALS = {
    "blockbattle": {"own_points": 0.05, "opponent_points": -0.05, "own_height": -0.02, "opponent_height": 0.02},
    "tetrisduel": {"own_points": 0.02, "opponent_points": -0.02},
    "blocking": {"own_points": 0.03, "second_points": -0.01, "third_points": -0.01, "fourth_points": -0.01},
}


class Shaping:
    """Adds γΦ(s′) − Φ(s) to rewards. The potential Φ of a position after which nothing follows is 0."""

    def __init__(self, spec: GameSpec) -> None:
        """Raise ValueError if the game has no potential."""
        terms = POTENTIALS.get(spec.name.partition(":")[0])
        if terms is None:
            raise ValueError(f"reward='shaped': {spec.id} has none, only {', '.join(POTENTIALS)}; leave it out")
        self._weights = np.array([terms.get(name, 0.0) for name in spec.global_names], np.float32)
        self._before = np.zeros(0)

    def of(self, numbers: NDArray[np.float32]) -> NDArray[np.float64]:
        """Return the potential of positions with these globals, float64 (rows,)."""
        return np.tanh((numbers @ self._weights).astype(np.float64))

    def begin(self, numbers: NDArray[np.float32], over: NDArray[np.bool_]) -> None:
        """Note the positions before a step, and in which rows the step only resets the game."""
        self._before = np.where(over, np.nan, self.of(numbers))

    def shaped(
        self, rewards: NDArray[np.float64], numbers: NDArray[np.float32], terminated: NDArray[np.bool_], final: Any
    ) -> NDArray[np.float64]:
        """Return the rewards of a step with what is added.

        Args:
            rewards: float64 (rows,).
            numbers: the globals of the positions after the step.
            terminated: bool (rows,).
            final: the rows whose next episode has begun, bool (rows,), and the globals of their last positions.
        """
        after = self.of(numbers)
        if final is not None:
            after[final[0]] = self.of(final[1])
        added = GAMMA * np.where(terminated, 0.0, after) - self._before
        return rewards + np.where(np.isnan(added), 0.0, added)
