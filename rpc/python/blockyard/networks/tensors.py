"""NumPy arrays as PyTorch tensors: without copying on the CPU, through pinned memory to a GPU."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..formats.optional import needs

if TYPE_CHECKING:
    import torch  # type: ignore[import-not-found,unused-ignore]


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
