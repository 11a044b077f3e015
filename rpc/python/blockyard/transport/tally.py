"""Counts results against opponents in the client, so that none are lost with a server."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .layout import Handle
from .memory import StepMemory

_NAMES = ("wins", "draws", "losses", "truncated")
_NOBODY = 0xFFFF  # in the field ``opponent``: the seat is driven


class Tally:
    """The finished episodes against each opponent, as ``opponent_stats`` counts them, from the results of steps."""

    def __init__(self, handle: Handle) -> None:
        self._counts = np.zeros((len(_NAMES), 0), np.uint64)
        self._playing = np.full((handle.games, handle.seats), _NOBODY, "<u2")
        self._players = handle.players
        self._others = [seat for seat in range(handle.seats) if seat not in handle.players]

    def show(self, memory: StepMemory, games: NDArray[np.uint32] | slice = slice(None)) -> None:
        """Note which opponents play in these games now."""
        if self._others:
            self._playing[games] = memory.arrays["opponent"]

    def step(self, memory: StepMemory, games: NDArray[np.uint32] | slice = slice(None)) -> None:
        """Count the games that ended in a step."""
        if not self._others:
            return
        ended = memory.terminated | memory.truncated
        if ended.any():
            playing, result = self._playing[games][ended], memory.arrays["result"][ended]
            for number, one, over in zip(playing, result, memory.terminated[ended], strict=True):
                for other in self._others:
                    self._make_room(number[other] + 1)
                    for mine in self._players:
                        row = 1 + int(one[mine] < one[other]) - int(one[mine] > one[other])
                        self._counts[row if over else 3, number[other]] += np.uint64(1)
        self.show(memory, games)

    def _make_room(self, opponents: int) -> None:
        if (more := int(opponents) - self._counts.shape[1]) > 0:
            self._counts = np.pad(self._counts, ((0, 0), (0, more)))

    def add(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        """Add what a server has counted between two answers to ``opponent_stats``."""
        for row, name in enumerate(_NAMES):
            first, last = (np.frombuffer(answer[name], "<u8") for answer in (before, after))
            self._make_room(len(last))
            self._counts[row, : len(last)] += last
            self._counts[row, : len(first)] -= first

    def answer(self, reset: bool) -> dict[str, Any]:
        """Return the answer to ``opponent_stats``; reset starts again from zero."""
        counts = self._counts
        if reset:
            self._counts = np.zeros((len(_NAMES), 0), np.uint64)
        rows = zip(_NAMES, counts, strict=True)
        return {"count": counts.shape[1], **{name: row.astype("<u8").tobytes() for name, row in rows}}
