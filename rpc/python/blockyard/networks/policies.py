"""Policies of other libraries, as functions ``policy(obs, mask)`` that are opponents and can be evaluated.

    from blockyard import policies

    opponents = {1: {"hand:ply=1": 0.3, policies.sb3("checkpoint-10.zip"): 0.7}}

Needs the library of each: ``pip install sb3-contrib`` or ``pip install onnxruntime``.
"""

from __future__ import annotations

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats.opponents import Policy
from ..formats.optional import needs

__all__ = ["named", "onnx", "sb3"]


@dataclass(eq=False, repr=False)
class _Named:
    name: str
    _policy: Policy
    sha256: str | None = None

    def __call__(self, obs: Any, mask: NDArray[np.bool_]) -> Any:
        return self._policy(obs, mask)

    def __repr__(self) -> str:
        return f"policy {self.name!r}"


def named(name: str, policy: Policy, *, sha256: str | None = None) -> Policy:
    """Return a policy that is called name in ``opponent_specs``, results, records and checkpoints.

    sha256 is the hash of its weights, which records have too.
    """
    return _Named(name, policy, sha256)


def _hash(path: str) -> str:
    return hashlib.sha256(Path(path).read_bytes()).hexdigest()


def sb3(model: Any, *, deterministic: bool = False, name: str | None = None) -> Policy:
    """Return a model of Stable-Baselines3 as a policy: a frozen copy, if it comes from a file.

    Args:
        model: a file that ``MaskablePPO.save`` wrote; or a model, which goes on learning.
        deterministic: whether it plays the most probable action; by default it draws one.
        name: by default that of the file.
    """
    digest = None
    if isinstance(model, (str, os.PathLike)):
        with needs("blockyard.policies.sb3", "sb3-contrib", "sb3"):
            from sb3_contrib import MaskablePPO
        name = name or Path(os.fspath(model)).stem
        digest, model = _hash(os.fspath(model)), MaskablePPO.load(os.fspath(model))
    if model.policy_class.__name__ == "AfterstatePolicy":
        raise ValueError("model: a network over afterstates plays as learned:ply=1,weights=FILE: use save_weights")

    def policy(obs: Any, mask: NDArray[np.bool_]) -> Any:
        return model.predict(obs, action_masks=mask, deterministic=deterministic)[0]

    return _Named(name or type(model).__name__, policy, digest)


def onnx(path: str | os.PathLike[str], *, name: str | None = None) -> Policy:
    """Return an ONNX model as a policy, which ``onnxruntime`` runs.

    Args:
        path: the model. Its inputs are among ``planes``, (rows, C, H, W), ``bits``, (rows, n), ``globals``, (rows, G),
            and ``mask``, (rows, actions), of any numeric type. Its first output is an action for each row, integers
            (rows,); or the scores of all actions, floats (rows, actions): then the legal action with the highest plays.
        name: by default that of the file.

    Raises:
        ValueError: the model has another input.
    """
    with needs("blockyard.policies.onnx", "onnxruntime", "onnx"):
        import onnxruntime
    session = onnxruntime.InferenceSession(os.fspath(path), providers=["CPUExecutionProvider"])
    inputs = {one.name: _TYPES.get(one.type, np.float32) for one in session.get_inputs()}
    if unknown := sorted(inputs.keys() - {"planes", "bits", "globals", "mask"}):
        raise ValueError(f"{path}: input {unknown[0]!r}: want some of 'planes', 'bits', 'globals' and 'mask'")

    def policy(obs: Any, mask: NDArray[np.bool_]) -> Any:
        seen = {**obs, "mask": mask}
        answer = session.run(None, {key: np.asarray(seen[key]).astype(dtype) for key, dtype in inputs.items()})[0]
        return answer if answer.dtype.kind in "iu" else np.where(mask, answer, -np.inf).argmax(axis=1)

    return _Named(name or Path(os.fspath(path)).stem, policy, _hash(os.fspath(path)))


_TYPES: dict[str, Any] = {
    "tensor(float16)": np.float16,
    "tensor(double)": np.float64,
    "tensor(uint8)": np.uint8,
    "tensor(int8)": np.int8,
    "tensor(bool)": np.bool_,
    "tensor(int64)": np.int64,
}
