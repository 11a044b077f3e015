"""The bytes of a file of weights, in the safetensors format: the header's length in 8 bytes, JSON, the tensors."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import WeightsError
from .perceptron import ACTIVATION

MAX_HEADER, MAX_FILE = 1 << 20, 256 << 20  # bytes

# The first bytes of other files of weights.
_FOREIGN = {
    b"PK\x03\x04": "a zip archive, such as torch.save (.pt) and numpy.savez (.npz) write",
    b"\x80\x02\x8a\x0a": "a pickle, as old versions of torch.save (.pt) write",
    b"\x89HDF": "an HDF5 file (.h5)",
}
_HOW = "save the network with blockyard.save_weights(path, network, facts), see docs/contest.md"


def encode(tensors: Mapping[str, NDArray[np.float32]], metadata: Mapping[str, str]) -> bytes:
    """Return the bytes of a file; the same arguments give the same bytes."""
    header: dict[str, Any] = {"__metadata__": dict(sorted(metadata.items()))}
    at = 0
    for name, array in tensors.items():
        header[name] = {"dtype": "F32", "shape": array.shape, "data_offsets": [at, at + array.nbytes]}
        at += array.nbytes
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return len(text).to_bytes(8, "little") + text + b"".join(array.tobytes() for array in tensors.values())


def decode(data: bytes) -> tuple[dict[str, NDArray[np.float32]], dict[str, str]]:
    """Return the tensors and the metadata of a file; raise WeightsError if it is damaged or lacks some."""
    header, body = _split(data)
    metadata = header.pop("__metadata__", {})
    for key in ("game", "rules", "features"):
        if not isinstance(metadata.get(key), str):
            raise WeightsError(f"the metadata have no {key!r}: {_HOW}")
    if (claimed := metadata.get("activation", ACTIVATION)) != ACTIVATION:
        raise WeightsError(
            f"the metadata have activation {claimed!r:.60}, want {ACTIVATION!r}: train with torch.nn.LeakyReLU(0.01) "
            "between the layers"
        )
    arrays, end = {}, 0
    for name, entry in sorted(header.items(), key=lambda item: str(item[1])):
        try:
            kind, shape = entry["dtype"], tuple(map(int, entry["shape"]))
            begin, stop = map(int, entry["data_offsets"])
        except (TypeError, KeyError, ValueError):
            raise WeightsError(f"tensor {name!r:.60} is not described as the safetensors format says") from None
        if kind != "F32":
            raise WeightsError(f"tensor {name!r:.60} holds {kind!r:.20}, want F32: convert the network to float32")
        size = int(np.prod(shape, dtype=object)) if shape else 1
        if min(shape, default=0) < 0 or begin < 0 or stop - begin != 4 * size or stop > len(body):
            raise WeightsError(f"tensor {name!r:.60} lies at {begin} to {stop} of {len(body)} bytes: truncated?")
        arrays[name] = np.frombuffer(body[begin:stop], "<f4").reshape(shape)
        end += stop - begin
    if end != len(body):
        raise WeightsError(f"the tensors have {end} of {len(body)} bytes")
    return arrays, metadata


def _split(data: bytes) -> tuple[dict[str, Any], bytes]:
    for start, what in _FOREIGN.items():
        if data.startswith(start):
            raise WeightsError(f"this is {what}: {_HOW}")
    length = int.from_bytes(data[:8], "little")
    if len(data) < 8 or length > min(MAX_HEADER, len(data) - 8):
        raise WeightsError(f"this is not a safetensors file, or it is truncated: {_HOW}")
    try:
        header = json.loads(data[8 : 8 + length])
    except (ValueError, RecursionError):
        header = None
    if not isinstance(header, dict) or not isinstance(header.get("__metadata__", {}), dict):
        raise WeightsError(f"this is not a safetensors file, its header is not JSON: {_HOW}")
    return header, data[8 + length :]
