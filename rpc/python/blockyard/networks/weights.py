"""Files of weights: networks that play as ``learned:weights=FILE`` and become contest bots. See docs/contest.md.

A file is in the safetensors format and holds a multilayer perceptron: float32 tensors ``fc0.weight`` [out, in],
``fc0.bias`` [out], ``fc1.weight`` and so on, LeakyReLU(0.01) between the layers, and one output, which is higher for a
better position of the seat. Its metadata name the game, the version of its rules, the features and the activation.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import WeightsError
from ..formats.provenance import write_whole
from .afterstate_features import FeatureFacts
from .perceptron import Layers, check, forward, sizes, tensors
from .weights_file import MAX_FILE, decode, encode


@dataclass(frozen=True, repr=False)
class Weights:
    """A network from a file of weights.

    Attributes:
        layers: weight, float32 (out, in), and bias, float32 (out,), of each layer.
        game: name of the game without its variant.
        rules: version of its rules.
        features: names of the inputs.
        notes: the other metadata, such as how the network was trained.
    """

    layers: Layers
    game: str
    rules: int
    features: tuple[str, ...]
    notes: dict[str, str]

    @property
    def arrays(self) -> dict[str, NDArray[np.float32]]:
        """The tensors under their names in the file."""
        return tensors(self.layers)

    def values(self, features: NDArray[Any]) -> NDArray[np.float32]:
        """Return the output of the network for features (m, F), float32 (m,)."""
        return forward(self.layers, np.asarray(features, np.float32))

    def copy_to(self, module: Any) -> None:
        """Copy the weights into the Linear layers of a torch module, to continue its training.

        Raises:
            WeightsError: the module has layers of other sizes.
        """
        from .torch_modules import load_layers

        load_layers(module, self.layers)

    def __repr__(self) -> str:
        return f"Weights({self.game!r}, rules {self.rules}, layers of {sizes(self.layers)})"


def save_weights(
    path: str | os.PathLike[str], network: Any, facts: FeatureFacts, notes: Mapping[str, str] | None = None
) -> None:
    """Save a network over a game's features, to play as ``learned:weights=FILE`` and to become a contest bot.

    The file is complete or not changed, even if this process is killed.

    Args:
        path: name of the file; it ends in ``.safetensors``.
        network: a torch module of Linear layers with LeakyReLU(0.01) between them; or arrays: a dict of
            ``fc0.weight`` [out, in], ``fc0.bias`` [out], ``fc1.weight`` …, or a list of pairs (weight, bias). The
            first layer has one input for each feature, the last one output. The output of a module is compared
            with that of its layers, so that another activation is noticed; arrays cannot be checked for that.
        facts: the features, from :func:`blockyard.feature_facts`.
        notes: further metadata, such as how the network was trained; text by name.

    Raises:
        WeightsError: the network is not of this form, is too large, or has weights that are not finite.
    """
    name = os.fspath(path)
    if not name.endswith(".safetensors"):
        raise WeightsError(f"{name}: want a name that ends in .safetensors, which is the format of the file")
    layers = _layers_of(network)
    try:
        check(layers, len(facts))
    except WeightsError as error:
        raise WeightsError(f"network: {error}; {facts.game} has {len(facts)} features") from None
    metadata = facts.metadata(**{str(k): str(v) for k, v in (notes or {}).items()})
    write_whole(name, encode(tensors(layers), metadata))


def load_weights(path: str | os.PathLike[str]) -> Weights:
    """Read a file of weights, of :func:`save_weights` or of the trainer in Go.

    Raises:
        OSError: the file cannot be read.
        WeightsError: it is not such a file; the message says what it is and what to do.
    """
    name = os.fspath(path)
    if (size := os.path.getsize(name)) > MAX_FILE:
        raise WeightsError(f"{name}: {size} bytes, want at most {MAX_FILE}")
    try:
        arrays, metadata = decode(Path(name).read_bytes())
        features, rules = tuple(map(str, json.loads(metadata["features"]))), int(metadata["rules"])
        layers = _layers_of(arrays)
        check(layers, len(features))
    except WeightsError as error:
        raise WeightsError(f"{name}: {error}") from None
    except (TypeError, ValueError):
        what = "the metadata's features are not a JSON list of names, or its rules not a number"
        raise WeightsError(f"{name}: {what}") from None
    notes = {k: v for k, v in metadata.items() if k not in ("game", "rules", "features", "activation")}
    return Weights(layers, metadata["game"], rules, features, notes)


def _layers_of(network: Any) -> Layers:
    if isinstance(network, Mapping):
        kinds, count = ("weight", "bias"), len(network) // 2
        pairs: list[Any] = [[network.get(f"fc{i}.{kind}") for kind in kinds] for i in range(count)]
        if set(network) != tensors(pairs).keys():
            raise WeightsError(
                f"network: tensors {sorted(network)}, want fc0.weight, fc0.bias, fc1.weight …, a pair for each layer; "
                "instead of the state_dict of a torch module, pass the module"
            )
    elif isinstance(network, Sequence):
        pairs = list(network)
    elif hasattr(network, "state_dict"):
        from .torch_modules import linear_layers

        pairs = linear_layers(network)
    else:
        raise WeightsError(
            f"network: want a torch module, a dict of arrays or a list of (weight, bias), got {type(network).__name__}"
        )
    if any(not isinstance(pair, Sequence) or len(pair) != 2 for pair in pairs):
        raise WeightsError("network: want a list of pairs (weight, bias)")
    return [(_float32(weight), _float32(bias)) for weight, bias in pairs]


def _float32(array: Any) -> NDArray[np.float32]:
    if hasattr(array, "detach"):
        array = array.detach().cpu().float().numpy()
    array = np.asarray(array)
    if array.dtype.kind != "f":
        raise WeightsError(f"network: an array of dtype {array.dtype}, want floats")
    with np.errstate(over="ignore"):  # too large a number becomes infinite, which is refused later
        return np.ascontiguousarray(array, "<f4")
