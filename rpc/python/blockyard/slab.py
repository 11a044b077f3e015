"""The memory of steps, and the arrays inside it."""

from __future__ import annotations

import mmap
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .facts import Handle

_PAGE = 4096


class Slab:
    """The memory of one step and the arrays inside it.

    Attributes:
        into: the memory piece by piece, in the order in which it comes over a connection.
        slot: its number in memory that the server sees too; None if only we see it.
        arrays: all arrays by name, as they came.
        planes: uint8 (rows, C, H, W); None with packed boards.
        bits: uint8 (rows, n), packed boards; None without.
        globals: float32 (rows, G).
        mask: uint8 (rows, ceil(actions / 8)), bit a & 7 of byte a >> 3; None if left out.
        seat: uint8 (rows,), 255 where nobody acts.
        reward: float32 (games, seats).
        terminated, truncated: bool (games,).
        score: int32 (games, seats).
        actions: uint16 (rows,), where the actions of the next step are taken from; None if they are sent.
        unpacked: the mask spread out, once somebody asked for it.
        generation: raised each time the memory is used anew.
    """

    __slots__ = (
        "_owner",
        "actions",
        "arrays",
        "bits",
        "generation",
        "globals",
        "into",
        "mask",
        "planes",
        "reward",
        "score",
        "seat",
        "slot",
        "terminated",
        "truncated",
        "unpacked",
    )

    def __init__(self, handle: Handle, memory: Any = None, slot: int | None = None) -> None:
        """Lay arrays into memory, slab_len bytes; new memory by default."""
        if memory is None:
            memory = np.empty(handle.slab_len, np.uint8)
        self.into = [memoryview(memory)[: handle.slab_len]]
        self.slot = slot
        self.actions: NDArray[np.uint16] | None = None
        self._owner = memory
        self._name({f.name: np.ndarray(f.shape, f.dtype, memory, f.offset) for f in handle.fields})

    def _name(self, arrays: dict[str, np.ndarray[Any, Any]]) -> None:
        self.generation = 0
        self.arrays = arrays
        self.planes = arrays.get("planes")
        self.bits = arrays.get("bits")
        self.globals = arrays["globals"]
        self.mask = arrays.get("mask")
        self.seat = arrays["seat"]
        self.reward = arrays["reward"]
        self.score = arrays["score"]
        self.terminated = arrays["terminated"].view(np.bool_)
        self.truncated = arrays["truncated"].view(np.bool_)
        self.unpacked: NDArray[np.bool_] | None = None

    @classmethod
    def over(cls, handle: Handle, given: Mapping[str, NDArray[Any]]) -> Slab:
        """Return a slab of arrays that lie anywhere; those not given get memory of their own.

        Raises:
            TypeError, ValueError: an array is not what the environment writes; the message says which and why.
        """
        if unknown := set(given) - {f.name for f in handle.fields}:
            raise ValueError(f"out: no field {sorted(unknown)}; there are {[f.name for f in handle.fields]}")
        slab, at = cls.__new__(cls), 0
        slab.slot, slab.actions, slab._owner = None, None, given
        slab.into, arrays = [], {}
        for f in sorted(handle.fields, key=lambda f: f.offset):
            if f.offset > at:
                slab.into.append(memoryview(bytearray(f.offset - at)))
            array = given[f.name] if f.name in given else np.empty(f.shape, f.dtype)
            dtype = np.dtype(np.uint8) if array.dtype == np.bool_ and f.dtype == np.uint8 else array.dtype
            if dtype != f.dtype or array.shape != f.shape:
                raise ValueError(
                    f"out[{f.name!r}]: want {f.dtype} {f.shape}, as it comes; got {array.dtype} {array.shape}"
                )
            if not array.flags.c_contiguous or not array.flags.writeable:
                raise ValueError(f"out[{f.name!r}]: want a contiguous array that can be written")
            if array.nbytes:
                slab.into.append(array.reshape(-1).view(np.uint8).data)
            arrays[f.name], at = array.view(f.dtype), f.offset + array.nbytes
        if handle.slab_len > at:
            slab.into.append(memoryview(bytearray(handle.slab_len - at)))
        slab._name(arrays)
        return slab

    @property
    def bytes(self) -> memoryview:
        """The memory, if it is one piece."""
        if len(self.into) != 1:
            raise RuntimeError("this slab lies in several pieces")
        return self.into[0]

    def reuse(self) -> Slab:
        """Make ready for the next step; what was handed out of it holds no more."""
        self.generation += 1
        self.unpacked = None
        return self

    def observation(self) -> dict[str, NDArray[Any]]:
        """Return what a learner is given: boards and numbers."""
        if self.planes is None:
            assert self.bits is not None
            return {"bits": self.bits, "globals": self.globals}
        return {"planes": self.planes, "globals": self.globals}

    def masks(self, actions: int) -> NDArray[np.bool_]:
        """Return the masks, bool (rows, actions), unpacked once."""
        if self.unpacked is None:
            packed = self.packed_masks()
            self.unpacked = np.unpackbits(packed, axis=1, count=actions, bitorder="little").view(np.bool_)
        return self.unpacked

    def packed_masks(self) -> NDArray[np.uint8]:
        """Return the masks as they came."""
        if self.mask is None:
            raise RuntimeError("the environment was made with mask=False; ask legal_actions() instead")
        return self.mask


class _Lent(np.ndarray):
    """Memory lent out. Arrays made over it keep it alive; when the last of them is gone it goes back."""

    pool: list[Any]
    block: Any

    def __del__(self) -> None:
        pool = getattr(self, "pool", None)
        if pool is not None:
            pool.append(self.block)


class Pool:
    """Slabs whose memory is used again once nobody holds an array of it.

    Fresh memory for every step costs more than the step of a small game: the system has to
    clear each page. What the user keeps is never touched again.
    """

    def __init__(self, handle: Handle, keep: int = 4) -> None:
        self._handle = handle
        self._size = -(-handle.slab_len // _PAGE) * _PAGE
        self._free: list[Any] = []
        self._keep = keep

    def slab(self) -> Slab:
        """Return a slab that nobody else has."""
        free = self._free
        del free[self._keep :]
        block = free.pop() if free else mmap.mmap(-1, self._size)
        return Slab(self._handle, lend(block, memoryview(block), self._handle.slab_len, free))


def lend(block: Any, memory: memoryview, size: int, pool: list[Any]) -> NDArray[np.uint8]:
    """Return memory as an array; block goes to pool when it and all made over it are gone."""
    lent: _Lent = np.ndarray.__new__(_Lent, (size,), np.uint8, memory)
    lent.pool, lent.block = pool, block
    return lent
