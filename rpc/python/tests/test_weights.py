"""Files of weights: what is saved is read alike here, by the server and by the safetensors library, or refused."""

from __future__ import annotations

import json
import os
import struct
import zipfile
from pathlib import Path

import numpy as np
import programs
import pytest
import torch
from torch import nn

import blockyard
from blockyard.networks.weights import FeatureFacts

TOY = FeatureFacts("toy", 3, ("a", "b", "c"), 2)
ROOT = Path(__file__).resolve().parents[3]


def net(hidden=4, inputs=3, activation=None):
    torch.manual_seed(1)
    return nn.Sequential(nn.Linear(inputs, hidden), activation or nn.LeakyReLU(0.01), nn.Linear(hidden, 1))


def arrays():
    rng = np.random.default_rng(0)
    shapes = {"fc0.weight": (4, 3), "fc0.bias": (4,), "fc1.weight": (1, 4), "fc1.bias": (1,)}
    return {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}


def parts(path):
    """Return the header of a safetensors file, and the rest."""
    data = path.read_bytes()
    (length,) = struct.unpack("<Q", data[:8])
    return json.loads(data[8 : 8 + length]), data[8 + length :]


def rewritten(path, header, body):
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + body)
    return path


def test_round_trip(tmp_path):
    path = tmp_path / "net.safetensors"
    blockyard.save_weights(path, arrays(), TOY, {"made": "by hand", "game": "not this"})
    blockyard.save_weights(path, arrays(), TOY, {"made": "by hand"})  # over an existing file
    assert os.listdir(tmp_path) == ["net.safetensors"]
    loaded = blockyard.load_weights(path)
    assert (loaded.game, loaded.rules, loaded.features) == ("toy", 3, ("a", "b", "c"))
    assert loaded.notes == {"made": "by hand"}
    assert repr(loaded) == "Weights('toy', rules 3, layers of 3-4-1)"
    for name, array in arrays().items():
        np.testing.assert_array_equal(loaded.arrays[name], array)
    first = path.read_bytes()
    for same in (loaded.arrays, loaded.layers):  # by name, and as a list of pairs
        blockyard.save_weights(path, same, TOY, loaded.notes)
        assert path.read_bytes() == first, "the same network gives the same bytes"
    header, _ = parts(path)
    assert header["__metadata__"]["activation"] == "leaky_relu 0.01"
    assert len(first) % 4 == 0


def test_of_torch_modules(tmp_path):
    """Modules of several forms give the file of their layers, and are not changed."""
    path = tmp_path / "net.safetensors"
    x = np.random.default_rng(1).normal(size=(9, 3)).astype(np.float32)

    class Critic(nn.Module):
        def __init__(self):
            super().__init__()
            self.body = net()

        def forward(self, features):
            return self.body(features)[:, 0]

    dropout = nn.Sequential(nn.Linear(3, 4), nn.Dropout(0.5), nn.LeakyReLU(0.01), nn.Linear(4, 1, bias=False))
    for module in (net(), Critic(), net().double(), net().half(), nn.Linear(3, 1), dropout):
        module.train()
        blockyard.save_weights(path, module, TOY)
        assert module.training
        with torch.no_grad():
            want = module.eval().float()(torch.from_numpy(x)).reshape(-1).numpy()
        loaded = blockyard.load_weights(path)
        np.testing.assert_allclose(loaded.values(x), want, rtol=1e-5, atol=1e-6)
    blockyard.save_weights(path, net(), TOY)
    other = nn.Sequential(nn.Linear(3, 4), nn.LeakyReLU(0.01), nn.Linear(4, 1))
    blockyard.load_weights(path).copy_to(other)
    for a, b in zip(net().parameters(), other.parameters(), strict=True):
        assert torch.equal(a, b)
    with pytest.raises(blockyard.WeightsError, match=r"want those of 3-4-1, with biases"):
        blockyard.load_weights(path).copy_to(net(hidden=5))


class Functional(nn.Module):
    """A network whose activation is no module."""

    def __init__(self, activation):
        super().__init__()
        torch.manual_seed(1)
        self.fc0, self.fc1, self.activation = nn.Linear(3, 4), nn.Linear(4, 1), activation

    def forward(self, x):
        return self.fc1(self.activation(self.fc0(x)))


