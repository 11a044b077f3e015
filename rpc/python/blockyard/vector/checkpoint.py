"""Checkpoints of environments: saving their games with the agents that play in them, and continuing exactly."""

import json
from collections.abc import Sequence
from typing import Any

import numpy as np

from ..errors import CheckpointError, on_error
from ..formats.checkpoint_file import Checkpoint, Part, reading, split_games
from ..provenance import VERSION
from ..transport.over_socket import SocketTransport
from .engine import Engine


def save(engines: Sequence[Engine]) -> Checkpoint:
    """Return the games of environments whose games follow one another, such as those of a pool."""
    out = Checkpoint(engines[0].spec.name, engines[0].options.first, VERSION)
    for engine in engines:
        assert engine.batch.current is not None  # or it raises NeedsResetError
        illegal, games = engine.batch.illegal, engine.opponents
        own = {"afterstate_calls": engine.afterstate_calls, "actions": illegal.actions, "illegal": illegal.illegal}
        out.parts += [_saved(part, out.weights) for part in engine.transport.parts]
        out.client.append(own | games.saved())
    _head(out)
    return out


def _saved(part: SocketTransport, weights: dict[str, bytes]) -> Part:
    """Return the games of a server; the weights of their opponents are added to those that are there."""
    saved = Part(b"", [])
    for page in part.pages("checkpoint", np.arange(part.handle.games, dtype="<u4")):
        saved.head = page["head"]
        saved.games += split_games(page["games"])
        for name in page["weights"]:
            if name not in weights:
                weights[name] = part.call("weights", name)["weights"]
    return saved


@reading("what it says of its games")
def resume(engines: Sequence[Engine], data: Checkpoint) -> None:
    """Continue the games of a checkpoint in environments whose games follow one another.

    Raise CheckpointError if they do not fit, or the server refuses them.
    """
    for name, have, want in (
        ("game", data.game, engines[0].spec.name),
        ("num_envs", data.games, sum(engine.batch.num_games for engine in engines)),
        ("first", data.first, engines[0].options.first),
    ):
        if have != want:
            raise CheckpointError(
                f"{name} is {have} in the checkpoint and {want} in this environment: create it with {name}={have!r}"
            )
    head, games = _head(data), [game for part in data.parts for game in part.games]
    facts = json.loads(head)
    for engine, own in zip(engines, _per_env(data.client, len(engines)), strict=True):
        memory, opponents = engine.next_memory(), engine.opponents
        opponents.check(own, facts)
        with on_error(opponents.keep_weights):
            for part, place in zip(engine.transport.parts, engine.transport.places(memory), strict=True):
                part.upload(opponents.user, data.game, _files(data, facts))
                part.resume(place, head, games[: part.handle.games], {})
                del games[: part.handle.games]
        opponents.resume(own, facts)
        engine.batch.rungs = opponents.rungs
        engine.afterstate_calls = own["afterstate_calls"]
        engine.batch.illegal.actions, engine.batch.illegal.illegal = own["actions"], own["illegal"]
        engine.resume(memory)
        engine.batch.complete(memory, False)


def _head(data: Checkpoint) -> bytes:
    """Return what the server says of all games; refuse environments of which it says different things."""
    if len(heads := {part.head for part in data.parts}) > 1:
        raise CheckpointError(
            "the environments have different opponents or rollout policies: save each by its own checkpoint()"
        )
    return heads.pop()


def _files(data: Checkpoint, head: dict[str, Any]) -> dict[str, tuple[str, bytes]]:
    """Return the weights in the form in which they are uploaded: by name, with a spec that uses them."""
    specs = [*head["opponents"], head["policy"]]
    return {
        name: (next((s for s in specs if f"weights={name}" in s), f"learned:weights={name}"), content)
        for name, content in data.weights.items()
    }


def _per_env(client: list[dict[str, Any]], count: int) -> list[dict[str, Any]]:
    """Return what each of count environments is to keep, if another number of them was saved."""
    if len(client) == count:
        return client
    calls = {one["afterstate_calls"] for one in client}
    if len(calls) != 1:
        raise CheckpointError(
            f"the checkpoint has {len(client)} environments that called afterstates() a different number of times: "
            f"restore it into {len(client)} environments"
        )
    sums = {key: sum(one[key] for one in client) for key in ("actions", "illegal")}
    longest = max(client, key=lambda one: len(one["opponents"]))
    first = longest | sums | {"policies": sorted({name for one in client for name in one["policies"]})}
    return [first, *([first | dict.fromkeys(sums, 0)] * (count - 1))]
