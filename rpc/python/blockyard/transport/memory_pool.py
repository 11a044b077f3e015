"""A pool of step memory that is reused once nobody refers to an array in it."""

from __future__ import annotations

import mmap
import sys
from collections import deque
from collections.abc import Callable
from typing import Any

from .layout import Handle
from .memory import LEAD, StepMemory

# Counts the references to an object. Interpreters without it never reuse memory.
_references: Callable[[Any], int] | None = getattr(sys, "getrefcount", None)
_TRIES = 4  # entries that are checked before new memory is allocated
_SPARE = 4  # above this many entries, free memory may be released
_MOST = 8  # entries: whoever keeps one array keeps a whole one
_PAGE = 4096


class MemoryPool:
    """Reuses step memory when nobody refers to it or to an array in it.

    Fresh memory for each step costs more than the step of a small game: the kernel has to clear each
    page, and the arrays have to be created anew. Memory that the user still refers to is never
    overwritten. Whoever keeps the arrays of many steps gets memory that is not of the pool.
    """

    def __init__(self, make: Callable[[], StepMemory | None], forget: bool = True) -> None:
        """Create an empty pool.

        Args:
            make: returns new memory; None if no more can be had for now.
            forget: whether entries may be dropped. Their memory is released when nobody refers to it.
        """
        self._make, self._forget = make, forget
        # Least recently checked first: memory and its views, and their number of references when only the pool
        # refers to them.
        self._entries: deque[tuple[list[Any], int]] = deque()

    def get(self) -> StepMemory | None:
        """Return memory that nobody else refers to; None if there is none, and no more may be had."""
        entries, references = self._entries, _references
        if references is None:
            return self._make()
        for _ in range(min(_TRIES, len(entries))):
            views, unused = entries[0]
            entries.rotate(-1)
            if sum(map(references, views)) == unused:
                if len(entries) > _SPARE and self._forget and sum(map(references, entries[0][0])) == entries[0][1]:
                    entries.popleft()
                return views[0].reuse()  # type: ignore[no-any-return]
        return self._add(references)

    def _add(self, references: Callable[[Any], int]) -> StepMemory | None:
        new = self._make() if len(self._entries) < _MOST else None
        if new is None:
            return None
        new.pooled = True
        views = new.all_views()
        del new
        self._entries.append((views, sum(map(references, views))))
        return views[0]  # type: ignore[no-any-return]


def private_memory(handle: Handle) -> StepMemory:
    """Return memory of this process alone, which is unmapped when nobody refers to it any more."""
    size = -(-(LEAD + handle.slab_len) // _PAGE) * _PAGE
    return StepMemory(handle, mmap.mmap(-1, size), lead=LEAD)
