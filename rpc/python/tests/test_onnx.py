"""`blockyard onnx`: files of weights as ONNX models and back, other programs' models, and files that are neither."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import onnx
import pytest
from conftest import assert_same
from onnx import TensorProto, helper, numpy_helper

from blockyard import load_weights
from blockyard.commands import main

ROOT = Path(__file__).resolve().parents[3]
SHIPPED = sorted(ROOT.glob("agents/bots/*/weights/*.safetensors"))


def graph_of(net, *, activation="LeakyRelu", gemm=None, **leaky):
    """The graph of another program's network of these layers."""
    nodes, last = [], "x"
    for k in range(len(net)):
        numbers = {"transB": 1, "alpha": 1.0} | (gemm or {})
        nodes.append(helper.make_node("Gemm", [last, f"{k}.weight", f"{k}.bias"], [f"g{k}"], **numbers))
        last = f"g{k}"
        if k < len(net) - 1:
            nodes.append(helper.make_node(activation, [last], [f"l{k}"], **leaky))  # alpha is 0.01 by default
            last = f"l{k}"
    tensors = [
        numpy_helper.from_array(a, f"{k}.{kind}")
        for k, pair in enumerate(net)
        for a, kind in zip(pair, ("weight", "bias"), strict=True)
    ]
    return helper.make_graph(
        nodes,
        "other",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", net[0][0].shape[1]])],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, ["n", 1])],
        tensors,
    )


def network(*sizes):
    rng = np.random.default_rng(3)
    return [
        (rng.normal(size=(out, into)).astype(np.float32) / 8, rng.normal(size=out).astype(np.float32))
        for into, out in itertools.pairwise(sizes)
    ]


def saved(graph, path):
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), path)
    return path


@pytest.mark.parametrize("weights", SHIPPED, ids=lambda p: p.stem)
def test_there_and_back(weights, tmp_path, capsys):
    model, again, back = tmp_path / "net.onnx", tmp_path / "again.onnx", tmp_path / "net.safetensors"
    assert main(["onnx", str(weights), str(model)]) == 0
    assert main(["onnx", str(weights), str(again)]) == 0
    assert model.read_bytes() == again.read_bytes()
    onnx.checker.check_model(onnx.load(model), full_check=True)
    assert main(["onnx", str(model), str(back)]) == 0
    assert [Path(f"{file}.run.json").is_file() for file in (model, again, back)] == [True] * 3
    assert "a network of " in capsys.readouterr().out
    old, new = load_weights(weights), load_weights(back)
    assert (old.game, old.rules, old.features, old.notes) == (new.game, new.rules, new.features, new.notes)
    assert_same(old.layers, new.layers)


def test_all_games_are_there():
    assert len(SHIPPED) == 5


def test_a_model_of_another_program(tmp_path, capsys):
    net = network(37, 16, 8, 1)  # the features of WinTetris
    model, weights = saved(graph_of(net), tmp_path / "other.onnx"), tmp_path / "net.safetensors"
    assert main(["onnx", str(model), str(weights)]) == 1
    assert "pass --game GAME" in capsys.readouterr().err
    assert main(["onnx", str(model), str(weights), "--game", "wintetris"]) == 0
    assert_same(net, load_weights(weights).layers)
    assert main(["onnx", str(model), str(tmp_path / "other.safetensors"), "--game", "dropblox"]) == 1
    assert "37" in capsys.readouterr().err
    assert not (tmp_path / "other.safetensors").exists()


@pytest.mark.parametrize(
    ("graph", "said"),
    [
        (graph_of(network(37, 8, 1), activation="Relu"), "operation 1 is 'Relu', want LeakyRelu"),
        (graph_of(network(37, 8, 1), alpha=0.2), "LeakyRelu with alpha 0.2"),
        (graph_of(network(37, 8, 1), gemm={"transB": 0}), "Gemm with transB=0, want 1"),
        (graph_of(network(37, 8, 1), gemm={"alpha": 2.0}), "Gemm with alpha=2.0, want 1.0"),
        (helper.make_graph([], "empty", [], []), "0 operations, want 1 to 31"),
    ],
)
def test_other_networks_are_refused(graph, said, tmp_path, capsys):
    model = saved(graph, tmp_path / "other.onnx")
    assert main(["onnx", str(model), str(tmp_path / "net.safetensors"), "--game", "wintetris"]) == 1
    assert said in capsys.readouterr().err


def test_damaged_files_are_refused(tmp_path, capsys):
    whole = saved(graph_of(network(37, 8, 1)), tmp_path / "whole.onnx").read_bytes()
    rng = np.random.default_rng(1)
    model, weights = tmp_path / "damaged.onnx", tmp_path / "net.safetensors"
    spoilt = [b"", b"\xff" * 64, rng.bytes(1000), *(whole[: len(whole) * k // 8] for k in range(1, 8))]
    for k in range(200):
        bytes_ = bytearray(whole)
        bytes_[int(rng.integers(len(whole)))] ^= 1 << int(rng.integers(8))
        spoilt.append(bytes(bytes_[: len(whole) - k % 3]))
    for text in spoilt:
        model.write_bytes(text)
        status = main(["onnx", str(model), str(weights), "--game", "wintetris"])
        said = capsys.readouterr().err
        assert status == 0 or said.startswith("blockyard: "), said
    for file, out in (("a.txt", "b.onnx"), ("a.onnx", "b.onnx"), ("a.safetensors", "b.txt")):
        assert main(["onnx", file, out]) == 1
        assert "want .safetensors to .onnx" in capsys.readouterr().err


def test_a_model_of_other_rules(tmp_path, capsys):
    model = tmp_path / "net.onnx"
    assert main(["onnx", str(SHIPPED[-1]), str(model)]) == 0
    changed = onnx.load(model)
    for entry in changed.metadata_props:
        if entry.key == "rules":
            entry.value = json.dumps(999)
    onnx.save(changed, model)
    assert main(["onnx", str(model), str(tmp_path / "net.safetensors")]) == 1
    assert "rules '999'" in capsys.readouterr().err
