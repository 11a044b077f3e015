"""The inputs of the server's ``learned`` evaluators, and files of networks over them. See docs/contest.md.

:func:`feature_facts` lists the features of a game by name, :func:`features` computes them for the position after each
legal action. :func:`blockyard.save_weights` writes a network over them, which loads as ``learned:weights=FILE``:
``agents arena`` plays it, and ``agents bundle`` makes a contest bot of it.

A file is in the safetensors format and holds a multilayer perceptron: float32 tensors ``fc0.weight`` [out, in],
``fc0.bias`` [out], ``fc1.weight`` and so on, LeakyReLU(0.01) between the layers, and one output, which is higher for a
better position of the seat. Its metadata name the game, the version of its rules, the features and the activation.
"""

import json
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import WeightsError
from ..formats.arguments import Ids, check_seed
from ..provenance import write_whole
from ..transport.address import Tls
from ..vector.env import BlockVectorEnv, asked, vector_of
from ..vector.results import Outcomes
from .perceptron import ACTIVATION, Layers, check, forward, sizes, tensors

MAX_HEADER, MAX_FILE = 1 << 20, 256 << 20  # bytes

# The first bytes of other files of weights.
_FOREIGN = {
    b"PK\x03\x04": "a zip archive, such as torch.save (.pt) and numpy.savez (.npz) write",
    b"\x80\x02\x8a\x0a": "a pickle, as old versions of torch.save (.pt) write",
    b"\x89HDF": "an HDF5 file (.h5)",
}
_HOW = "save the network with blockyard.save_weights(path, network, facts), see docs/contest.md"


@dataclass(frozen=True, repr=False)
class FeatureFacts:
    """The features of a game: the inputs of its ``learned`` evaluator.

    Attributes:
        game: name of the game without its variant.
        rules: version of its rules.
        names: names of the features, in order.
        own: the number of features, the first ones, that change with the seat's own actions.
    """

    game: str
    rules: int
    names: tuple[str, ...]
    own: int

    def __len__(self) -> int:
        return len(self.names)

    def metadata(self, **notes: str) -> dict[str, str]:
        """Return the metadata for a safetensors file of weights; notes are added to it."""
        facts = {"game": self.game, "rules": str(self.rules), "features": json.dumps(self.names)}
        return notes | facts | {"activation": ACTIVATION}

    def notes(self, metadata: Mapping[str, str]) -> dict[str, str]:
        """Return the rest of the metadata of a file."""
        return {key: text for key, text in metadata.items() if key not in self.metadata()}

    def __repr__(self) -> str:
        return f"FeatureFacts({self.game!r}, rules {self.rules}, {len(self)} features, the first {self.own} own)"


@dataclass(frozen=True)
class Features(Outcomes):
    """For each legal action of each row: the features of the position after that seat alone has played it.

    Attributes:
        indptr: uint32 (rows + 1,), CSR offsets: row k has entries ``indptr[k]:indptr[k + 1]`` of the other arrays.
        actions: uint16 (m,), ascending within a row.
        features: float32 (m, F); zero where done.
        reward: float32 (m,), the reward of the seat for the action.
        done: bool (m,), whether the game is over then.
    """

    features: NDArray[np.float32]
    reward: NDArray[np.float32]
    done: NDArray[np.bool_]


def feature_facts(
    game: str | BlockVectorEnv, *, address: str | None = None, token: str | None = None, tls: Tls = None
) -> FeatureFacts:
    """Return the features of a game.

    Args:
        game: an id such as ``"BlockBattle-v0"``, or an environment, whose server is asked.
        address, token, tls: the server to ask about an id, as in :func:`blockyard.make_vec`.

    Raises:
        UnknownGameError: the server has no such game.
        RequestError: the game defines no features, or the server is too old.
    """
    with asked(game, address, token=token, tls=tls) as (session, spec):
        d = session.connection.call("feature_names", spec.name)
    return FeatureFacts(d["game"], d["rules"], tuple(d["features"]), d["own"])


def features(env: BlockVectorEnv, env_ids: Ids = None, *, seed: int | None = None) -> Features:
    """Return the features of the position after each legal action of the rows of these games.

    Args:
        env: the environment.
        env_ids: indices of games; None means all.
        seed: of random draws, as in :meth:`blockyard.BlockVectorEnv.afterstates`.

    Raises:
        RequestError: the game defines no features, or the server is too old.
    """
    env, options = vector_of(env), [] if seed is None else [{"seed": check_seed(seed)}]
    pages = list(env.engine.pages("features", env_ids, *options))
    entries = sum(len(d["done"]) for d in pages)
    width = sum(len(d["features"]) for d in pages) // 4 // entries if entries else len(feature_facts(env))
    return Features.read(pages, features=(width,))


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
    name, data = os.fspath(path), file_of(path)
    try:
        arrays, metadata = decode(data)
        features, rules = tuple(map(str, json.loads(metadata["features"]))), int(metadata["rules"])
        layers = _layers_of(arrays)
        check(layers, len(features))
    except WeightsError as error:
        raise WeightsError(f"{name}: {error}") from None
    except (TypeError, ValueError):
        what = "the metadata's features are not a JSON list of names, or its rules not a number"
        raise WeightsError(f"{name}: {what}") from None
    facts = FeatureFacts(metadata["game"], rules, features, 0)
    return Weights(layers, facts.game, rules, features, facts.notes(metadata))


def file_of(path: str | os.PathLike[str]) -> bytes:
    """Return the content of a file; raise WeightsError if it is too large for a network."""
    if (size := os.path.getsize(path)) > MAX_FILE:
        raise WeightsError(f"{os.fspath(path)}: {size} bytes, want at most {MAX_FILE}")
    return Path(path).read_bytes()


def _layers_of(network: Any) -> Layers:
    if isinstance(network, Mapping):
        names = [(f"fc{i}.weight", f"fc{i}.bias") for i in range(len(network) // 2)]
        if set(network) != {name for pair in names for name in pair}:
            want = "fc0.weight, fc0.bias, fc1.weight …, a pair for each layer"
            how = "instead of the state_dict of a torch module, pass the module"
            raise WeightsError(f"network: tensors {sorted(network)}, want {want}; {how}")
        pairs: list[Any] = [(network[weight], network[bias]) for weight, bias in names]
    elif isinstance(network, Sequence):
        pairs = list(network)
    elif hasattr(network, "state_dict"):
        from .torch_modules import linear_layers

        pairs = linear_layers(network)
    else:
        want = "a torch module, a dict of arrays or a list of (weight, bias)"
        raise WeightsError(f"network: want {want}, got {type(network).__name__}")
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
        how = "train with torch.nn.LeakyReLU(0.01) between the layers"
        raise WeightsError(f"the metadata have activation {claimed!r:.60}, want {ACTIVATION!r}: {how}")
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
