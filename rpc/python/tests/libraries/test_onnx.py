"""Networks as ONNX models: onnxruntime computes what `learned` does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from conftest import Server

import blockyard
from blockyard import load_weights
from blockyard.commands import main

ROOT = Path(__file__).resolve().parents[4]


@pytest.mark.parametrize("weights", sorted(ROOT.glob("agents/bots/*/weights/*.safetensors")), ids=lambda p: p.stem)
def test_values(weights, tmp_path):
    model = tmp_path / "net.onnx"
    assert main(["onnx", str(weights), str(model)]) == 0
    net = load_weights(weights)
    session = onnxruntime.InferenceSession(str(model), providers=["CPUExecutionProvider"])
    for rows in (1, 257):
        x = np.random.default_rng(7).random((rows, len(net.features)), np.float32)
        [values] = session.run(None, {"features": x})
        np.testing.assert_allclose(values[:, 0], net.values(x), atol=1e-5)


def test_a_model_is_an_opponent(server: Server, tmp_path):
    """One that scores actions by their number plays the highest that is legal; one may also return actions."""
    with blockyard.make_vec("BlockBattle-v0", 4, address=server.unix) as env:
        count = env.game_spec.actions
    floats, ids = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64
    mask = onnx.helper.make_tensor_value_info("mask", floats, ["rows", count])
    numbers = onnx.numpy_helper.from_array(np.arange(count, dtype=np.float32), "numbers")
    for name, nodes, out in (
        ("scores", [onnx.helper.make_node("Mul", ["mask", "numbers"], ["out"])], (floats, ["rows", count])),
        ("actions", [onnx.helper.make_node("ArgMax", ["mask"], ["out"], axis=1, keepdims=0)], (ids, ["rows"])),
    ):
        graph = onnx.helper.make_graph(
            nodes,
            name,
            [mask],
            [onnx.helper.make_tensor_value_info("out", *out)],
            [numbers] if name == "scores" else [],
        )
        opset = [onnx.helper.make_opsetid("", 13)]
        onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), tmp_path / f"{name}.onnx")
    scores, actions = (blockyard.policies.onnx(tmp_path / f"{name}.onnx") for name in ("scores", "actions"))
    last = lambda obs, mask: mask.shape[1] - 1 - mask[:, ::-1].argmax(1)  # noqa: E731
    how = {"game": "BlockBattle-v0", "games": 8, "address": server.unix}
    assert blockyard.evaluate(scores, actions, **how).b == "actions"
    assert blockyard.evaluate(scores, "first", name="a", **how) == blockyard.evaluate(last, "first", name="a", **how)
    with blockyard.make_vec("BlockBattle-v0", 4, opponents=scores, address=server.unix, seed=1) as env:
        env.reset()
        env.step(env.action_masks.argmax(1))
        assert env.opponent_specs == ("scores",)
