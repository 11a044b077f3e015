"""Policies of other libraries, as functions ``policy(obs, mask)`` that are opponents and can be evaluated.

    from blockyard import policies

    opponents = {1: {"hand:ply=1": 0.3, policies.sb3("checkpoint-10.zip"): 0.7}}

Needs the library of each: ``pip install sb3-contrib`` or ``pip install onnxruntime``.
"""

import hashlib
import inspect
import os
import pickle
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .errors import needs
from .formats.opponents import Policy

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


def _of_file(path: str | os.PathLike[str], name: str | None) -> tuple[str, str, str]:
    """Return the path of a model, the name of its policy, and the hash of its content."""
    return os.fspath(path), name or Path(path).stem, hashlib.sha256(Path(path).read_bytes()).hexdigest()


_TRAIN = "train sb3_contrib.MaskablePPO, which takes action masks"


def _unfit(text: str) -> ValueError:
    return ValueError(f"model: {text}")


def sb3(model: Any, *, deterministic: bool = False, name: str | None = None, vec_normalize: Any = None) -> Policy:
    """Return a model of Stable-Baselines3 as a policy: a frozen copy, if it comes from a file.

    It plays on the observations that it was trained on: a model in memory with the statistics of its own
    ``VecNormalize``, one from a file with those of vec_normalize, since the file lacks them.

    Args:
        model: a file that ``MaskablePPO.save`` wrote; or a model, which goes on learning.
        deterministic: whether it plays the most probable action; by default it draws one.
        name: by default that of the file.
        vec_normalize: the file that ``VecNormalize.save`` wrote with the model, or a ``VecNormalize``.

    Raises:
        ValueError: the model takes no action masks, or was trained on observations that are not known here: normalised
            ones without their statistics, or, when it plays, those of a frame stack or another wrapper.
    """
    digest = None
    if isinstance(model, (str, os.PathLike)):
        with needs("blockyard.policies.sb3", "sb3-contrib", "sb3"):
            from sb3_contrib import MaskablePPO
        path, name, digest = _of_file(model, name)
        try:
            model = MaskablePPO.load(path)
        except Exception as error:  # of whatever the file makes of another class of models
            raise _unfit(f"{path} is no file that MaskablePPO.save wrote: {error!s:.200}; {_TRAIN}") from error
    who, policy_class = name or type(model).__name__, getattr(model, "policy_class", None)
    if getattr(policy_class, "__name__", "") == "AfterstatePolicy":
        raise _unfit("a network over afterstates plays as learned:ply=1,weights=FILE: use save_weights")
    for part in (model, getattr(model, "policy", None)):
        if "action_masks" not in inspect.signature(getattr(part, "predict", lambda: None)).parameters:
            what = f"{type(model).__name__} takes no action masks, so it would play illegal actions"
            raise _unfit(f"{what}: {_TRAIN}, or write a policy(obs, mask) around it")
    if not isinstance(spaces := getattr(model.observation_space, "spaces", None), dict):
        what = f"{who} was trained on {model.observation_space!s:.60}, not on the observations of the environment"
        raise _unfit(f"{what}: write a policy(obs, mask) that transforms them")

    def normalizer() -> Any:
        return model.get_vec_normalize_env() if vec_normalize is None else vec_normalize

    if isinstance(vec_normalize, (str, os.PathLike)):
        vec_normalize = _statistics(os.fspath(vec_normalize))
    if ((vec := normalizer()) is None or not vec.norm_obs) and not _plain(model, spaces):
        how = "pass vec_normalize= the file that VecNormalize.save wrote when the model was saved"
        raise _unfit(f"{who} was trained on normalised observations, whose statistics it lacks: {how}")

    def policy(obs: Any, mask: NDArray[np.bool_]) -> Any:
        for key, space in spaces.items():
            got = obs[key].shape[1:] if key in obs else "none"
            if got != space.shape:
                what = f"{who} was trained on {key} of shape {space.shape}, and the environment gives {got}"
                how = "it needs the same game and packed=; of VecFrameStack and the like, write a policy(obs, mask)"
                raise _unfit(f"{what}: {how}")
        seen = obs if (vec := normalizer()) is None else vec.normalize_obs(obs)
        return model.predict(seen, action_masks=mask, deterministic=deterministic)[0]

    return _Named(who, policy, digest)


def _statistics(path: str) -> Any:
    """Return the ``VecNormalize`` of a file, without an environment."""
    from stable_baselines3.common.vec_env import VecNormalize

    data = Path(path).read_bytes()
    try:
        if isinstance(found := pickle.loads(data), VecNormalize):
            return found
        said = f"it holds a {type(found).__name__}"
    except Exception as error:  # of whatever the file holds
        said = f"{error!s:.200}"
    raise ValueError(f"vec_normalize: {path} is no file that VecNormalize.save wrote: {said}")


def _plain(model: Any, spaces: dict[str, Any]) -> bool:
    """Whether a model, or its file, shows that it was trained on observations as the environment gives them."""
    if getattr(model, "_last_original_obs", None) is None:  # trained without VecNormalize, or not at all
        return True
    last = model._last_obs
    return last is not None and all(
        last[key].dtype == space.dtype and bool(((last[key] >= space.low) & (last[key] <= space.high)).all())
        for key, space in spaces.items()
    )


