"""Networks as ONNX models: onnxruntime computes what `learned` does."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import onnxruntime
import pytest

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
