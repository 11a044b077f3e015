"""Room for many steps in one piece, which trainers fill without copying."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from .facts import Handle
from .slab import LEAD, Slab


class Buffer:
    """A rollout buffer: arrays of ``steps`` steps, each of which is filled by ``step(..., out=buffer[t])``.

    Over shared memory it is the memory that the server writes to; over a socket bytes are
    received straight into it. Row t of ``actions`` is what was played to get to row t of the rest.

    Attributes:
        steps: how many steps it holds.
        arrays: by name, each (steps, ...) as in a step: ``planes`` or ``bits``, ``globals``, ``mask``
            (bits), ``seat``, ``reward``, ``terminated``, ``truncated``, ``score``.
        actions: uint16 (steps, rows).
        first_slot: number of its first slot in shared memory, None if there is none.
    """

    def __init__(
        self,
        handle: Handle,
        steps: int,
        memory: Any,
        stride: int,
        actions_at: int,
        first_slot: int | None = None,
        lead: int = 0,
    ) -> None:
        self.steps, self.first_slot = steps, first_slot
        self._slabs: list[Slab] = []
        view = memoryview(memory)
        for t in range(steps):
            slot = None if first_slot is None else first_slot + t
            slab = Slab(handle, view[t * stride : (t + 1) * stride], slot, lead)
            slab.actions = np.ndarray((handle.rows,), "<u2", memory, t * stride + actions_at)
            self._slabs.append(slab)
        self.arrays: dict[str, NDArray[Any]] = {}
        for f in handle.fields:
            inner = np.ndarray(f.shape, f.dtype).strides
            array: NDArray[Any] = np.ndarray((steps, *f.shape), f.dtype, memory, lead + f.offset, (stride, *inner))
            self.arrays[f.name] = array.view(np.bool_) if f.name in ("terminated", "truncated") else array
        self.actions: NDArray[np.uint16] = np.ndarray((steps, handle.rows), "<u2", memory, actions_at, (stride, 2))

    def __len__(self) -> int:
        return self.steps

    def __getitem__(self, t: int) -> Slab:
        return self._slabs[t].reuse()

    def __getattr__(self, name: str) -> NDArray[Any]:
        try:
            return self.__dict__["arrays"][name]  # type: ignore[no-any-return]
        except KeyError:
            raise AttributeError(f"no field {name!r}; there are {sorted(self.__dict__.get('arrays', ()))}") from None

    def slab(self, t: int) -> Slab:
        """Return step t to be looked at."""
        return self._slabs[t]


def private_buffer(handle: Handle, steps: int) -> Buffer:
    """Return a buffer in memory of our own."""
    actions_at = LEAD + -(-handle.slab_len // 64) * 64
    stride = -(-(actions_at + 2 * handle.rows) // 64) * 64
    return Buffer(handle, steps, np.zeros(steps * stride, np.uint8), stride, actions_at, lead=LEAD)
