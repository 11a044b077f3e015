"""The infos of a step, whose masks are unpacked only when they are read, and the final positions of games."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_set = dict.__setitem__


def _computing(name: str, one: bool = False) -> Any:
    """Return a method of dict that computes lazy values first: that of its key, or all."""
    method = getattr(dict, name)

    def call(self: Infos, *args: Any) -> Any:
        for key in args[:1] if one else tuple(self._lazy):
            if make := self._lazy.pop(key, None):
                _set(self, key, make())
        return method(self, *args)

    return call


def _replacing(name: str) -> Any:
    """Return a method of dict that forgets the lazy value of its key first."""
    method = getattr(dict, name)

    def call(self: Infos, key: str, *args: Any) -> None:
        self._lazy.pop(key, None)
        method(self, key, *args)

    return call


class Infos(dict[str, Any]):
    """A dict of arrays, each with a boolean ``_key`` array beside it, as Gymnasium defines infos.

    A value may be lazy: it is computed when it is first read. This keeps masks cheap: 4096 packed masks
    of 1601 actions are 0.8 MB, unpacked 6.5 MB, and many learners need only the legal actions.
    """

    # Never modified: instances with lazy values have a dict of their own.
    _lazy: dict[str, Callable[[], Any]] = {}  # noqa: RUF012

    def put(self, key: str, value: Any, mask: NDArray[np.bool_]) -> None:
        """Set a value, and the mask of the rows in which it is valid."""
        _set(self, key, value)
        _set(self, "_" + key, mask)

    def put_lazy(self, key: str, make: Callable[[], Any], mask: NDArray[np.bool_]) -> None:
        """Let make() compute a value when it is first read; mask as in :meth:`put`."""
        self.put(key, None, mask)
        self._lazy = {**self._lazy, key: make}

    __getitem__, get, pop, setdefault = (_computing(name, True) for name in ("__getitem__", "get", "pop", "setdefault"))
    __setitem__, __delitem__ = map(_replacing, ("__setitem__", "__delitem__"))
    items, values, copy, popitem = map(_computing, ("items", "values", "copy", "popitem"))
    __eq__, __ne__, __or__, __repr__ = map(_computing, ("__eq__", "__ne__", "__or__", "__repr__"))

    def __iter__(self) -> Iterator[str]:  # overridden so that dict(infos) reads values with __getitem__
        return super().__iter__()

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set several values, as :meth:`dict.update` does."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other: Any) -> Infos:  # type: ignore[override, misc]
        self.update(other)
        return self

    def clear(self) -> None:
        """Remove all values, also those that were not computed yet."""
        self._lazy = {}
        super().clear()

    def __reduce__(self) -> tuple[Any, ...]:
        return (dict, (self.copy(),))


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
