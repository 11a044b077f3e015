"""Answers about positions: legal actions, afterstates, rollouts, ends of games."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .buffers import Buffer
from .slab import Slab


def _lengths(indptr: NDArray[np.uint32]) -> NDArray[np.int64]:
    """Return how many entries each row has."""
    ends = indptr.astype(np.int64)
    return ends[1:] - ends[:-1]


@dataclass(frozen=True)
class Legal:
    """Legal actions of rows, in compressed rows.

    Attributes:
        indptr: uint32 (rows + 1,); row k may play ``actions[indptr[k]:indptr[k + 1]]``.
        actions: uint16 (m,), ascending within a row; none where a row need not act.
    """

    indptr: NDArray[np.uint32]
    actions: NDArray[np.uint16]

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, row: int) -> NDArray[np.uint16]:
        if not 0 <= row < len(self):
            raise IndexError(f"row {row} of {len(self)}")
        return self.actions[self.indptr[row] : self.indptr[row + 1]]

    @property
    def counts(self) -> NDArray[np.int64]:
        """int64 (rows,): how many actions each row has."""
        return _lengths(self.indptr)

    def sample(self, rng: np.random.Generator, idle: int = 0) -> NDArray[np.int64]:
        """Return one uniformly random legal action a row, int64 (rows,); idle where there is none."""
        counts, start = self.counts, self.indptr[:-1].astype(np.int64)
        pick = start + (rng.random(len(self)) * counts).astype(np.int64)
        out = np.full(len(self), idle, np.int64)
        some = counts > 0
        out[some] = self.actions[pick[some]]
        return out


@dataclass(frozen=True)
class Afterstates:
    """For each legal action of each row, the position after that seat alone has played it.

    Attributes:
        indptr: uint32 (rows + 1,); those of row k are ``indptr[k]:indptr[k + 1]`` of the rest.
        actions: uint16 (m,), ascending within a row.
        planes: uint8 (m, C, H, W), as the seat sees it.
        globals: float32 (m, G).
        reward: float32 (m,), the change of the seat's reward measure.
        done: bool (m,), whether the game is then over.

    The arrays may be read-only. What a choice draws (the piece to come) says nothing about the
    real future.
    """

    indptr: NDArray[np.uint32]
    actions: NDArray[np.uint16]
    planes: NDArray[np.uint8]
    globals: NDArray[np.float32]
    reward: NDArray[np.float32]
    done: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def row(self) -> NDArray[np.int64]:
        """int64 (m,): the row each one belongs to."""
        return np.repeat(np.arange(len(self.indptr) - 1), _lengths(self.indptr))

    def best(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return for each row the index of its greatest value, int64 (rows,); -1 where it has none.

        Args:
            values: (m,), one number an afterstate. Of equal ones the first counts.
        """
        start = self.indptr[:-1].astype(np.int64)
        some = np.flatnonzero(_lengths(self.indptr))
        out = np.full(len(start), -1, np.int64)
        if len(some):
            top = np.maximum.reduceat(values, start[some])
            hits = np.flatnonzero(values == np.repeat(top, _lengths(self.indptr)[some]))
            rows = np.searchsorted(start[some], hits, side="right") - 1
            out[some[rows[::-1]]] = hits[::-1]
        return out


@dataclass(frozen=True)
class Final:
    """The games that ended in the last step.

    Attributes:
        games: int64 (k,), which ones, ascending.
        planes: uint8 (k * rows_per_game, C, H, W), what their rows saw at the end.
        globals: float32 (k * rows_per_game, G).
        seat: uint8 (k * rows_per_game,), whose row it was.
        scores: int32 (k, seats).
        lengths: uint32 (k,), in steps.
        mask: uint8 (k * rows_per_game, ceil(actions / 8)), what they might have played, as bits: not empty where a
            game was cut off. None without masks.
    """

    games: NDArray[np.int64]
    planes: NDArray[np.uint8]
    globals: NDArray[np.float32]
    seat: NDArray[np.uint8]
    scores: NDArray[np.int32]
    lengths: NDArray[np.uint32]
    mask: NDArray[np.uint8] | None = None


@dataclass(frozen=True)
class Rollout:
    """Steps that the server played by itself.

    Attributes:
        slabs: one Slab a step kept (planes, globals, mask, seat, reward, terminated, truncated).
        actions: uint16 (steps kept, rows), what was played to get there.
        steps: how many were played.
        buffer: the same steps as arrays with a first axis of time.
    """

    slabs: list[Slab]
    actions: NDArray[np.uint16]
    steps: int
    buffer: Buffer
