"""Infos of a vector environment, whose masks are unpacked only when somebody looks."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

_set = dict.__setitem__


class Infos(dict[str, Any]):
    """A dict of arrays with a ``_key`` mask beside each key, as Gymnasium wants it.

    A value may be made when it is first read. That is what keeps masks cheap: 4096 masks of
    1601 actions are 0.8 MB as they come and 6.5 MB unpacked, and many learners take the
    legal actions in another form.
    """

    _lazy: dict[str, Callable[[], Any]] = {}  # noqa: RUF012  (never changed: one with lazy values has its own)

    def defer(self, key: str, make: Callable[[], Any]) -> None:
        """Let make() be the value of a key once it is asked for; the key is there, as is its mask."""
        self._lazy = {**self._lazy, key: make}

    def put(self, key: str, value: Any, mask: NDArray[np.bool_]) -> None:
        """Add a value and the mask of where it counts."""
        _set(self, key, value)
        _set(self, "_" + key, mask)

    def _force(self, key: str) -> None:
        if make := self._lazy.pop(key, None):
            _set(self, key, make())

    def _force_all(self) -> None:
        for key in tuple(self._lazy):
            self._force(key)

    def __getitem__(self, key: str) -> Any:
        self._force(key)
        return super().__getitem__(key)

    def __setitem__(self, key: str, value: Any) -> None:
        self._lazy.pop(key, None)
        super().__setitem__(key, value)

    def __delitem__(self, key: str) -> None:
        self._lazy.pop(key, None)
        super().__delitem__(key)

    def __iter__(self) -> Iterator[str]:  # overridden so that dict(infos) reads through us
        return super().__iter__()

    def get(self, key: str, default: Any = None) -> Any:
        """Return the value of key, default if there is none."""
        return self[key] if key in self else default  # noqa: SIM401  (get is what is defined here)

    def pop(self, key: str, *default: Any) -> Any:
        """Remove key and return its value."""
        self._force(key)
        return super().pop(key, *default)

    def items(self) -> Any:
        """Return keys and values."""
        self._force_all()
        return super().items()

    def values(self) -> Any:
        """Return the values."""
        self._force_all()
        return super().values()

    def copy(self) -> dict[str, Any]:
        """Return an ordinary dict of the same."""
        self._force_all()
        return dict(super().items())

    def __eq__(self, other: object) -> bool:
        self._force_all()
        return super().__eq__(other)

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __or__(self, other: Any) -> Any:
        return self.copy() | other

    def __repr__(self) -> str:
        self._force_all()
        return super().__repr__()

    def __reduce__(self) -> tuple[Any, ...]:
        return (dict, (self.copy(),))
