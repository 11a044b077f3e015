"""Counts the illegal actions of an environment, and warns of many."""

from __future__ import annotations

import sys
import warnings

import numpy as np
from numpy.typing import NDArray

WARN_AFTER = 1000


class IllegalActions:
    """Counts the illegal actions that the server replaced.

    If nobody chose what happens to them, the first :data:`WARN_AFTER` cause one RuntimeWarning: a policy that
    ignores its masks trains, but on other moves than it chose.

    Attributes:
        actions: number of actions of rows that had to act.
        illegal: number of those that were illegal.
        warn_after: number of illegal actions that causes the warning; None: never.
    """

    def __init__(self, chosen: str | None) -> None:
        """Start at 0; chosen is the argument ``illegal``, None if it was left out."""
        self.warn_after = WARN_AFTER if chosen is None else None
        self.actions = self.illegal = 0

    def count(self, actions: int, illegal: NDArray[np.bool_] | None) -> None:
        """Count a step in which so many rows acted, and whose action was illegal; None if that is an error."""
        self.actions += actions
        if illegal is not None and (count := int(np.count_nonzero(illegal))):
            self.illegal += count
            if self.warn_after is not None and self.illegal >= self.warn_after:
                self.warn_after = None
                self._warn()

    def _warn(self) -> None:
        actions = max(self.actions, self.illegal)
        text = (
            f"{self.illegal:,} of {actions:,} actions ({self.illegal / actions:.0%}) were illegal. Each was "
            "replaced by the contest's penalty for an illegal answer, which costs points or the game. Choose actions "
            'with infos["action_mask"]; or pass illegal="error" to stop at the first, illegal="random" to play a '
            'random legal action instead, illegal="penalty" to keep this without a warning'
        )
        warnings.warn(text, RuntimeWarning, stacklevel=_outside())


def _outside() -> int:
    """Return the stack level, for a warning of the caller, of the first function outside of this package."""
    package, frame, level = __name__.rpartition(".")[0], sys._getframe(1), 1
    while frame.f_back and str(frame.f_globals.get("__name__", "")).startswith(package):
        frame, level = frame.f_back, level + 1
    return level
