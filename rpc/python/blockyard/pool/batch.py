"""The results of some games of a pool: joining them, splitting them, and reading them like those of a step."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from ..transport.memory import Handle, StepMemory, resized, span
from ..transport.over_socket import Finals
from ..vector.batch import Obs, StepResult
from ..vector.infos import FinalStep


@dataclass
class Received:
    """The results of the games that one answer of a server returned."""

    games: NDArray[np.int64]  # (k,), indices of games of the pool, in the order in which they finished
    memory: StepMemory
    finals: dict[int, tuple[FinalStep, int]] = field(default_factory=dict)  # of games that ended and were reset


class PoolBatch:
    """The results of rows whose step is done.

    Attributes:
        env_ids: int64 (n,), indices of the rows; read-only. The rows of a game are next to each other.
        obs: dict of arrays (n, ...), as of :class:`BlockVectorEnv`.
        rewards: float64 (n,).
        terminated, truncated: bool (n,).
        infos: as of :class:`BlockVectorEnv`, with an entry for each of these rows.
    """

    __slots__ = ("env_ids", "infos", "obs", "rewards", "terminated", "truncated")

    def __init__(self, env_ids: NDArray[np.int64], result: StepResult) -> None:
        env_ids.flags.writeable = False
        self.env_ids = env_ids
        self.obs: Obs
        self.obs, self.rewards, self.terminated, self.truncated, self.infos = result

    def __len__(self) -> int:
        return len(self.env_ids)

    @property
    def action_masks(self) -> NDArray[np.bool_] | None:
        """Legal actions: bool (n, actions), unpacked when first read; None with ``mask=False``."""
        masks: NDArray[np.bool_] | None = self.infos.get("action_mask")
        return masks

    def __repr__(self) -> str:
        ids = ", ".join(map(str, self.env_ids[:6])) + (", ..." if len(self) > 6 else "")
        return f"PoolBatch({len(self)} rows: {ids})"


def finals(received: Received, rows: int) -> Finals:
    """Return the last observations of the games that ended, each of which has so many rows."""
    ended = received.games[received.memory.terminated | received.memory.truncated].tolist()
    places = [received.finals[game] for game in ended]

    return {
        name: np.concatenate([getattr(final, name)[k * per : (k + 1) * per] for final, k in places])
        for name, per in {"planes": rows, "globals": rows, "mask": rows, "opponents": 1}.items()
        if getattr(places[0][0], name) is not None
    }


def join(parts: Sequence[Received], handle: Handle) -> Received:
    """Join results; handle is the layout of all of them."""
    if len(parts) == 1:
        return parts[0]
    memory = StepMemory.separate(handle)
    for name, array in memory.arrays.items():
        np.concatenate([part.memory.arrays[name] for part in parts], out=array)
    finals = {game: place for part in parts for game, place in part.finals.items()}
    return Received(np.concatenate([part.games for part in parts]), memory, finals)


def some(one: Received, handle: Handle, which: NDArray[np.bool_]) -> Received:
    """Return the results of some of the games; handle is the layout of any number of them."""
    memory = StepMemory.separate(resized(handle, int(np.count_nonzero(which))))
    for name, to in memory.arrays.items():
        each = span(name, 0, 1, handle.rows_per_game).stop
        array = one.memory.arrays[name]
        to[:] = array.reshape(len(which), each, *array.shape[1:])[which].reshape(to.shape)
    return Received(one.games[which], memory, one.finals)


def split(one: Received, handle: Handle, count: int) -> tuple[Received, Received]:
    """Split the first games off; handle is the layout of any number of them."""

    def part(start: int, end: int) -> Received:
        arrays, per = one.memory.arrays.items(), handle.rows_per_game
        given = {name: array[span(name, start, end, per)] for name, array in arrays}
        memory = StepMemory.over_arrays(resized(handle, end - start), given)
        return Received(one.games[start:end], memory, one.finals)

    return part(0, count), part(count, len(one.games))
