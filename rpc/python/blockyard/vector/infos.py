"""The infos of a step, whose masks are unpacked only when they are read, and the final positions of games."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, MutableMapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

_set = dict.__setitem__


class _Later(partial[Any]):
    """What computes a value when that is first read."""


class Infos(dict[str, Any]):
    """A dict of arrays, each with a boolean ``_key`` array beside it, as Gymnasium defines infos.

    A value may be lazy: it is computed when it is first read. This keeps masks cheap: 4096 packed masks
    of 1601 actions are 0.8 MB, unpacked 6.5 MB, and many learners need only the legal actions.
    """

    def put(self, key: str, value: Any, mask: NDArray[np.bool_]) -> None:
        """Set a value, and the mask of the rows in which it is valid."""
        _set(self, key, value)
        _set(self, "_" + key, mask)

    def put_lazy(self, key: str, make: Callable[[], Any], mask: NDArray[np.bool_]) -> None:
        """Let make() compute a value when it is first read; mask as in :meth:`put`."""
        self.put(key, _Later(make), mask)

    def __getitem__(self, key: str) -> Any:
        value = super().__getitem__(key)
        if type(value) is _Later:
            value = self[key] = value()
        return value

    # Whatever reads values reads them by __getitem__. The methods of dict would not.
    get: Any = Mapping.get
    items: Any = Mapping.items
    values: Any = Mapping.values
    setdefault: Any = MutableMapping.setdefault
    pop: Any = MutableMapping.pop
    __eq__: Any = Mapping.__eq__
    __ne__: Any = object.__ne__

    def __iter__(self) -> Iterator[str]:  # overridden so that dict(infos) does, too
        return super().__iter__()

    def popitem(self) -> tuple[str, Any]:
        """Remove the newest key and return it with its value."""
        self.get(next(reversed(self), ""))
        return super().popitem()

    def copy(self) -> dict[str, Any]:
        """Return a plain dict of all values."""
        return dict(self)

    def __or__(self, other: Any) -> Any:
        return dict(self) | other

    def __repr__(self) -> str:
        return repr(dict(self))

    def __reduce__(self) -> tuple[Any, ...]:
        return (dict, (dict(self),))


@dataclass(frozen=True)
class FinalStep:
    """The final positions of the games that ended in the last step.

    Attributes:
        games: int64 (k,), indices of these games, ascending.
        planes: uint8 (k * rows_per_game, C, H, W), final observations.
        globals: float32 (k * rows_per_game, G).
        seat: uint8 (k * rows_per_game,), the seat of each row.
        scores: int32 (k, seats), in points of the contest.
        lengths: uint32 (k,), in steps.
        mask: uint8 (k * rows_per_game, ceil(actions / 8)), packed masks of the actions that were legal at the end:
            only id 0 unless the game was truncated. The attribute is None with ``mask=False``.
        opponents: uint16 (k, seats), indices into ``opponent_specs``; 65535 for driven seats. None if the server plays
            no seat.
    """

    games: NDArray[np.int64]
    planes: NDArray[np.uint8]
    globals: NDArray[np.float32]
    seat: NDArray[np.uint8]
    scores: NDArray[np.int32]
    lengths: NDArray[np.uint32]
    mask: NDArray[np.uint8] | None = None
    opponents: NDArray[np.uint16] | None = None

    def __repr__(self) -> str:
        return f"FinalStep({len(self.games)} games, {len(self.seat)} rows)"
