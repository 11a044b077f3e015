"""Networks as ONNX models, which other programs run and train.

A model has one input, ``features`` of float32 [rows, inputs], and one output, ``values`` of float32 ["rows", 1]. Its
nodes are Gemm (transB=1) with LeakyRelu (alpha=0.01) between them, of operator set 13, and its metadata are those of a
file of weights. Needs ``pip install 'blockyard[onnx]'``.
"""

import os
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import WeightsError, needs
from ..provenance import write_whole
from .perceptron import MAX_LAYERS, SLOPE, Layers
from .weights import FeatureFacts, Weights, file_of

with needs(__name__, "onnx", "onnx"):
    import onnx
    from onnx import TensorProto, helper, numpy_helper

_FORM = "a network is Gemm (torch.nn.Linear) with LeakyRelu (torch.nn.LeakyReLU(0.01)) between them"


def save_onnx(path: str | os.PathLike[str], weights: Weights) -> None:
    """Write a network as an ONNX model. The same weights give the same bytes."""
    nodes, value = [], "features"
    for i in range(len(weights.layers)):
        if i:  # "fc0.leaky" of "fc0.out"
            leaky = value.replace("out", "leaky")
            nodes.append(helper.make_node("LeakyRelu", [value], [leaky], leaky, alpha=SLOPE))
            value = leaky
        out = "values" if i == len(weights.layers) - 1 else f"fc{i}.out"
        nodes.append(helper.make_node("Gemm", [value, f"fc{i}.weight", f"fc{i}.bias"], [out], f"fc{i}", transB=1))
        value = out
    inputs = helper.make_tensor_value_info("features", TensorProto.FLOAT, ["rows", len(weights.features)])
    output = helper.make_tensor_value_info("values", TensorProto.FLOAT, ["rows", 1])
    tensors = [numpy_helper.from_array(array, name) for name, array in weights.arrays.items()]
    graph, opset = helper.make_graph(nodes, weights.game, [inputs], [output], tensors), helper.make_opsetid("", 13)
    model = helper.make_model(graph, producer_name="blockyard", opset_imports=[opset], ir_version=8)
    facts = FeatureFacts(weights.game, weights.rules, weights.features, 0)
    helper.set_model_props(model, dict(sorted(facts.metadata(**weights.notes).items())))
    write_whole(path, model.SerializeToString(deterministic=True))


def load_onnx(path: str | os.PathLike[str]) -> tuple[Layers, dict[str, str]]:
    """Read the layers and the metadata of a model, which may be another program's: then the metadata lack ``game``.

    Raises:
        OSError: the file cannot be read.
        WeightsError: it is no ONNX model, or one of another form; the message says which operation differs.
    """
    data, model = file_of(path), onnx.ModelProto()
    try:
        model.ParseFromString(data)
        layers = _layers(model.graph)
    except WeightsError as error:
        raise WeightsError(f"{os.fspath(path)}: {error}") from None
    except Exception as error:  # the library's errors for damaged files have no class in common
        raise WeightsError(f"{os.fspath(path)}: not an ONNX model, or a damaged one: {error!s:.200}") from None
    return layers, {p.key: p.value for p in model.metadata_props}


def _layers(graph: Any) -> Layers:
    nodes = list(graph.node)
    if not 1 <= len(nodes) < 2 * MAX_LAYERS or len(nodes) % 2 == 0:
        raise WeightsError(f"{len(nodes)} operations, want 1 to {2 * MAX_LAYERS - 1}: {_FORM}, and Gemm at the end")
    tensors = {t.name: t for t in graph.initializer}
    layers: Layers = []
    for i, node in enumerate(nodes):
        wanted = ("Gemm", "LeakyRelu")[i % 2]
        if node.op_type != wanted:
            raise WeightsError(f"operation {i} is {node.op_type!r:.40}, want {wanted}: {_FORM}")
        if len(node.output) != 1 or not node.input or (i and node.input[0] != nodes[i - 1].output[0]):
            raise WeightsError(f"operation {i} does not work on the result of the one before")
        numbers = {a.name: helper.get_attribute_value(a) for a in node.attribute}
        if wanted == "LeakyRelu":
            if abs((alpha := float(numbers.get("alpha", SLOPE))) - SLOPE) > 1e-6:
                raise WeightsError(f"operation {i} is LeakyRelu with alpha {alpha}, want {SLOPE}")
            continue
        for key, default, want in (("transB", 0, 1), ("transA", 0, 0), ("alpha", 1.0, 1.0), ("beta", 1.0, 1.0)):
            if (have := numbers.get(key, default)) != want:
                raise WeightsError(f"operation {i} is Gemm with {key}={have}, want {want}")
        if len(node.input) != 3:
            raise WeightsError(f"operation {i} is Gemm with {len(node.input)} inputs, want 3: a layer has a bias")
        layers.append((_array(tensors, node.input[1]), _array(tensors, node.input[2])))
    return layers


def _array(tensors: dict[str, Any], name: str) -> NDArray[np.float32]:
    tensor = tensors.get(name)
    if tensor is None or tensor.data_type != TensorProto.FLOAT or tensor.external_data:
        raise WeightsError(f"tensor {name!r:.60}: want float32 values in the same file")
    return np.ascontiguousarray(numpy_helper.to_array(tensor), "<f4")
