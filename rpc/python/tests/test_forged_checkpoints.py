"""Forged checkpoints: whatever the bytes are, they are refused with CheckpointError, or the games continue."""

from __future__ import annotations

import copy
import hashlib
import json
import random
import struct
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from conftest import GAME, Server, begun, first, last
from test_checkpoint_file import VALUES, opened, sealed

import blockyard
from blockyard.formats.checkpoint_file import Checkpoint

ODD = [
    *VALUES,
    -(10**30),
    1 << 63,
    (1 << 16) - 1,
    1e300,
    float("nan"),
    float("inf"),
    "\ud800",
    "\0",
    "x" * 70000,
    [[]],
    [None] * 9,
]
DEEP = "[" * 100_000 + "]" * 100_000


KINDS: dict[str, dict[str, Any]] = {
    "specs": {"opponents": {1: {"random": 1, "hand:ply=1": 2}}},
    "policies": {"opponents": {1: {"random": 1, first: 1, last: 1}}},
    "curriculum": {"opponents": "curriculum", "autoreset_mode": "NextStep"},
    "turns": {"opponents": {1: {"random": 1, first: 1}}, "autoreset_mode": "NextStep", "game": "Blocking-v0"},
}


def places(tree: Any, at: tuple[Any, ...] = ()) -> Iterator[tuple[Any, ...]]:
    """Return the path of every value in JSON, but for the whole."""
    for key in tree if isinstance(tree, dict) else range(len(tree)) if isinstance(tree, list) else ():
        yield (*at, key)
        yield from places(tree[key], (*at, key))


def changed(text: bytes, rng: random.Random) -> bytes:
    """Return JSON with one value that differs, or with bytes that do."""
    if rng.random() < 0.2:
        out = bytearray(text)
        for _ in range(rng.randint(1, 3)):
            at = rng.randrange(len(out))
            out[at : at + rng.randint(0, 2)] = rng.choice([b"", b"9", b"[", b"}", b'"', b"\xff", rng.randbytes(2)])
        return bytes(out)
    return json.dumps(mutated(json.loads(text), rng, ODD)).encode()


def mutated(tree: Any, rng: random.Random, odd: list[Any]) -> Any:
    """Return a tree of lists and dicts with one value replaced, perhaps by an odd one, removed, repeated or renamed."""
    spots = list(places(tree))
    *path, key = rng.choice(spots)
    within = tree
    for step in path:
        within = within[step]
    how = rng.randrange(6)
    if how == 0:
        del within[key]
    elif how == 1 and isinstance(within, list):
        within.insert(rng.randint(0, len(within)), copy.deepcopy(within[key]))
    elif how == 2 and isinstance(within, dict):
        within[rng.choice(["", "x", "rungs", "by_seat", "-1", "0", "7"])] = within.pop(key)
    elif how == 3:
        *other, end = rng.choice(spots)
        value = tree
        for step in (*other, end):
            value = value[step] if isinstance(value, (dict, list)) else value
        within[key] = copy.deepcopy(value)
    elif type(within[key]) in (int, float):
        within[key] += rng.choice([-2, -1, 1, 2, 9, 0.5, 300])
    else:
        within[key] = rng.choice(odd)
    return tree


def forged(data: bytes, rng: random.Random) -> bytes:
    """Return a checkpoint that differs, with a right checksum."""
    content = opened(data)
    how = rng.randrange(10)
    if how == 0:
        key = rng.choice(sorted(content))
        content[key] = rng.choice([*VALUES, b"", b"{}", 1e300, float("nan"), "\0", "x" * 70000, content["client"]])
    elif how < 5:
        content["head"] = changed(content["head"], rng)
    elif how < 7:
        content["client"] = mutated(content["client"], rng, VALUES)
    elif how == 7:
        games = content["games"]
        if rng.random() < 0.5:
            content["weights"] |= rng.choice([{"x": b"no weights"}, {"": b""}])
        else:
            games.insert(rng.randint(0, len(games)), rng.choice(games))
    elif how == 8:
        within = rng.choice([content, content["games"], content["client"]])
        del within[rng.choice([*within] if isinstance(within, dict) else range(len(within)))]
    else:
        k = rng.randrange(len(content["games"]))
        game = bytearray(content["games"][k])
        for _ in range(rng.choice([1, 1, 4, 40])):
            game[rng.randrange(len(game))] = rng.randrange(256)
        content["games"][k] = bytes(game)
    return sealed(content)


