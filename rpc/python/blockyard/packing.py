"""Packed boards: a few bits a cell, and how to spread them out again."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    import torch  # type: ignore[import-not-found,unused-ignore]

    from .facts import GameFacts


def pack(planes: NDArray[np.uint8], facts: GameFacts) -> NDArray[np.uint8]:
    """Return planes, uint8 (..., C, H, W), as packed boards, uint8 (..., facts.packed_len)."""
    width = facts.cell_bits
    flat = planes.reshape(*planes.shape[:-3], -1)
    bits = (flat[..., None] >> np.arange(width, dtype=np.uint8)) & 1
    return np.packbits(bits.reshape(*flat.shape[:-1], -1), axis=-1, bitorder="little")


def unpack(bits: NDArray[np.uint8], facts: GameFacts) -> NDArray[np.uint8]:
    """Return boards as planes.

    Args:
        bits: uint8 (..., facts.packed_len), such as ``obs["bits"]`` or a minibatch of it.
        facts: of the game.

    Returns:
        uint8 (..., C, H, W), what ``planes`` is without ``packed=True``.
    """
    width, cells = facts.cell_bits, int(np.prod(facts.planes_shape))
    flat: Any
    if width == 8:
        flat = bits[..., :cells]
    elif width == 1:
        flat = np.unpackbits(bits, axis=-1, count=cells, bitorder="little")
    else:
        shifts = np.arange(0, 8, width, dtype=np.uint8)
        flat = ((bits[..., None] >> shifts) & ((1 << width) - 1)).reshape(*bits.shape[:-1], -1)[..., :cells]
    planes: NDArray[np.uint8] = flat.reshape(*bits.shape[:-1], *facts.planes_shape)
    return planes


def unpack_torch(bits: torch.Tensor, facts: GameFacts, dtype: Any = None) -> torch.Tensor:
    """Return boards as planes, on the device where bits are.

    Args:
        bits: uint8 (..., facts.packed_len).
        facts: of the game.
        dtype: of the result, such as ``torch.float32``; uint8 by default.
    """
    import torch  # type: ignore[import-not-found,unused-ignore]

    width, cells = facts.cell_bits, int(np.prod(facts.planes_shape))
    shifts = torch.arange(0, 8, width, dtype=torch.uint8, device=bits.device)
    flat = (bits.unsqueeze(-1) >> shifts) & ((1 << width) - 1)
    planes = flat.reshape(*bits.shape[:-1], -1)[..., :cells].reshape(*bits.shape[:-1], *facts.planes_shape)
    return planes if dtype is None else planes.to(dtype)
