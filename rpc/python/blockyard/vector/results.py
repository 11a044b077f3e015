"""Results of queries: legal actions, afterstates, rollouts."""

from collections.abc import Iterable
from dataclasses import dataclass, fields
from typing import Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from ..transport.memory import RolloutBuffer

T = TypeVar("T", bound="ByRow")
_DTYPES = {"indptr": "<u4", "actions": "<u2", "planes": "u1", "globals": "<f4", "features": "<f4", "reward": "<f4"}


@dataclass(frozen=True)
class ByRow:
    """The legal actions of each row, in CSR form, and what is said of each, in arrays of its own."""

    indptr: NDArray[np.uint32]
    actions: NDArray[np.uint16]

    @classmethod
    def read(cls: type[T], answers: Iterable[dict[str, Any]], **shapes: tuple[int, ...]) -> T:
        """Return answers of the server about consecutive rows as one; shapes are those of entries that are arrays."""
        pages = list(answers)
        columns = [
            [np.frombuffer(d[f.name], _DTYPES.get(f.name, "?")).reshape(-1, *shapes.get(f.name, ())) for d in pages]
            for f in fields(cls)
        ]
        ends = np.cumsum([0, *map(len, columns[1])], dtype=np.uint32)
        indptr = [columns[0][0][:1], *(one[1:] + end for one, end in zip(columns[0], ends, strict=False))]
        return cls(*map(np.concatenate, (indptr, *columns[1:])))

    @property
    def counts(self) -> NDArray[np.int64]:
        """int64 (rows,): number of legal actions of each row."""
        ends = self.indptr.astype(np.int64)
        return ends[1:] - ends[:-1]


@dataclass(frozen=True)
class LegalActions(ByRow):
    """The legal actions of each row, in CSR (compressed sparse row) form: those of row k are also ``legal[k]``.

    There is at least one per row: a row that need not act has only 0, which is ignored.

    Attributes:
        indptr: uint32 (rows + 1,), CSR offsets: row k has entries ``indptr[k]:indptr[k + 1]`` of the other arrays.
        actions: uint16 (m,), ascending within a row.
    """

    def __len__(self) -> int:
        return len(self.indptr) - 1

    def __getitem__(self, row: int) -> NDArray[np.uint16]:
        if not 0 <= row < len(self):
            raise IndexError(f"row {row}: want 0 <= row < {len(self)}")
        return self.actions[self.indptr[row] : self.indptr[row + 1]]

    def __repr__(self) -> str:
        return f"LegalActions({len(self)} rows, {len(self.actions)} actions)"

    def sample(self, rng: np.random.Generator, idle: int = 0) -> NDArray[np.int64]:
        """Return a uniformly random legal action for each row, int64 (rows,); ``idle`` for rows without one."""
        if not isinstance(rng, np.random.Generator):
            raise TypeError(f"rng: want numpy.random.default_rng(seed), which is kept between calls, got {rng!r:.100}")
        counts, start = self.counts, self.indptr[:-1].astype(np.int64)
        pick = start + (rng.random(len(self)) * counts).astype(np.int64)
        out = np.full(len(self), idle, np.int64)
        some = counts > 0
        out[some] = self.actions[pick[some]]
        return out


@dataclass(frozen=True)
class Outcomes(ByRow):
    """What is known of the position after each legal action of each row."""

    def __len__(self) -> int:
        return len(self.actions)

    @property
    def row(self) -> NDArray[np.int64]:
        """int64 (m,): the row of each entry."""
        return np.repeat(np.arange(len(self.indptr) - 1), self.counts)

    def best(self, values: NDArray[Any]) -> NDArray[np.int64]:
        """Return the index of the greatest value of each row, int64 (rows,); -1 for a row without entries.

        values are (m,), one per entry; the first of equal ones wins. ValueError: another shape, or one is not a number.
        """
        if np.shape(values) != (len(self),):
            raise ValueError(f"values: want one for each entry, shape ({len(self)},), got {np.shape(values)}")
        if np.isnan(values).any():
            raise ValueError(f"values: entry {int(np.isnan(values).argmax())} is nan, so no action is the best")
        start, counts = self.indptr[:-1].astype(np.int64), self.counts
        some = np.flatnonzero(counts)
        out = np.full(len(start), -1, np.int64)
        if len(some):
            top = np.maximum.reduceat(values, start[some])
            hits = np.flatnonzero(values == np.repeat(top, counts[some]))
            rows = np.searchsorted(start[some], hits, side="right") - 1
            out[some[rows[::-1]]] = hits[::-1]
        return out


@dataclass(frozen=True)
class Afterstates(Outcomes):
    """For each legal action of each row: the position after that seat alone has played it.

    A row that need not act has one entry: action 0, its observation as it is, reward 0.

    The random draws of an action (such as the next piece) are independent of those that the game itself will make.

    Attributes:
        indptr: uint32 (rows + 1,), CSR offsets: row k has entries ``indptr[k]:indptr[k + 1]`` of the other arrays.
        actions: uint16 (m,), ascending within a row.
        planes: uint8 (m, C, H, W), as the seat observes them.
        globals: float32 (m, G).
        reward: float32 (m,), the reward of the seat for the action.
        done: bool (m,), whether the action ends the game.
    """

    planes: NDArray[np.uint8]
    globals: NDArray[np.float32]
    reward: NDArray[np.float32]
    done: NDArray[np.bool_]

    def __repr__(self) -> str:
        shape = self.planes.shape[1:]
        return f"Afterstates({len(self.indptr) - 1} rows, {len(self)} afterstates of planes {shape})"


@dataclass(frozen=True)
class Rollout:
    """Steps that the server played without a message per step.

    Attributes:
        buffer: the steps that were kept, as arrays whose first axis is time.
        steps: number of steps played; with ``keep="last"`` the buffer has only the last one.
    """

    buffer: RolloutBuffer
    steps: int

    def __repr__(self) -> str:
        return f"Rollout(steps={self.steps}, kept={len(self.buffer)}, rows={self.actions.shape[1]})"

    @property
    def actions(self) -> NDArray[np.uint16]:
        """uint16 (steps kept, rows): row t holds the actions that led to step t."""
        return self.buffer.actions
