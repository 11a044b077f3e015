"""Memory that is handed out, and used again once nobody holds an array of it."""

from __future__ import annotations

import mmap
from collections import deque
from collections.abc import Callable
from sys import getrefcount
from typing import Any

from .facts import Handle
from .slab import LEAD, Slab

_TRIES = 4  # slabs looked at before a new one is made
_SPARE = 4  # of which more than one nobody holds, beyond which memory is given back
_MOST = 512  # slabs that are remembered
_PAGE = 4096


class Pool:
    """Slabs, arrays and all, of which each is handed out again when nobody holds it or an array of it.

    Fresh memory for every step costs more than the step of a small game, for the system has to
    clear each page, and so does laying arrays into it anew. What the user keeps is never touched again.
    """

    def __init__(self, make: Callable[[], Slab | None], forget: bool = True) -> None:
        """Make none yet.

        Args:
            make: returns a slab that nobody else has; None if there can be no more for now.
            forget: whether slabs may be dropped, which come no more then; their memory goes when nobody holds it.
        """
        self._make, self._forget = make, forget
        # Longest not looked at first: a slab and its arrays, and how often all are referred to if only from here.
        self._out: deque[tuple[list[Any], int]] = deque()

    def slab(self) -> Slab | None:
        """Return a slab that nobody else has; None if there is none."""
        out = self._out
        for _ in range(min(_TRIES, len(out))):
            held, quiet = out[0]
            out.rotate(-1)
            if sum(map(getrefcount, held)) == quiet:
                if len(out) > _SPARE and self._forget:
                    self._drop()
                return held[0].reuse()  # type: ignore[no-any-return]
        return self._add()

    def _add(self) -> Slab | None:
        new = self._make()
        if new is None:
            return None
        held = new.everything()
        del new
        self._out.append((held, sum(map(getrefcount, held))))
        if len(self._out) > _MOST and self._forget:
            self._out.popleft()
        return held[0]  # type: ignore[no-any-return]

    def _drop(self) -> None:
        """Forget the slab longest not looked at, if nobody holds it."""
        held, quiet = self._out[0]
        if sum(map(getrefcount, held)) == quiet:
            self._out.popleft()


def private_slab(handle: Handle) -> Slab:
    """Return a slab in memory of our own, which goes back to the system when it goes."""
    size = -(-(LEAD + handle.slab_len) // _PAGE) * _PAGE
    return Slab(handle, mmap.mmap(-1, size), lead=LEAD)