def onnx(path: str | os.PathLike[str], *, name: str | None = None) -> Policy:
    """Return an ONNX model as a policy, which ``onnxruntime`` runs.

    The model is checked here: if its inputs have fixed shapes, by a run on random positions.

    Args:
        path: the model. Its inputs are among ``planes``, (rows, C, H, W), ``bits``, (rows, n), ``globals``, (rows, G),
            and ``mask``, (rows, actions), of any integer or float type but bfloat16, or bool. If its number of rows
            is fixed, it runs on so many at a time, which is slow. Its first output is an action for each row, integers
            (rows,); or the scores of all actions, floats (rows, actions): then the legal action with the highest plays.
        name: by default that of the file.

    Raises:
        OSError: the file cannot be read.
        ValueError: it is no model, or one with another input or output; or, when it plays, a score is not a number.
    """
    with needs("blockyard.policies.onnx", "onnxruntime", "onnx"):
        import onnxruntime
    path, name, digest = _of_file(path, name)
    try:
        session = onnxruntime.InferenceSession(path, providers=["CPUExecutionProvider"])
    except Exception as error:  # the library's errors have no class in common
        raise ValueError(f"{path}: not an ONNX model that onnxruntime runs: {error!s:.200}") from error
    model = _OnnxModel(path, session)
    model.try_out()
    return _Named(name, model, digest)


class _OnnxModel:
    """A model, and what its inputs are: their types, their shapes, the fixed number of rows or None."""

    def __init__(self, path: str, session: Any) -> None:
        self._path, self._session = path, session
        inputs = {one.name: one for one in session.get_inputs()}
        for name, one in inputs.items():
            if name not in _AXES:
                raise self._wrong(f"input {name!r}: want some of {', '.join(map(repr, _AXES))}")
            if one.type not in _TYPES:
                raise self._wrong(f"input {name!r} is {one.type}: want integers, floats or bool")
            if one.shape and len(one.shape) != _AXES[name]:
                raise self._wrong(f"input {name!r} has shape {one.shape}, want {_AXES[name]} axes")
        self._types = {name: _TYPES[one.type] for name, one in inputs.items()}
        self._shapes = {name: one.shape[1:] for name, one in inputs.items()}
        fixed = {one.shape[0] for one in inputs.values() if one.shape and isinstance(one.shape[0], int)}
        if len(fixed) > 1:
            raise self._wrong(f"its inputs have different numbers of rows, {sorted(fixed)}")
        self._rows = fixed.pop() if fixed else None

    def _wrong(self, text: str) -> ValueError:
        return ValueError(f"{self._path}: {text}")

    def try_out(self) -> None:
        """Run it on random positions, if the shapes of its inputs say what these are."""
        shapes = self._shapes.values()
        if not shapes or not all(shape and all(isinstance(size, int) for size in shape) for shape in shapes):
            return
        rng = np.random.default_rng(0)
        for rows in (1, 2, 3):
            obs = {key: rng.integers(0, 2, (rows, *shape), np.uint8) for key, shape in self._shapes.items()}
            mask = obs["mask"] = obs.get("mask", np.zeros((rows, 0), np.uint8)).astype(np.bool_)
            mask[:, :1] = True
            self(obs, mask)

    def __call__(self, obs: Any, mask: NDArray[np.bool_]) -> Any:
        if missing := sorted(self._types.keys() - {*obs, "mask"}):
            how = "packed=True" if missing == ["bits"] else "packed=False"
            raise self._wrong(f"it has the input {missing[0]!r}, which the environment gives with {how}")
        seen = {key: np.asarray((obs | {"mask": mask})[key]).astype(dtype) for key, dtype in self._types.items()}
        size = self._rows or len(mask)
        parts = [self._run(seen, k, size) for k in range(0, len(mask), size)]
        answer: NDArray[Any] = np.concatenate(parts)[: len(mask)]
        if answer.dtype.kind in "iu":
            return answer
        if mask.shape[1] == 0:  # tried out, with any number of actions
            mask = np.ones(answer.shape, np.bool_)
        if answer.shape != mask.shape:
            raise self._wrong(f"its scores have shape {answer.shape}, want {mask.shape}: one for each action")
        if (wrong := np.isnan(answer) & mask).any():
            row, action = np.argwhere(wrong)[0].tolist()
            raise self._wrong(f"the score of action {action} in row {row} is nan: check the model's weights")
        return np.where(mask, np.maximum(answer, np.finfo(answer.dtype).min), -np.inf).argmax(axis=1)

    def _run(self, seen: dict[str, NDArray[Any]], first: int, rows: int) -> NDArray[Any]:
        """Run it on so many rows from the first on; the last one is repeated as often as rows are missing."""
        chosen = np.arange(first, first + rows)
        inputs = {key: one if len(one) == rows else one[chosen.clip(max=len(one) - 1)] for key, one in seen.items()}
        try:
            answer = np.asarray(self._session.run(None, inputs)[0])
        except Exception as error:
            shapes = {key: one.shape for key, one in inputs.items()}
            raise self._wrong(f"the model fails on inputs {shapes}: {error!s:.300}") from error
        if answer.ndim != {"i": 1, "u": 1, "f": 2}.get(answer.dtype.kind) or len(answer) != rows:
            want = "integers (rows,), actions, or floats (rows, actions), scores; export it with a dynamic first axis"
            raise self._wrong(f"its first output for {rows} rows is {answer.dtype} {answer.shape}: want {want}")
        return answer


_AXES = {"planes": 4, "bits": 2, "globals": 2, "mask": 2}
_SAME = ("bool", "float16", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64")
_TYPES = {f"tensor({name})": np.dtype(name) for name in _SAME}
_TYPES |= {"tensor(float)": np.dtype(np.float32), "tensor(double)": np.dtype(np.float64)}
