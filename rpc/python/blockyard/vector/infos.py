"""The infos of a step, whose masks are unpacked only when they are read, and the final positions of games."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

_set = dict.__setitem__


class Infos(dict[str, Any]):
    """A dict of arrays, each with a boolean ``_key`` array beside it, as Gymnasium defines infos.

    A value may be lazy: it is computed when it is first read. This keeps masks cheap: 4096 packed masks
    of 1601 actions are 0.8 MB, unpacked 6.5 MB, and many learners need only the legal actions.
    """

    # Never modified: instances with lazy values have a dict of their own.
    _lazy: dict[str, Callable[[], Any]] = {}  # noqa: RUF012

    def set_lazy(self, key: str, make: Callable[[], Any]) -> None:
        """Let make() compute the value of a key when it is first read; the key must already be set."""
        self._lazy = {**self._lazy, key: make}

    def put(self, key: str, value: Any, mask: NDArray[np.bool_]) -> None:
        """Set a value, and the mask of the rows in which it is valid."""
        _set(self, key, value)
        _set(self, "_" + key, mask)

    def _compute(self, key: str) -> None:
        if make := self._lazy.pop(key, None):
            _set(self, key, make())

    def _compute_all(self) -> None:
        for key in tuple(self._lazy):
            self._compute(key)

    def __getitem__(self, key: str) -> Any:
        self._compute(key)
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._lazy.pop(key, None)
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        self._lazy.pop(key, None)
        super().__delitem__(key)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """Set several items, as ``dict.update`` does."""
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def __ior__(self, other: Any) -> Infos:  # type: ignore[override]
        self.update(other)
        return self

    def setdefault(self, key: str, default: Any = None) -> Any:
        """Return the value of key, which is default if it was not there."""
        self._compute(key)
        return super().setdefault(key, default)

    def popitem(self) -> tuple[str, Any]:
        """Remove the last item and return it."""
        self._compute_all()
        return super().popitem()

    def clear(self) -> None:
        """Remove all items."""
        self._lazy = {}
        super().clear()

    def __iter__(self) -> Iterator[str]:  # overridden so that dict(infos) reads values with __getitem__
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of key, or default."""
        return self[key] if key in self else default  # noqa: SIM401  (this defines get)

    def pop(self, key: str, *default: Any) -> Any:
        """Remove key and return its value."""
        self._compute(key)
        return super().pop(key, *default)

    def items(self) -> Any:
        """Return keys and values."""
        self._compute_all()
        return super().items()

    def values(self) -> Any:
        """Return the values."""
        self._compute_all()
        return super().values()

    def copy(self) -> dict[str, Any]:
        """Return an ordinary dict with the same items."""
        self._compute_all()
        return dict(super().items())

    def __eq__(self, other: object) -> bool:
        self._compute_all()
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __repr__(self) -> str:
        self._compute_all()
        return super().__repr__()

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
