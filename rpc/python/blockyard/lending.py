"""Memory that is handed out, and used again once nobody holds an array of it."""

from __future__ import annotations

import mmap
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

from .facts import Handle
from .slab import LEAD, Slab

# How often an object is referred to; Pythons that cannot say never use memory again.
_references: Callable[[Any], int] | None = getattr(sys, "getrefcount", None)
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
        out, references = self._out, _references
        if references is None:
            return self._make()
        for _ in range(min(_TRIES, len(out))):
            held, quiet = out[0]
            out.rotate(-1)
            if sum(map(references, held)) == quiet:
                if len(out) > _SPARE and self._forget and sum(map(references, out[0][0])) == out[0][1]:
                    out.popleft()
                return held[0].reuse()  # type: ignore[no-any-return]
        return self._add(references)

    def _add(self, references: Callable[[Any], int]) -> Slab | None:
        new = self._make()
        if new is None:
            return None
        held = new.everything()
        del new
        self._out.append((held, sum(map(references, held))))
        if len(self._out) > _MOST and self._forget:
            self._out.popleft()
        return held[0]  # type: ignore[no-any-return]


def private_slab(handle: Handle) -> Slab:
    """Return a slab in memory of our own, which goes back to the system when it goes."""
    size = -(-(LEAD + handle.slab_len) // _PAGE) * _PAGE
    return Slab(handle, mmap.mmap(-1, size), lead=LEAD)
