"""Networks as ONNX models: onnxruntime computes what `learned` does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnx
import onnxruntime
import pytest
from conftest import Server, advance, begun, last

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


def model_of(path, inputs, nodes, out, tensors=()):
    """Write a model; inputs and the output are (name, type, shape)."""
    info = onnx.helper.make_tensor_value_info
    graph = onnx.helper.make_graph(nodes, "g", [info(*one) for one in inputs], [info(*out)], list(tensors))
    opset = [onnx.helper.make_opsetid("", 13)]
    onnx.save(onnx.helper.make_model(graph, opset_imports=opset, ir_version=8), path)
    return path


def node(kind, *names, **how):
    return onnx.helper.make_node(kind, list(names[:-1]), [names[-1]], **how)


TYPES = ["bool", "float16", "float", "double", *(f"{sign}int{bits}" for sign in ("", "u") for bits in (8, 16, 32, 64))]
FLOAT, INT64 = onnx.TensorProto.FLOAT, onnx.TensorProto.INT64


def test_a_model_is_an_opponent(server: Server, tmp_path):
    """One that scores actions by their number plays the highest that is legal; one may also return actions."""
    with blockyard.make_vec("BlockBattle-v0", 4, address=server.unix) as env:
        count = env.game_spec.actions
    inputs = [("mask", FLOAT, ["rows", count])]
    numbers = onnx.numpy_helper.from_array(np.arange(count, dtype=np.float32), "numbers")
    by_number, first_legal = node("Mul", "mask", "numbers", "out"), node("ArgMax", "mask", "out", axis=1, keepdims=0)
    paths = (
        model_of(tmp_path / "scores.onnx", inputs, [by_number], ("out", FLOAT, ["rows", count]), [numbers]),
        model_of(tmp_path / "actions.onnx", inputs, [first_legal], ("out", INT64, ["rows"])),
    )
    scores, actions = map(blockyard.policies.onnx, paths)
    how = {"game": "BlockBattle-v0", "games": 8, "address": server.unix}
    assert blockyard.evaluate(scores, actions, **how).b == "actions"
    assert blockyard.evaluate(scores, "first", name="a", **how) == blockyard.evaluate(last, "first", name="a", **how)
    with begun("BlockBattle-v0", 4, opponents=scores, address=server.unix, seed=1) as env:
        env.step(env.action_masks.argmax(1))
        assert env.opponent_specs == ("scores",)


@pytest.fixture
def seen(server: Server):
    """Observations and masks of some rows."""
    with blockyard.make_vec("BlockBattle-v0", 7, seed=1, address=server.unix) as env:
        obs, infos = env.reset()
        obs, *_, infos = advance(env, 5)
        return obs, infos["action_mask"]


@pytest.mark.parametrize("name", TYPES)
@pytest.mark.parametrize("rows", ["rows", 1, 3, None])
def test_types_and_numbers_of_rows(seen, tmp_path, name, rows):
    """Each input type that NumPy has works, and so does a fixed number of rows."""
    obs, mask = seen
    kind = getattr(onnx.TensorProto, name.upper())
    shape = None if rows is None else [rows, mask.shape[1]]
    nodes = [node("Cast", "mask", "cast", to=FLOAT), node("ArgMax", "cast", "out", axis=1, keepdims=0)]
    path = model_of(tmp_path / "m.onnx", [("mask", kind, shape)], nodes, ("out", INT64, shape and [rows]))
    np.testing.assert_array_equal(blockyard.policies.onnx(path)(obs, mask), mask.argmax(1))


@pytest.mark.parametrize("score", [np.nan, -np.inf, np.inf])
def test_scores_that_are_no_numbers(seen, tmp_path, score):
    """A score that is not a number is an error where the shapes are known, or else when it plays."""
    obs, mask = seen
    count = mask.shape[1]
    values = onnx.numpy_helper.from_array(np.full(count, score, np.float32), "values")
    for rows, actions in (("rows", count), ("rows", "actions"), (1, count)):
        path = model_of(
            tmp_path / "m.onnx",
            [("mask", FLOAT, [rows, actions])],
            [node("Add", "mask", "values", "out")],
            ("out", FLOAT, [rows, actions]),
            [values],
        )
        if np.isnan(score):
            with pytest.raises(ValueError, match=r"m.onnx: the score of action \d+ in row 0 is nan"):
                blockyard.policies.onnx(path)(obs, mask)
            if actions == count:
                with pytest.raises(ValueError, match="is nan"):
                    blockyard.policies.onnx(path)
        else:
            np.testing.assert_array_equal(blockyard.policies.onnx(path)(obs, mask), mask.argmax(1))


def test_models_that_do_not_fit_are_refused_when_they_are_loaded(seen, tmp_path):
    obs, mask = seen
    count, path = mask.shape[1], tmp_path / "m.onnx"
    known = ("mask", FLOAT, ["rows", count])
    best = node("ArgMax", "mask", "out", axis=1, keepdims=0)
    text = onnx.TensorProto.STRING
    table = onnx.numpy_helper.from_array(np.ones((1, count), np.float32), "table")
    one = onnx.numpy_helper.from_array(np.array([1, count]), "one")
    for inputs, nodes, out, tensors, said in (
        ([("board", FLOAT, ["rows", count])], [node("Identity", "board", "out")], (FLOAT, None), (), "input 'board'"),
        ([("mask", text, ["rows", count])], [node("Identity", "mask", "out")], (text, None), (), "'mask' is .*string"),
        ([("planes", FLOAT, ["rows", 2])], [node("Identity", "planes", "out")], (FLOAT, None), (), "want 4 axes"),
        ([known], [node("ArgMax", "mask", "out", axis=1)], (INT64, None), (), r"int64 \(1, 1\): want integers"),
        ([known], [node("ReduceMax", "mask", "out", axes=[1], keepdims=0)], (FLOAT, None), (), r"float32 \(1,\): want"),
        ([known], [node("Slice", "mask", "a", "b", "c", "out")], (FLOAT, None), cut(count), "one for each action"),
        ([known], [node("Reshape", "mask", "one", "out")], (FLOAT, None), [one], "the model fails on inputs"),
        ([known], [node("MatMul", "mask", "table", "out")], (FLOAT, None), [table], "not an ONNX model|fails on"),
        ([("mask", FLOAT, [3, count]), ("globals", FLOAT, [2, 29])], [best], (INT64, None), (), "numbers of rows"),
    ):
        model_of(path, inputs, nodes, ("out", *out), tensors)
        with pytest.raises(ValueError, match=said):
            blockyard.policies.onnx(path)
    path.write_bytes(b"no model")
    with pytest.raises(ValueError, match=r"m.onnx: not an ONNX model that onnxruntime runs"):
        blockyard.policies.onnx(path)
    with pytest.raises(FileNotFoundError):
        blockyard.policies.onnx(tmp_path / "none.onnx")
    bits = model_of(path, [("bits", FLOAT, ["rows", "n"])], [node("Identity", "bits", "out")], ("out", FLOAT, None))
    with pytest.raises(ValueError, match="input 'bits', which the environment gives with packed=True"):
        blockyard.policies.onnx(bits)(obs, mask)


def cut(count):
    """The tensors with which Slice leaves out the last action."""
    return [
        onnx.numpy_helper.from_array(np.array([value]), name) for name, value in (("a", 0), ("b", count - 1), ("c", 1))
    ]
