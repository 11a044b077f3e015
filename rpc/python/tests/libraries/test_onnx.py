"""Networks as ONNX models: onnxruntime computes what `learned` does, and models of other programs can be imported."""

from __future__ import annotations

import itertools
import shutil
import subprocess
from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from onnx import TensorProto, helper, numpy_helper
from safetensors.numpy import load_file

from blockyard.networks.perceptron import forward

ROOT = Path(__file__).resolve().parents[4]
GAMES = ["blockbattle", "blocking", "dropblox", "tetrisduel", "wintetris"]


@pytest.fixture(scope="module")
def train(tmp_path_factory):
    """The program ``train``, as a function of its arguments."""
    if shutil.which("go") is None:
        pytest.skip("builds train with Go")
    program = tmp_path_factory.mktemp("train") / "train"
    subprocess.run(["go", "build", "-o", program, "./train"], cwd=ROOT, check=True)
    return lambda *args: subprocess.run([program, *map(str, args)], check=True, capture_output=True, timeout=300)


def layers(file):
    """The layers in a file of weights."""
    tensors = load_file(file)
    return [(tensors[f"fc{k}.weight"], tensors[f"fc{k}.bias"]) for k in range(len(tensors) // 2)]


def run(model, x):
    """The values of a model for x (m, inputs)."""
    session = onnxruntime.InferenceSession(model, providers=["CPUExecutionProvider"])
    [values] = session.run(None, {session.get_inputs()[0].name: x})
    return values[:, 0]


@pytest.mark.parametrize("game", GAMES)
def test_export(train, tmp_path, game):
    model, weights = tmp_path / "net.onnx", tmp_path / "net.safetensors"
    train("export", game, "--onnx", model)
    train("import", model, "--out", weights)
    onnx.checker.check_model(onnx.load(model), full_check=True)
    net = layers(weights)
    for rows in (1, 257):
        x = np.random.default_rng(7).random((rows, net[0][0].shape[1]), np.float32)
        np.testing.assert_allclose(run(model, x), forward(net, x.astype(np.float64)), atol=1e-5)


def test_import_of_another_programs_model(train, tmp_path):
    rng = np.random.default_rng(3)
    sizes = [37, 16, 8, 1]  # the features of WinTetris
    net = [
        (rng.normal(size=(out, into)).astype(np.float32) / 8, rng.normal(size=out).astype(np.float32))
        for into, out in itertools.pairwise(sizes)
    ]
    nodes, last = [], "x"
    for k in range(len(net)):
        nodes.append(helper.make_node("Gemm", [last, f"{k}.weight", f"{k}.bias"], [f"g{k}"], transB=1, alpha=1.0))
        last = f"g{k}"
        if k < len(net) - 1:
            nodes.append(helper.make_node("LeakyRelu", [last], [f"l{k}"]))  # alpha is 0.01 by default
            last = f"l{k}"
    graph = helper.make_graph(
        nodes,
        "other",
        [helper.make_tensor_value_info("x", TensorProto.FLOAT, ["n", 37])],
        [helper.make_tensor_value_info(last, TensorProto.FLOAT, ["n", 1])],
        [numpy_helper.from_array(w, f"{k}.weight") for k, (w, _) in enumerate(net)]
        + [helper.make_tensor(f"{k}.bias", TensorProto.FLOAT, b.shape, b) for k, (_, b) in enumerate(net)],
    )
    model, weights = tmp_path / "other.onnx", tmp_path / "net.safetensors"
    onnx.save(helper.make_model(graph, opset_imports=[helper.make_opsetid("", 17)], ir_version=9), model)
    train("import", model, "--game", "wintetris", "--out", weights)
    for (w, b), (w2, b2) in zip(net, layers(weights), strict=True):
        np.testing.assert_array_equal(w, w2)
        np.testing.assert_array_equal(b, b2)
    x = rng.random((9, 37), np.float32)
    np.testing.assert_allclose(run(model, x), forward(net, x), atol=1e-5)
