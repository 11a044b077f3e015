"""Checkpoints of environments: saving their games with the agents that play in them, and continuing exactly."""

from __future__ import annotations

import base64
import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from ..errors import BlockyardError, CheckpointError
from ..formats.checkpoint_file import Checkpoint, Part, runs, split_games
from ..transport.memory import StepMemory
from ..transport.over_socket import SocketTransport
from .engine import Engine
from .opponents import OpponentSeats
from .policies import PolicyGames

_PACKAGE = (Path(__file__).parents[1] / "VERSION").read_text(encoding="ascii").strip()
_MESSAGE = 4096  # bytes of a request besides its games


def save(engines: Sequence[Engine]) -> Checkpoint:
    """Return the games of environments whose games follow one another, such as those of a pool."""
    out = Checkpoint(engines[0].spec.name, engines[0].options.first, _PACKAGE)
    for engine in engines:
        assert engine.batch.current is not None  # or it raises NeedsResetError
        illegal, games = engine.batch.illegal, engine.opponents
        own = {"afterstate_calls": engine.afterstate_calls, "actions": illegal.actions, "illegal": illegal.illegal}
        if isinstance(games, PolicyGames):
            out.client.append(own | _save_tables(games, out))
        else:
            _save_games(engine.transport, out)
            out.client.append(own | games.saved())
    _head(out)
    return out


def resume(engines: Sequence[Engine], data: Checkpoint) -> None:
    """Continue the games of a checkpoint in environments whose games follow one another.

    Raise CheckpointError if they do not fit.
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
    head = _head(data)
    left = [game for part in data.parts for game in part.games]
    for engine, own in zip(engines, _per_env(data.client, len(engines)), strict=True):
        _resume_one(engine, data, head, left, own)


def _resume_one(engine: Engine, data: Checkpoint, head: dict[str, Any], left: list[bytes], own: dict[str, Any]) -> None:
    """Continue the first of the games that are left, which are removed from there; own is what the client kept."""
    memory, opponents = engine.next_memory(), engine.opponents
    if isinstance(opponents, PolicyGames):
        _load_tables(opponents, data, left, own)
        opponents.write(memory)
    elif "tables" in own:
        who = ", ".join(own["tables"]["names"])
        raise CheckpointError(f"opponents: create the environment with those of the checkpoint: {who:.200}")
    else:
        _load_games(engine.transport, memory, opponents, data, left)
        opponents.resume(own, head)
    engine.afterstate_calls = own["afterstate_calls"]
    engine.batch.illegal.actions, engine.batch.illegal.illegal = own["actions"], own["illegal"]
    engine.resume(memory)
    engine.batch.complete(memory, False)


def _save_games(transport: SocketTransport, out: Checkpoint) -> None:
    for part in transport.parts:
        part.client.require("checkpoint", "checkpoint()")
        saved = Part(b"", [])
        for page in part.pages("checkpoint", np.arange(part.handle.games, dtype="<u4")):
            saved.head = page["head"]
            saved.games += split_games(page["games"])
            for name in page["weights"]:
                if name not in out.weights:
                    out.weights[name] = part.call("weights", name)["weights"]
        out.parts.append(saved)


def _load_games(
    transport: SocketTransport, memory: StepMemory, opponents: OpponentSeats, data: Checkpoint, games: list[bytes]
) -> None:
    """Continue the first of these games in a transport; they are removed from the list."""
    head = json.loads(data.parts[0].head)
    try:
        for part, place in zip(transport.parts, transport.places(memory), strict=True):
            part.client.require("checkpoint", "restore_checkpoint()")
            part.upload(opponents.user, data.game, _files(data, head))
            _send(part, place, data.parts[0].head, games[: part.handle.games])
            del games[: part.handle.games]
    except BaseException:
        opponents.keep_weights()
        raise


def _save_tables(games: PolicyGames, out: Checkpoint) -> dict[str, Any]:
    """Add the games of all tables, and return what the client keeps: the games of the first are those of out."""
    first, *rest = games.seating.tables
    _save_games(first.transport, out)
    others = []
    for table in rest:
        other = Checkpoint(out.game, out.first, out.package)
        _save_games(table.transport, other)
        other.client.append({"afterstate_calls": 0, "actions": 0, "illegal": 0} | table.opponents.saved())
        others.append(base64.b64encode(other.to_bytes()).decode())
    counts = {str(number): counts.tolist() for number, counts in games.counts.items()}
    return first.opponents.saved() | {"tables": games.seating.saved() | {"others": others, "counts": counts}}


def _load_tables(games: PolicyGames, data: Checkpoint, left: list[bytes], own: dict[str, Any]) -> None:
    """Continue the games of all tables."""
    saved, seating = own.get("tables"), games.seating
    if saved is None:
        raise CheckpointError("the checkpoint was saved without policies as opponents: create the environment without")
    others = [Checkpoint.from_bytes(base64.b64decode(text)) for text in saved["others"]]
    lists = [left, *([game for part in other.parts for game in part.games] for other in others)]
    tables = seating.resume(saved)
    for table, one, some in zip(tables, [data, *others], lists, strict=True):
        _load_games(table.transport, table.memory.reuse(), table.opponents, one, some)
        mine = own if one is data else one.client[0]
        table.opponents.resume(mine, json.loads(one.parts[0].head))
        seating.number(table)
    games.counts = {int(number): np.array(counts, np.int64) for number, counts in saved["counts"].items()}


def _head(data: Checkpoint) -> dict[str, Any]:
    """Return what the server says of all games of a checkpoint."""
    heads: list[dict[str, Any]] = [json.loads(part.head) for part in data.parts]
    if any(head != heads[0] for head in heads[1:]):
        raise CheckpointError(
            "the environments have different opponents or rollout policies: save each by its own checkpoint()"
        )
    return heads[0]


def _send(part: SocketTransport, memory: StepMemory, head: bytes, games: list[bytes]) -> None:
    """Resume the games of one server, as many at a time as fit into one message."""
    room = part.client.limits.get("max_message", 1 << 20) - len(head) - _MESSAGE
    for start, end in runs([*map(len, games)], room):
        ids = np.arange(start, end, dtype="<u4")
        try:
            part.show(memory, "resume", ids.tobytes(), head, b"".join(games[start:end]), {})
        except BlockyardError as error:
            if error.name != "bad_state":
                raise
            raise CheckpointError(str(error), code=error.code, name=error.name, data=error.data) from None


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
    if any("tables" in one for one in client):
        raise CheckpointError(f"its opponents are policies: restore it into {len(client)} environments, as saved")
    calls = {one["afterstate_calls"] for one in client}
    if len(calls) != 1:
        raise CheckpointError(
            f"the checkpoint has {len(client)} environments that called afterstates() a different number of times: "
            f"restore it into {len(client)} environments"
        )
    names = max((one["opponents"] for one in client), key=len)
    total = np.sum([np.array(one["opponent_stats"], np.int64).reshape(-1, 4) for one in client], axis=0)
    first = {
        "afterstate_calls": calls.pop(),
        "actions": sum(one["actions"] for one in client),
        "illegal": sum(one["illegal"] for one in client),
        "opponents": names,
        "opponent_stats": total.tolist(),
    }
    none = first | {"actions": 0, "illegal": 0, "opponent_stats": (0 * total).tolist()}
    return [first, *([none] * (count - 1))]