class TwoInputs(Functional):
    def forward(self, x, y):
        return super().forward(x + y)


def test_activation_of_a_function_is_noticed(tmp_path):
    path = tmp_path / "net.safetensors"
    blockyard.save_weights(path, Functional(nn.functional.leaky_relu), TOY)
    for other in (torch.relu, torch.tanh, lambda x: nn.functional.leaky_relu(x, 0.02)):
        with pytest.raises(blockyard.WeightsError, match=r"not that of its 2 Linear layers with LeakyReLU\(0.01\)"):
            blockyard.save_weights(path, Functional(other), TOY)


@pytest.mark.parametrize(
    ("network", "says"),
    [
        (lambda: net(activation=nn.ReLU()), r"it has ReLU\(\), want Linear layers with nn.LeakyReLU\(0.01\)"),
        (lambda: net(activation=nn.LeakyReLU(0.2)), r"it has LeakyReLU\(negative_slope=0.2\)"),
        (lambda: nn.Sequential(net(), nn.Sigmoid()), r"it has Sigmoid\(\)"),
        (lambda: nn.Sequential(nn.LayerNorm(3), net()), "it has LayerNorm"),
        (lambda: net(inputs=5), r"layer 0 has weights of shape \(4, 5\), want 3 inputs; toy has 3 features"),
        (lambda: nn.Sequential(nn.Linear(3, 2)), "2 outputs, want 1"),
        (lambda: nn.Sequential(nn.Identity()), "0 layers"),
        (lambda: net().state_dict(), "instead of the state_dict of a torch module, pass the module"),
        (lambda: TwoInputs(nn.functional.leaky_relu), "it raises TypeError"),
        (lambda: arrays() | {"fc0.weight": np.zeros((3, 4), np.float32)}, r"want \(out, in\)"),
        (lambda: [(np.zeros((4, 1)), np.zeros(4))], "want 3 inputs"),
        (lambda: [(np.zeros((3, 5)), np.zeros(3))], r"which is \(out, in\): transpose it"),
        (lambda: arrays() | {"fc1.bias": np.full(1, np.nan)}, "not a finite float32"),
        (lambda: arrays() | {"fc1.bias": np.full(1, 1e300)}, "not a finite float32"),
        (lambda: arrays() | {"fc1.bias": np.zeros(1, int)}, "dtype int64, want floats"),
        (lambda: [(np.zeros((5000, 3)), np.zeros(5000))], "5000 outputs, want 1 to 4096"),
        (lambda: [np.zeros((1, 3))], "list of pairs"),
        (lambda: 7, "got int"),
    ],
)
def test_save_refuses(tmp_path, network, says):
    with pytest.raises(blockyard.WeightsError, match=says):
        blockyard.save_weights(tmp_path / "net.safetensors", network(), TOY)
    assert os.listdir(tmp_path) == []


def test_save_refuses_other_formats(tmp_path):
    with pytest.raises(blockyard.WeightsError, match=r"ends in \.safetensors"):
        blockyard.save_weights(tmp_path / "net.pt", net(), TOY)


def changed(tmp_path, **metadata):
    path = tmp_path / "changed.safetensors"
    blockyard.save_weights(path, arrays(), TOY)
    header, body = parts(path)
    header["__metadata__"] |= metadata
    return rewritten(path, header, body)


def other_dtype(tmp_path):
    path = changed(tmp_path)
    header, body = parts(path)
    header["fc0.weight"]["dtype"] = "F16"
    return rewritten(path, header, body)


def stray(tmp_path):
    path = changed(tmp_path)
    header, body = parts(path)
    header["x"] = {"dtype": "F32", "shape": [1], "data_offsets": [len(body), len(body) + 4]}
    return rewritten(path, header, body + bytes(4))


def torch_file(tmp_path):
    torch.save(net().state_dict(), tmp_path / "net.pt")
    return tmp_path / "net.pt"


def old_torch_file(tmp_path):
    torch.save(net().state_dict(), tmp_path / "net.pt", _use_new_zipfile_serialization=False)
    return tmp_path / "net.pt"


