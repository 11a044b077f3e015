"""NumPy arrays as PyTorch tensors: without copying on the CPU, through pinned memory to a GPU."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from functools import cache
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from ..formats.optional import needs

if TYPE_CHECKING:
    import torch  # type: ignore[import-not-found,unused-ignore]

_BUFFERS = 2  # pinned buffers of one shape: one is filled while the GPU reads the other


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
        if device.type == "cuda":
            return _staging.setdefault(device, Staging(device)).move(tensor)
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


class Staging:
    """Pinned memory through which tensors go to one device."""

    def __init__(self, device: Any) -> None:
        self._device = device
        self._buffers: dict[tuple[Any, ...], deque[tuple[Any, Any]]] = {}

    def move(self, tensor: Any) -> Any:
        """Return a copy on the device; the tensor's memory may be overwritten as soon as this returns."""
        kind = (tuple(tensor.shape), tensor.dtype)
        buffers = self._buffers.setdefault(kind, deque())
        if len(buffers) < _BUFFERS:
            pinned = self._pinned(tensor)
        else:
            pinned, copied = buffers.popleft()
            copied.synchronize()
        pinned.copy_(tensor)
        moved = pinned.to(self._device, non_blocking=True)
        buffers.append((pinned, self._mark()))
        return moved

    def _pinned(self, tensor: Any) -> Any:
        return _torch().empty(tensor.shape, dtype=tensor.dtype, pin_memory=True)

    def _mark(self) -> Any:
        """Return an event that has come when everything asked of the device so far is done."""
        cuda = _torch().cuda
        event = cuda.Event()
        event.record(cuda.current_stream(self._device))
        return event


_staging: dict[Any, Staging] = {}  # of all devices, shared by all calls
