"""Torch modules as layers of a file of weights."""

from __future__ import annotations

import copy
from typing import Any

import numpy as np
import torch
from torch import nn

from ..errors import WeightsError
from .perceptron import SLOPE, Layers, check, forward, sizes

# What may stand between Linear layers besides LeakyReLU(0.01): it changes nothing in evaluation mode.
_PASSIVE = (nn.Identity, nn.Dropout, nn.Flatten)
_WANT = f"want Linear layers with nn.LeakyReLU({SLOPE}) between them"


def linear_layers(module: Any) -> list[tuple[Any, Any]]:
    """Return weight and bias, float64, of each Linear layer of a module, in order.

    Raise WeightsError if the module computes anything but these layers with LeakyReLU(0.01) between them.
    """
    if not isinstance(module, nn.Module):
        raise WeightsError(f"network: want a torch module, got {type(module).__name__}")
    module = getattr(module, "_orig_mod", module)  # of torch.compile
    for leaf in module.modules():
        leaky = isinstance(leaf, nn.LeakyReLU)
        passes = isinstance(leaf, (nn.Linear, *_PASSIVE)) or (leaky and leaf.negative_slope == SLOPE)
        foreign = leaky or type(leaf).__module__.startswith("torch.nn")
        if foreign and not passes and next(leaf.children(), None) is None:
            raise WeightsError(f"network: it has {leaf}, {_WANT}")
    twin = copy.deepcopy(module).double().cpu().eval()
    layers = []
    for linear in _linears(twin):
        bias = torch.zeros(linear.out_features) if linear.bias is None else linear.bias
        layers.append((linear.weight.detach().numpy(), bias.detach().double().numpy()))
    if layers:
        check(layers, layers[0][0].shape[1])
        _compare(twin, layers)
    return layers


def _linears(module: nn.Module) -> list[nn.Linear]:
    return [m for m in module.modules() if isinstance(m, nn.Linear)]


def _compare(module: nn.Module, layers: Any) -> None:
    """Raise WeightsError if the output of a module, float64, is not that of its layers."""
    x = np.random.default_rng(0).normal(size=(64, layers[0][0].shape[1]))
    try:
        with torch.no_grad():
            got = module(torch.from_numpy(x)).reshape(-1).numpy()
    except Exception as error:
        what = f"called with features ({len(x)}, {x.shape[1]}) it raises {type(error).__name__}: {error}"
        how = "want a module from features (m, F) to values (m, 1) or (m,), or the layers as a list of (weight, bias)"
        raise WeightsError(f"network: {what}; {how}") from error
    want = forward(layers, x)
    if got.shape != want.shape:
        raise WeightsError(f"network: {len(got)} outputs for {len(x)} positions, want one value each")
    if (difference := float(np.abs(got - want).max())) > 1e-5 * (1 + float(np.abs(want).max())):
        what = f"its output is not that of its {len(layers)} Linear layers with LeakyReLU({SLOPE}) between them"
        how = "use this activation and nothing else, or put what else it computes outside of the module"
        raise WeightsError(f"network: {what} (they differ by {difference:.3g} on random inputs): {how}")


def load_layers(module: Any, layers: Layers) -> None:
    """Copy layers into the Linear layers of a module; raise WeightsError if it has other layers."""
    linears = _linears(module)
    have = [tuple(m.weight.shape) for m in linears]
    if have != [w.shape for w, _ in layers] or any(m.bias is None for m in linears):
        raise WeightsError(f"module: Linear layers of shapes {have}, want those of {sizes(layers)}, with biases")
    with torch.no_grad():
        for linear, (weight, bias) in zip(linears, layers, strict=True):
            linear.weight.copy_(torch.from_numpy(weight.copy()))
            linear.bias.copy_(torch.from_numpy(bias.copy()))
