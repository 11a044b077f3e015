"""The memory of steps, and the arrays inside it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from .facts import Handle

# What comes over a socket before a slab lies just before it, so that both are received in one piece.
LEAD, HEAD = 64, 13


class Slab:
    """The memory of one step and the arrays inside it.

    Attributes:
        into: the memory piece by piece, in the order in which it comes over a connection.
        frame: HEAD bytes and the memory behind them, in one piece; None if it does not lie so.
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
        own_reward, own_score: (rows,), views of the two before it for each row; None if it takes more to find them.
        picked: intp (rows,), where in numbers by seat those of each row are, once somebody asked for it.
        actions: uint16 (rows,), where the actions of the next step are taken from; None if they are sent.
        parts: of games on several servers, what each of them fills; None if nobody asked yet.
        unpacked: the mask spread out, once somebody asked for it.
        generation: raised each time the memory is used anew.
    """

    __slots__ = (
        "_owner",
        "actions",
        "arrays",
        "bits",
        "frame",
        "generation",
        "globals",
        "into",
        "mask",
        "own_reward",
        "own_score",
        "parts",
        "picked",
        "planes",
        "reward",
        "score",
        "seat",
        "slot",
        "terminated",
        "truncated",
        "unpacked",
    )

    def __init__(self, handle: Handle, memory: Any = None, slot: int | None = None, lead: int = 0) -> None:
        """Lay arrays into memory, slab_len bytes behind lead others, 0 or LEAD; new memory by default."""
        if memory is None:
            memory, lead = np.empty(LEAD + handle.slab_len, np.uint8), LEAD
        whole = memoryview(memory)[: lead + handle.slab_len]
        self.into = [whole[lead:]]
        self.frame = whole[lead - HEAD :] if lead else None
        self.slot = slot
        self.actions: NDArray[np.uint16] | None = None
        self._owner = memory
        self._name(handle, {f.name: np.ndarray(f.shape, f.dtype, memory, lead + f.offset) for f in handle.fields})

    def _name(self, handle: Handle, arrays: dict[str, np.ndarray[Any, Any]]) -> None:
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
        self.own_reward, self.own_score = _own(handle, self.reward), _own(handle, self.score)
        self.unpacked: NDArray[np.bool_] | None = None
        self.picked: NDArray[np.intp] | None = None
        self.parts: list[Slab] | None = None

    @classmethod
    def over(cls, handle: Handle, given: Mapping[str, NDArray[Any]]) -> Slab:
        """Return a slab of arrays that lie anywhere; those not given get memory of their own.

        Raises:
            TypeError, ValueError: an array is not what the environment writes; the message says which and why.
        """
        if unknown := set(given) - {f.name for f in handle.fields}:
            raise ValueError(f"out: no field {sorted(unknown)}; there are {[f.name for f in handle.fields]}")
        slab, at = cls.__new__(cls), 0
        slab.slot, slab.frame, slab.actions, slab._owner = None, None, None, given
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
        slab._name(handle, arrays)
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
        self.unpacked = self.picked = None
        return self

    def everything(self) -> list[Any]:
        """Return it and all that can be handed out of it, and the arrays that lies in: who holds one of these, or
        an array made over one, holds its memory."""
        found: dict[int, Any] = {id(self): self}
        arrays = [self.terminated, self.truncated, self.own_reward, self.own_score, self.actions, *self.arrays.values()]
        while arrays:
            if isinstance(array := arrays.pop(), np.ndarray):
                found[id(array)] = array
                arrays.append(array.base)
        return list(found.values())

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


def _own(handle: Handle, per_seat: NDArray[Any]) -> NDArray[Any] | None:
    """Return the numbers of the rows as a view of numbers by seat, None if they are none."""
    if handle.rows_per_game != len(handle.players):
        return None
    if len(handle.players) == 1:
        return per_seat[:, handle.players[0]]
    return per_seat.reshape(-1) if handle.players == tuple(range(handle.seats)) else None
