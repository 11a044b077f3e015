"""Checkpoints of environments: saving their games with the agents that play in them, and continuing exactly."""

import json
from typing import Any

import numpy as np

from ..errors import CheckpointError, on_error
from ..formats.checkpoint_file import Checkpoint, reading, split_games
from ..provenance import VERSION
from .engine import Engine


def save(engine: Engine) -> Checkpoint:
    """Return the games of an environment."""
    assert engine.batch.current is not None  # or it raises NeedsResetError
    illegal = engine.batch.illegal
    own = {"afterstate_calls": engine.afterstate_calls, "actions": illegal.actions, "illegal": illegal.illegal}
    out = Checkpoint(engine.spec.name, engine.options.first, VERSION, own | engine.opponents.saved())
    for part in engine.transport.parts:
        for page in part.pages("checkpoint", np.arange(part.handle.games, dtype="<u4")):
            if out.head not in (b"", page["head"]):
                raise CheckpointError("the servers have different opponents: create a new environment")
            out.head = page["head"]
            out.games += split_games(page["games"])
            for name in page["weights"]:
                if name not in out.weights:
                    out.weights[name] = part.call("weights", name)["weights"]
    return out


@reading("what it says of its games")
def resume(engine: Engine, data: Checkpoint) -> None:
    """Continue the games of a checkpoint; raise CheckpointError if they do not fit, or the server refuses them."""
    for name, have, want in (
        ("game", data.game, engine.spec.name),
        ("num_envs", len(data.games), engine.batch.num_games),
        ("first", data.first, engine.options.first),
    ):
        if have != want:
            raise CheckpointError(
                f"{name} is {have} in the checkpoint and {want} in this environment: create it with {name}={have!r}"
            )
    facts, own, games = json.loads(data.head), data.client, data.games
    memory, opponents = engine.next_memory(), engine.opponents
    opponents.check(own, facts)
    with on_error(opponents.keep_weights):
        for part, place in zip(engine.transport.parts, engine.transport.places(memory), strict=True):
            part.upload(opponents.user, data.game, _files(data, facts))
            part.resume(place, data.head, games[: part.handle.games], {})
            games = games[part.handle.games :]
    opponents.resume(own, facts)
    engine.batch.rungs = opponents.rungs
    engine.afterstate_calls = own["afterstate_calls"]
    engine.batch.illegal.actions, engine.batch.illegal.illegal = own["actions"], own["illegal"]
    engine.resume(memory)
    engine.batch.complete(memory, False)


def _files(data: Checkpoint, head: dict[str, Any]) -> dict[str, tuple[str, bytes]]:
    """Return the weights in the form in which they are uploaded: by name, with a spec that uses them."""
    specs = [*head["opponents"], head["policy"]]
    return {
        name: (next((s for s in specs if f"weights={name}" in s), f"learned:weights={name}"), content)
        for name, content in data.weights.items()
    }
