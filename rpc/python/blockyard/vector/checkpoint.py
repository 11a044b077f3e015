"""Checkpoints of environments: saving their games with the agents that play in them, and continuing exactly."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import CheckpointError
from ..formats.checkpoint_file import Checkpoint, Part, reading, split_games
from ..transport.memory import StepMemory
from ..transport.over_socket import SocketTransport
from .engine import Engine
from .opponents import OpponentSeats

_PACKAGE = (Path(__file__).parents[1] / "VERSION").read_text(encoding="ascii").strip()


def save(engines: Sequence[Engine]) -> Checkpoint:
    """Return the games of environments whose games follow one another, such as those of a pool."""
    out = Checkpoint(engines[0].spec.name, engines[0].options.first, _PACKAGE)
    for engine in engines:
        assert engine.batch.current is not None  # or it raises NeedsResetError
        illegal, games = engine.batch.illegal, engine.opponents
        own = {"afterstate_calls": engine.afterstate_calls, "actions": illegal.actions, "illegal": illegal.illegal}
        _save_games(engine.transport, out)
        out.client.append(own | games.saved())
    _check_heads(out)
    return out


def resume(engines: Sequence[Engine], data: Checkpoint) -> None:
    """Continue the games of a checkpoint in environments whose games follow one another.

    Raise CheckpointError if they do not fit, or the server refuses them.
    """
    with reading("what it says of its games"):
        _resume(engines, data)


def _resume(engines: Sequence[Engine], data: Checkpoint) -> None:
    for name, have, want in (
        ("game", data.game, engines[0].spec.name),
        ("num_envs", data.games, sum(engine.batch.num_games for engine in engines)),
        ("first", data.first, engines[0].options.first),
    ):
        if have != want:
            raise CheckpointError(
                f"{name} is {have} in the checkpoint and {want} in this environment: create it with {name}={have!r}"
            )
    _check_heads(data)
    left = [(part.head, game) for part in data.parts for game in part.games]
    for engine, own in zip(engines, _per_env(data.client, len(engines)), strict=True):
        memory = engine.next_memory()
        _load_games(engine.transport, memory, engine.opponents, data, left, own)
        engine.batch.rungs = engine.opponents.rungs
        engine.afterstate_calls = own["afterstate_calls"]
        engine.batch.illegal.actions, engine.batch.illegal.illegal = own["actions"], own["illegal"]
        engine.resume(memory)
        engine.batch.complete(memory, False)


def _save_games(transport: SocketTransport, out: Checkpoint) -> None:
    for part in transport.parts:
        saved = Part(b"", [])
        for page in part.pages("checkpoint", np.arange(part.handle.games, dtype="<u4")):
            saved.head = page["head"]
            saved.games += split_games(page["games"])
            for name in page["weights"]:
                if name not in out.weights:
                    out.weights[name] = part.call("weights", name)["weights"]
        out.parts.append(saved)


def _load_games(
    transport: SocketTransport,
    memory: StepMemory,
    opponents: OpponentSeats,
    data: Checkpoint,
    left: list[tuple[bytes, bytes]],
    own: dict[str, Any],
) -> None:
    """Continue the first of the games that are left, which are removed there; own is what the client kept of them.

    Each game comes with what the server says of it and others.
    """
    head = left[0][0]
    facts = json.loads(head)
    opponents.check(own, facts)
    files = _files(data, facts)
    try:
        for part, place in zip(transport.parts, transport.places(memory), strict=True):
            part.upload(opponents.user, data.game, files)
            part.resume(place, head, [game for _, game in left[: part.handle.games]], {})
            del left[: part.handle.games]
    except BaseException:
        opponents.keep_weights()
        raise
    opponents.resume(own, facts)


def _check_heads(data: Checkpoint) -> None:
    """Refuse environments of which the server says different things."""
    if len({part.head for part in data.parts}) > 1:
        raise CheckpointError(
            "the environments have different opponents or rollout policies: save each by its own checkpoint()"
        )


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
    names = max((one["opponents"] for one in client), key=len)
    first = {
        "afterstate_calls": calls.pop(),
        "actions": sum(one["actions"] for one in client),
        "illegal": sum(one["illegal"] for one in client),
        "opponents": names,
        "policies": sorted({name for one in client for name in one["policies"]}),
    }
    none = first | {"actions": 0, "illegal": 0}
    return [first, *([none] * (count - 1))]
