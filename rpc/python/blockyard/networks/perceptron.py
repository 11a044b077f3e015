"""The networks of ``learned`` evaluators: multilayer perceptrons with LeakyReLU(0.01) between the layers."""

from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import WeightsError

SLOPE = 0.01  # of the leaky ReLU
ACTIVATION = "leaky_relu 0.01"  # as a file of weights names it
MAX_WIDTH, MAX_LAYERS = 4096, 16  # what the evaluators accept

Layers = list[tuple[NDArray[Any], NDArray[Any]]]  # weight [out, in] and bias [out] of each layer


def forward(layers: Layers, x: NDArray[Any]) -> NDArray[Any]:
    """Return the output of a network for x (m, inputs), (m,)."""
    for i, (weight, bias) in enumerate(layers):
        if i:
            x = np.maximum(x, x.dtype.type(SLOPE) * x)
        x = x @ weight.T.astype(x.dtype) + bias.astype(x.dtype)
    return x[:, 0]


def tensors(layers: Layers) -> dict[str, NDArray[Any]]:
    """Return the arrays by their names in a file: ``fc0.weight``, ``fc0.bias``, ``fc1.weight`` and so on."""
    return {f"fc{i}.{kind}": pair[k] for i, pair in enumerate(layers) for k, kind in enumerate(("weight", "bias"))}


def sizes(layers: Layers) -> str:
    """Return the widths of a network as text, such as ``127-64-1``."""
    return "-".join(str(n) for n in (layers[0][0].shape[1], *(len(bias) for _, bias in layers)))


def check(layers: Layers, inputs: int) -> None:
    """Raise WeightsError unless the layers fit each other, a number of inputs, and the evaluators."""
    if not 1 <= len(layers) <= MAX_LAYERS:
        raise WeightsError(f"{len(layers)} layers, want 1 to {MAX_LAYERS}")
    width = inputs
    for i, (weight, bias) in enumerate(layers):
        if weight.ndim != 2 or bias.shape != weight.shape[:1]:
            have = f"weights of shape {weight.shape} and biases of shape {bias.shape}"
            raise WeightsError(f"layer {i} has {have}, want (out, in) and (out,)")
        if weight.shape[1] != width:
            transposed = ", which is (out, in): transpose it" if weight.shape[0] == width else ""
            raise WeightsError(f"layer {i} has weights of shape {weight.shape}, want {width} inputs{transposed}")
        if not 1 <= len(bias) <= MAX_WIDTH:
            raise WeightsError(f"layer {i} has {len(bias)} outputs, want 1 to {MAX_WIDTH}")
        if not (np.isfinite(weight).all() and np.isfinite(bias).all()):
            raise WeightsError(f"layer {i} has a weight that is not a finite float32")
        width = len(bias)
    if width != 1:
        raise WeightsError(f"{width} outputs, want 1: the value of a position")
