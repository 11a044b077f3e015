"""The results of the games of a pool, which are read like those of a step."""

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..transport.memory import StepMemory
from ..transport.over_socket import Finals
from ..vector.batch import Batch, Obs, StepResult
from ..vector.infos import FinalStep


class PoolBatch:
    """The results of rows whose step is done.

    Attributes:
        env_ids: int64 (n,), indices of the rows. The rows of a game are next to each other.
        obs: dict of arrays (n, ...), as of :class:`BlockVectorEnv`.
        rewards: float64 (n,).
        terminated, truncated: bool (n,).
        infos: as of :class:`BlockVectorEnv`, with an entry for each of these rows.
    """

    __slots__ = ("env_ids", "infos", "obs", "rewards", "terminated", "truncated")

    def __init__(self, env_ids: NDArray[np.int64], result: StepResult) -> None:
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


class Results:
    """The last results of each game of a pool, until a :class:`PoolBatch` has them."""

    def __init__(self, one: Batch, games: int) -> None:
        """Keep results of so many games; one reads those of some other number."""
        self._one, self._readers = one, dict[int, Batch]()
        self._games, self._rows = games, one.rows_per_game
        self._memory = StepMemory.separate(self.reader(games).handle)
        self._finals: dict[int, tuple[FinalStep, int]] = {}  # of games that ended and were reset

    def reader(self, games: int) -> Batch:
        """Return what reads the results of so many games."""
        return self._readers.get(games) or self._readers.setdefault(games, self._one.resized(games))

    def field(self, name: str, games: NDArray[np.int64] | slice) -> NDArray[Any]:
        """Return some games' entries of a field of a step, each in a row; rows without entries if it is no field."""
        array = self._memory.arrays.get(name)
        return np.zeros((self._games, 0), "<u2")[games] if array is None else array.reshape(self._games, -1)[games]

    def put(self, games: NDArray[np.int64], arrays: Mapping[str, NDArray[Any]]) -> None:
        """Keep the results of some games, the arrays of a step."""
        for name, array in arrays.items():
            self._memory.arrays[name].reshape(self._games, -1)[games] = array.reshape(len(games), -1)

    def put_slab(self, games: NDArray[np.int64], data: bytes) -> None:
        """Keep the results of some games, in the bytes of a step."""
        fields = self.reader(len(games)).handle.fields
        self.put(games, {f.name: np.ndarray(f.shape, f.dtype, data, f.offset) for f in fields})

    def put_finals(self, first: int, final: FinalStep) -> None:
        """Keep the final positions of games, which are counted from first."""
        self._finals.update((first + int(game), (final, k)) for k, game in enumerate(final.games))

    def get(self, games: NDArray[np.int64]) -> StepMemory:
        """Return the results of some games in memory of their own."""
        memory = StepMemory.separate(self.reader(len(games)).handle)
        for name, array in memory.arrays.items():
            every = self._memory.arrays[name].reshape(self._games, -1)
            np.take(every, games, 0, array.reshape(len(games), -1), "clip")
        return memory

    def finals(self, games: NDArray[np.int64], memory: StepMemory) -> Finals:
        """Return, once, the last observations of those of these games that ended; memory has their results."""
        places = [self._finals.pop(game) for game in games[memory.terminated | memory.truncated].tolist()]
        return {
            name: np.concatenate([getattr(final, name)[k * per : (k + 1) * per] for final, k in places])
            for name, per in {"planes": self._rows, "globals": self._rows, "mask": self._rows, "opponents": 1}.items()
            if getattr(places[0][0], name) is not None
        }