def go_on(env: Any, steps: int) -> list[bytes]:
    return [env.step(env.action_masks.argmax(1))[0]["planes"].tobytes() for _ in range(steps)]


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("first_seed", "count"), [(0, 150), pytest.param(1000, 4000, marks=pytest.mark.slow)])
def test_forgeries(server: Server, kind: str, first_seed: int, count: int):
    """Each is refused with CheckpointError, or the games continue; then the real one continues exactly as before."""
    refused, options = 0, {"game": GAME, "max_episode_steps": 30} | KINDS[kind]
    with begun(options.pop("game"), 3, seed=1, address=server.unix, **options) as env:
        go_on(env, 40)
        data = env.checkpoint()
        want = go_on(env, 3)
        for seed in range(first_seed, first_seed + count):
            rng = random.Random(seed)
            mutant = forged(data, rng)
            try:
                try:
                    env.restore_checkpoint(mutant)
                except blockyard.CheckpointError:
                    refused += 1
                else:
                    go_on(env, 3)
                env.restore_checkpoint(data)
                assert go_on(env, 3) == want
            except Exception as error:
                raise AssertionError(f"seed {seed}: {error!r}") from error
    assert refused > count / 3


def test_text_that_nests_deeply(server: Server):
    with begun(GAME, 2, seed=1, address=server.unix) as env:
        data = env.checkpoint()
        content = opened(data)
        for mutant in (sealed(content | {"head": DEEP.encode()}), sealed(b"\x91" * 100_000 + b"\xc0")):
            with pytest.raises(blockyard.CheckpointError):
                env.restore_checkpoint(mutant)
        env.restore_checkpoint(data)


@pytest.mark.parametrize("what", ["a head", "weights", "a game"])
def test_parts_that_no_server_takes(server: Server, what: str):
    """A part of more bytes than a request may have is refused, and the connection stays."""
    with begun(GAME, 2, seed=1, address=server.unix) as env:
        data = env.checkpoint()
        one, size = Checkpoint.from_bytes(data), env.client.limits["max_message"] + 1
        game = one.games[0]
        if what == "a head":
            one.head = json.dumps(json.loads(one.head) | {"policy": "x" * size}).encode()
        elif what == "weights":
            one.weights["sha256:" + "0" * 64] = bytes(size)
        else:
            one.games[0] = game[:4] + struct.pack("<I", size) + game[8:] + bytes(size - len(game))
        with pytest.raises(blockyard.CheckpointError, match="too large for the server"):
            env.restore_checkpoint(one.to_bytes())
        env.restore_checkpoint(data)


def test_text_that_cannot_be_sent(server: Server):
    """What cannot be packed begins no request, for whose answer the next would wait."""
    with begun(GAME, 2, seed=1, opponents="random", address=server.unix) as env:
        for wrong in ("\ud800", 1 << 64):
            with pytest.raises((UnicodeEncodeError, OverflowError)):
                env.client.connection.call("describe", wrong)
        env.step([0, 0])


def test_weights_that_are_none(server: Server):
    """Opponents with weights that nobody can load are refused as the rest is, by the server's words."""
    with begun(GAME, 2, seed=1, opponents="random", address=server.unix) as env:
        one = Checkpoint.from_bytes(env.checkpoint())
        name = "sha256:" + hashlib.sha256(b"x").hexdigest()
        head = json.loads(one.head)
        one.weights[name], head["opponents"] = b"x", [f"learned:weights={name}"]
        one.head = json.dumps(head).encode()
        with pytest.raises(blockyard.CheckpointError, match="weights"):
            env.restore_checkpoint(one.to_bytes())
        assert np.array_equal(*(env.step([0, 0])[1].shape for _ in range(2)))