def archive(tmp_path):
    np.savez(tmp_path / "net.npz", **arrays())
    assert zipfile.is_zipfile(tmp_path / "net.npz")
    return tmp_path / "net.npz"


REFUSED = [
    (torch_file, r"net.pt: this is a zip archive, such as torch.save \(.pt\).*: save the network with blockyard.save_"),
    (old_torch_file, r"as old versions of torch.save \(.pt\) write: save the network with blockyard.save_weights"),
    (archive, "save the network with blockyard.save_weights"),
    (lambda p: changed(p, activation="relu"), r"activation 'relu', want 'leaky_relu 0.01': train with torch.nn.Leaky"),
    (lambda p: changed(p, rules="x"), "rules not a number"),
    (lambda p: changed(p, rules=None), "no 'rules'"),
    (lambda p: changed(p, features='["a"]'), "want 1 inputs"),
    (other_dtype, "'F16', want F32"),
    (stray, "want fc0.weight, fc0.bias"),
]


@pytest.mark.parametrize(("make", "says"), REFUSED)
def test_load_refuses(tmp_path, make, says):
    with pytest.raises(blockyard.WeightsError, match=says):
        blockyard.load_weights(make(tmp_path))


@pytest.mark.parametrize("make", [torch_file, old_torch_file, archive, lambda p: changed(p, activation="relu")])
def test_server_refuses_too(tmp_path, make):
    """The server says about such a file what to do."""
    spec = f"learned:weights={make(tmp_path)}"
    with pytest.raises(blockyard.RequestError, match=r"blockyard.save_weights|train with torch.nn.LeakyReLU\(0.01\)"):
        blockyard.make_vec("BlockBattle-v0", 1, opponents=spec)


def test_load_refuses_any_damage(tmp_path):
    """A file that is cut or changed anywhere is refused or read; nothing else is raised."""
    path = tmp_path / "net.safetensors"
    blockyard.save_weights(path, arrays(), TOY)
    whole, rng = path.read_bytes(), np.random.default_rng(0)
    for k in range(300):
        damaged = bytearray(whole)
        damaged[rng.integers(len(whole))] = rng.integers(256)
        path.write_bytes(whole[:k] if k < len(whole) // 2 else bytes(damaged))
        try:
            blockyard.load_weights(path)
        except blockyard.WeightsError:
            continue
        assert k >= len(whole) // 2
    with pytest.raises(OSError, match="none"):
        blockyard.load_weights(tmp_path / "none.safetensors")


def test_facts_of_a_game_and_of_an_environment(server):
    facts = blockyard.feature_facts("BlockBattle-v0", address=server.unix)
    with blockyard.make_vec("BlockBattleClassic-v0", address=server.unix) as env:
        assert blockyard.feature_facts(env) == facts
    assert (facts.game, len(facts)) == ("blockbattle", len(facts.names))
    assert (
        repr(facts)
        == f"FeatureFacts('blockbattle', rules {facts.rules}, {len(facts)} features, the first {facts.own} own)"
    )
    with pytest.raises(blockyard.RequestError, match="defines no features"):
        blockyard.feature_facts("WinTetrisTick-v0", address=server.unix)
    with pytest.raises(blockyard.UnknownGameError):
        blockyard.feature_facts("Chess-v0", address=server.unix)


def test_shipped_weights_load():
    for file in sorted(ROOT.glob("agents/*/weights/*.safetensors")):
        loaded = blockyard.load_weights(file)
        assert loaded.layers[0][0].shape[1] == len(loaded.features)
        assert np.isfinite(loaded.values(np.zeros((2, len(loaded.features))))).all()


def test_torch_is_not_needed(tmp_path):
    """Arrays are saved, and files read, without importing torch."""
    code = (
        "import sys; sys.modules['torch'] = None\n"
        "import blockyard, numpy as np\n"
        "facts = blockyard.FeatureFacts('toy', 1, ('a',), 1)\n"
        "blockyard.save_weights('a.safetensors', [(np.ones((1, 1)), np.zeros(1))], facts)\n"
        "print(blockyard.load_weights('a.safetensors').values(np.ones((2, 1))))"
    )
    done = programs.run("-c", code, cwd=tmp_path)
    assert done.stdout == "[1. 1.]\n", done.stderr
