"""Packed boards: 1, 2, 4 or 8 bits per cell instead of a byte."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from .spec import GameSpec

if TYPE_CHECKING:
    import torch  # type: ignore[import-not-found,unused-ignore]


def pack(planes: NDArray[np.uint8], spec: GameSpec) -> NDArray[np.uint8]:
    """Pack planes of a game, uint8 (..., C, H, W), into uint8 (..., spec.packed_len)."""
    width = spec.cell_bits
    flat = planes.reshape(*planes.shape[:-3], -1)
    bits = (flat[..., None] >> np.arange(width, dtype=np.uint8)) & 1
    return np.packbits(bits.reshape(*flat.shape[:-1], -1), axis=-1, bitorder="little")


def unpack(bits: NDArray[np.uint8], spec: GameSpec) -> NDArray[np.uint8]:
    """Unpack packed boards, uint8 (..., spec.packed_len), into planes, uint8 (..., C, H, W).

    ``bits`` are ``obs["bits"]`` with ``packed=True``, or a minibatch; the result is what ``obs["planes"]`` is without.
    """
    width, cells = spec.cell_bits, int(np.prod(spec.planes_shape))
    flat: Any
    if width == 8:
        flat = bits[..., :cells]
    elif width == 1:
        flat = np.unpackbits(bits, axis=-1, count=cells, bitorder="little")
    else:
        shifts = np.arange(0, 8, width, dtype=np.uint8)
        flat = ((bits[..., None] >> shifts) & ((1 << width) - 1)).reshape(*bits.shape[:-1], -1)[..., :cells]
    planes: NDArray[np.uint8] = flat.reshape(*bits.shape[:-1], *spec.planes_shape)
    return planes


def unpack_torch(bits: torch.Tensor, spec: GameSpec, dtype: Any = None) -> torch.Tensor:
    """Unpack packed boards, uint8 (..., spec.packed_len), into planes (..., C, H, W) on the device of the tensor.

    dtype is that of the result, such as ``torch.float32``; uint8 by default.
    """
    import torch  # type: ignore[import-not-found,unused-ignore]

    width, cells = spec.cell_bits, int(np.prod(spec.planes_shape))
    shifts = torch.arange(0, 8, width, dtype=torch.uint8, device=bits.device)
    flat = (bits.unsqueeze(-1) >> shifts) & ((1 << width) - 1)
    planes = flat.reshape(*bits.shape[:-1], -1)[..., :cells].reshape(*bits.shape[:-1], *spec.planes_shape)
    return planes if dtype is None else planes.to(dtype)
