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
from .policies import PolicyGames
from .seating import Seating
from .tables import NOBODY

_PACKAGE = (Path(__file__).parents[1] / "VERSION").read_text(encoding="ascii").strip()


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
    _check_heads(out)
    return out


def resume(engines: Sequence[Engine], data: Checkpoint) -> None:
    """Continue the games of a checkpoint in environments whose games follow one another.

    Raise CheckpointError if they do not fit, or the server refuses them.
    """
    with reading("what it says of its games"):
        _resume(engines, data)


def _resume(engines: Sequence[Engine], data: Checkpoint) -> None:
    played = [len(own["tables"]["live"]) if "tables" in own else 0 for own in data.client]
    for name, have, want in (
        ("game", data.game, engines[0].spec.name),
        ("num_envs", sum(played) or data.games, sum(engine.batch.num_games for engine in engines)),
        ("first", data.first, engines[0].options.first),
    ):
        if have != want:
            raise CheckpointError(
                f"{name} is {have} in the checkpoint and {want} in this environment: create it with {name}={have!r}"
            )
    _check_heads(data)
    left = [(part.head, game) for part in data.parts for game in part.games]
    for engine, own in zip(engines, _per_env(data.client, len(engines)), strict=True):
        memory, opponents = engine.next_memory(), engine.opponents
        if isinstance(opponents, PolicyGames):
            _load_tables(opponents, data, left, own)
            opponents.write(memory)
        elif "tables" in own:
            who = ", ".join(own["tables"]["names"])
            raise CheckpointError(f"opponents: create the environment with those of the checkpoint: {who:.200}")
        else:
            _load_games(engine.transport, memory, opponents, data, left, own)
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
    try:
        for part, place in zip(transport.parts, transport.places(memory), strict=True):
            part.client.require("checkpoint", "restore_checkpoint()")
            part.upload(opponents.user, data.game, _files(data, facts))
            part.resume(place, head, [game for _, game in left[: part.handle.games]], {})
            del left[: part.handle.games]
    except BaseException:
        opponents.keep_weights()
        raise
    opponents.resume(own, facts)


def _save_tables(games: PolicyGames, out: Checkpoint) -> dict[str, Any]:
    """Add the games of all tables, and return what the client keeps."""
    saved = []
    for table in games.seating.tables:
        _save_games(table.transport, out)
        saved.append(table.opponents.saved())
    counts = {str(number): counts.tolist() for number, counts in games.counts.items()}
    return saved[0] | {"tables": games.seating.saved() | {"opponents": saved, "counts": counts}}


def _load_tables(games: PolicyGames, data: Checkpoint, left: list[tuple[bytes, bytes]], own: dict[str, Any]) -> None:
    """Continue the games of all tables."""
    saved, seating = own.get("tables"), games.seating
    if saved is None:
        raise CheckpointError("the checkpoint was saved without policies as opponents: create the environment without")
    _check_tables(seating, saved)
    counts = {int(number): np.array(counts, np.int64) for number, counts in saved["counts"].items()}
    for table, mine in zip(seating.resume(saved), saved["opponents"], strict=True):
        _load_games(table.transport, table.memory.reuse(), table.opponents, data, left, mine)
        seating.number(table)
    games.counts = counts
    for table, mine in seating.split(np.arange(seating.count)):
        if (seating.over[mine] == table.acting[mine].any(axis=1)).any():
            raise ValueError("a game is over in which a seat acts, or none acts in a game that is not over")
    for key in seating.draws.keys:  # now, so that a spec that is none is an error here
        seating.table(key)


def _check_tables(seating: Seating, saved: dict[str, Any]) -> None:
    """Raise LookupError or ValueError if these are no tables of such games."""
    seats, keys = set(range(seating.handle.seats)), [tuple(one["key"]) for one in saved["tables"]]
    others = seats - set(seating.handle.players)
    lists = [saved[name] for name in ("live", "who", "episodes", "lengths", "over", "roots")]
    lists += [saved["draws"][name] for name in ("place", "last") if name in saved["draws"]]
    lists += [one[name] for one in saved["tables"] for name in ("used", "episodes")]
    if {*map(len, lists)} != {seating.count} or {*map(len, saved["who"])} != {len(seats)}:
        raise ValueError(f"lists of {sorted({*map(len, lists)})} games, want {seating.count} with {len(seats)} seats")
    policies = [set(key) if key[:1] != (-1,) else set() for key in keys]  # by table: which seats they play
    if len({*keys}) < len(keys) or not all(one <= others for one in policies):
        raise ValueError(f"tables {keys}, want different ones, of seats among {others}")
    for k, who in zip(saved["live"], saved["who"], strict=True):
        sitting = {seat: saved["names"][number] for seat, number in enumerate(who) if number != NOBODY}
        if sitting.keys() != policies[k] or not seating.policies.keys() >= {*sitting.values()}:
            raise ValueError(f"policies {sitting} at a table for seats {policies[k]}")
    if not all(0 <= int(root) < 1 << 64 for root in saved["roots"]):
        raise ValueError("a seed outside of 0 to 2^64-1")


def _check_heads(data: Checkpoint) -> None:
    """Refuse environments of which the server says different things; tables may have other opponents each."""
    if len({part.head for part in data.parts}) > 1 and not any("tables" in own for own in data.client):
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
