"""Arrays in other forms: packed boards, of 1, 2, 4 or 8 bits per cell instead of a byte, and PyTorch's tensors."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..errors import needs
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
    if spec.cell_bits == 1:
        return _shaped(np.unpackbits(bits, axis=-1, bitorder="little"), spec)  # type: ignore[no-any-return]
    return _cells(bits, np.arange(0, 8, spec.cell_bits, dtype=np.uint8), spec)  # type: ignore[no-any-return]


def unpack_torch(bits: torch.Tensor, spec: GameSpec, dtype: Any = None) -> torch.Tensor:
    """Unpack packed boards, uint8 (..., spec.packed_len), into planes (..., C, H, W) on the device of the tensor.

    dtype is that of the result, such as ``torch.float32``; uint8 by default.
    """
    torch = _torch()
    planes = _cells(bits, torch.arange(0, 8, spec.cell_bits, dtype=torch.uint8, device=bits.device), spec)
    return planes if dtype is None else planes.to(dtype)


def _cells(bits: Any, shifts: Any, spec: GameSpec) -> Any:
    """Return planes of packed boards, arrays or tensors; the cells of a byte begin at the bits shifts."""
    return _shaped((bits[..., None] >> shifts & (1 << spec.cell_bits) - 1).reshape(*bits.shape[:-1], -1), spec)


def _shaped(cells: Any, spec: GameSpec) -> Any:
    return cells[..., : int(np.prod(spec.planes_shape))].reshape(*cells.shape[:-1], *spec.planes_shape)


def to_torch(values: Any, device: torch.device | str | int | None = None) -> Any:
    """Return the arrays in values as tensors.

    On the CPU a tensor shares the memory of its array (DLPack), so nothing is copied, and writing to one changes the
    other. Only read-only arrays are copied, and uint16, which PyTorch hardly supports, becomes int32. For a CUDA
    device the arrays are copied to pinned memory, which is kept and reused, and from there asynchronously to the
    GPU; operations of the current stream that use the tensors wait for the copy.

    Args:
        values: an array, or a dict, list or tuple of arrays in any nesting, such as what ``reset`` and ``step`` return.
            Everything else, and arrays of objects such as ``final_obs``, is returned as it is.
        device: as in PyTorch; None is the CPU.

    Returns:
        The same structure with tensors.

    Raises:
        ImportError: PyTorch is not installed.
    """
    return _convert(values, _torch().device("cpu" if device is None else device))


@cache
def _torch() -> Any:
    with needs("to_torch", "PyTorch", "examples"):
        import torch  # type: ignore[import-not-found,unused-ignore]
    return torch


def _convert(values: Any, device: Any) -> Any:
    if isinstance(values, np.ndarray):
        if values.dtype.kind not in "biuf":
            return values
        tensor = _shared(values)
        if device.type == "cuda":  # PyTorch keeps pinned memory, and reuses it only when the GPU has read it
            return tensor.pin_memory().to(device, non_blocking=True)
        return tensor if device.type == "cpu" else tensor.to(device)
    if isinstance(values, Mapping):
        return {key: _convert(value, device) for key, value in values.items()}
    if isinstance(values, (list, tuple)):
        return type(values)(_convert(value, device) for value in values)
    return values


def _shared(array: NDArray[Any]) -> Any:
    """Return a tensor that shares the memory of an array if PyTorch can use it."""
    if array.dtype == np.uint16:
        array = array.astype(np.int32)
    elif not array.flags.writeable:
        array = array.copy()
    return _torch().from_dlpack(array)
