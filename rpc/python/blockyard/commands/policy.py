"""``python -m blockyard.commands.policy POLICY``: chooses the actions of a seat for ``blockyard bot``.

The program writes questions to standard input and reads the answers from standard output, as agents/contest/policy.go
describes it; what the policy itself prints goes to standard error.
"""

import importlib.util
import inspect
import json
import os
import sys
from pathlib import Path
from typing import Any

import numpy as np

from .. import policies
from ..errors import plain
from ..formats.opponents import Policy
from ..transport.policies import checked


def load(what: str) -> Policy:
    """Return the policy of ``FILE.py:NAME``, ``FILE.zip`` of Stable-Baselines3 or ``FILE.onnx``.

    NAME is a policy, ``policy(obs, mask)``, or a function without arguments that returns one.
    """
    kinds: dict[str, Any] = {".zip": policies.sb3, ".onnx": policies.onnx}
    if of_file := kinds.get(Path(what).suffix):
        found: Policy = of_file(what)
        return found
    file, _, name = what.rpartition(":")
    if not file.endswith(".py"):
        raise ValueError(f"policy {what}: want FILE.py:NAME, a .zip of MaskablePPO.save, or an .onnx")
    if not Path(file).is_file():
        raise ValueError(f"policy {what}: there is no file {file}")
    sys.path.insert(0, str(Path(file).resolve().parent))  # for what it imports
    spec = importlib.util.spec_from_file_location(Path(file).stem, file)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    if not callable(made := getattr(module, name, None)):
        raise ValueError(f"policy {what}: {file} has no function {name}")
    takes = inspect.signature(made).parameters.values()
    plays = sum(one.default is one.empty and one.kind < one.VAR_POSITIONAL for one in takes) == 2
    policy: Policy = made if plays else made()
    return policy


def main(what: str) -> int:
    """Answer until standard input ends; return the exit status."""
    asks, answers = os.fdopen(os.dup(0), "rb"), os.fdopen(os.dup(1), "wb", buffering=0)
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    try:
        policy = load(what)
    except (ValueError, ImportError, OSError) as error:
        print(plain(str(error)), file=sys.stderr)
        return 1
    about = json.loads(asks.readline())
    shape, numbers, actions = about["planes"], about["globals"], about["actions"]
    cells = int(np.prod(shape))
    answers.write(bytes(2))
    while len(seen := asks.read(cells + 4 * numbers + actions)) == cells + 4 * numbers + actions:
        planes = np.frombuffer(seen, np.uint8, cells).reshape(1, *shape)
        numeric = np.frombuffer(seen, "<f4", numbers, cells).reshape(1, numbers)
        mask = np.frombuffer(seen, np.bool_, actions, cells + 4 * numbers).reshape(1, actions)
        choice = policy({"planes": planes.copy(), "globals": numeric.copy()}, mask.copy())
        answers.write(checked(choice, mask, f"policy {what}").astype("<u2").tobytes())
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1]))
