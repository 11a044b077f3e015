"""Checkpoints that are refused: of other environments, damaged, cut off, or of another version."""

from __future__ import annotations

import hashlib
import struct

import msgpack
import numpy as np
import pytest
from conftest import GAME, Server, begun
from test_checkpoint import same

import blockyard
from blockyard.formats.checkpoint_file import MAGIC, Checkpoint


def test_refusals(server: Server):
    with blockyard.make_vec(GAME, 2, seed=3, address=server.unix) as env:
        with pytest.raises(blockyard.NeedsResetError):
            env.checkpoint()
        env.reset()
        data = env.checkpoint()
        env.step_async(np.zeros(2, int))
        for call in (env.checkpoint, lambda: env.restore_checkpoint(data)):
            with pytest.raises(RuntimeError, match="a step is in progress"):
                call()
        env.step_wait()
    kwargs = {"address": server.unix, "checkpoint": data}
    for game, n, more, says in (
        ("TetrisDuel-v0", 2, {}, "game is blockbattle in the checkpoint and tetrisduel in this environment: create it"),
        ("blockbattle:classic", 2, {}, "game is blockbattle in the checkpoint and blockbattle:classic in this"),
        (GAME, 3, {}, "num_envs is 2 in the checkpoint and 3 in this environment: create it with num_envs=2"),
        (GAME, 2, {"reward": "score"}, "reward is result in the checkpoint and score in this environment"),
        (GAME, 2, {"autoreset_mode": "NextStep"}, "autoreset mode is SameStep in the checkpoint and NextStep in this"),
        (GAME, 2, {"illegal": "random"}, "illegal is penalty in the checkpoint and random in this environment"),
        (GAME, 2, {"max_episode_steps": 9}, "max_episode_steps is 0 in the checkpoint and 9 in this environment"),
        (GAME, 2, {"rows": "acting"}, "rows is seat in the checkpoint and acting in this environment"),
        (GAME, 2, {"opponents": None}, r"driven seats is \[0\] in the checkpoint and \[0 1\] in this environment"),
        (GAME, 2, {"opponents": {0: "random"}}, r"driven seats is \[0\] in the checkpoint and \[1\] in this"),
    ):
        with pytest.raises(blockyard.CheckpointError, match=says):
            blockyard.make_vec(game, n, **kwargs, **more)
    with begun(GAME, 2, address=server.unix, opponents="hand:time=5ms") as env:
        with pytest.raises(blockyard.RequestError, match="depend on the clock"):
            env.checkpoint()


def test_damage(server: Server):
    """Whatever bit is wrong, wherever it is cut off: one clear error, and the environment goes on."""
    with begun(GAME, 2, seed=3, address=server.unix) as env:
        data = env.checkpoint()
        assert data[: len(MAGIC)] == MAGIC
        before = env.snapshot()
        for at in range(len(data)):
            bad = bytearray(data)
            bad[at] ^= 1 << at % 8
            with pytest.raises(blockyard.CheckpointError):
                env.restore_checkpoint(bytes(bad))
        for cut in range(0, len(data), 7):
            with pytest.raises(blockyard.CheckpointError):
                env.restore_checkpoint(data[:cut])
        for wrong, says in (
            (b"", "no checkpoint"),
            (b"PK\3\4 something", "no checkpoint"),
            (data + b"x", "damaged or cut off"),
            (data[:-1], "damaged or cut off"),
            (data[:30], "cut off after 30 bytes"),
        ):
            with pytest.raises(blockyard.CheckpointError, match=says):
                env.restore_checkpoint(wrong)
        with pytest.raises(TypeError, match="want the bytes"):
            env.restore_checkpoint("text")
        assert same(env.snapshot(), before)
        obs, _ = env.restore_checkpoint(bytearray(data))
        assert len(obs["planes"]) == 2


def sealed(content):
    """Return a checkpoint of this content, an object or its bytes, with a right checksum."""
    body = MAGIC + (content if isinstance(content, bytes) else msgpack.packb(content))
    return body + hashlib.sha256(body).digest()


def opened(data):
    """Return the content of a checkpoint."""
    return msgpack.unpackb(data[len(MAGIC) : -32])


VALUES = [None, -1, 1, (1 << 64) - 1, "x", [], {}, [1], 0.5, True, {"a": 1}, [{}], [[1]], "{}"]
CLIENT = ("afterstate_calls", "actions", "illegal", "opponents", "policies")


def test_headers(server: Server):
    """Other versions are named, and a header that fits nothing is refused, not trusted."""
    with begun(GAME, 2, seed=3, address=server.unix) as env:
        new = env.checkpoint()
        before = env.snapshot()
        content = opened(new)
        for version in (1, 5, 7):
            other = sealed(content | {"version": version, "package": "9.9.9", "unknown": 1})
            says = rf"version {version} .*, written by blockyard 9\.9\.9; .* reads version 6: install the package"
            with pytest.raises(blockyard.CheckpointError, match=says):
                env.restore_checkpoint(other)
        env.restore_checkpoint(sealed(content))
        for key in ("package", "game", "first", "version", "head", "games", "weights", "client"):
            for value in VALUES:
                if (key, value) not in (("package", "x"), ("package", "{}"), ("weights", {})):
                    refused(env, sealed(content | {key: value}), key, value)
            refused(env, sealed({a: b for a, b in content.items() if a != key}), key)
        assert same(env.snapshot(), before)


def test_entries(server: Server):
    """Entries that are unknown, missing, of another type or cut off are refused, though the checksum is right."""
    with begun(GAME, 2, seed=3, address=server.unix) as env:
        content = opened(env.checkpoint())
        env.restore_checkpoint(sealed(content))
        before = env.snapshot()
        kept, (game, other) = content["client"], content["games"]
        for name, change in {
            "nothing": {"games": []},
            "no head": {"head": b""},
            "no client": {"client": {}},
            "a game less": {"games": [game]},
            "a game more": {"games": [game, other, other]},
            "a game that is none": {"games": [game, b"BYC"]},
            "two games in one": {"games": [game + other]},
            "a game cut off": {"games": [game, other[:-1]]},
            "no game": {"games": [game, b""]},
            "text": {"games": [game, "text"]},
            "unknown": {"weather": b""},
            "a name": {"weights": {b"sha256:x": b"data"}},
            "weights": {"weights": {"sha256:x": "data"}},
        }.items():
            refused(env, sealed(content | change), name)
        packed = msgpack.packb(content)
        for wrong in (packed[:-1], packed + b"\0", b"", b"\xc1", b"\xdf\xff\xff\xff\xff"):
            refused(env, sealed(wrong), wrong[:8])
        for key in CLIENT:
            for value in VALUES:
                if (value != 1 or type(value) is not int) and (key, value) != ("policies", []):
                    refused(env, sealed(content | {"client": kept | {key: value}}), key, value)
            refused(env, sealed(content | {"client": {a: b for a, b in kept.items() if a != key}}), key)
        assert same(env.snapshot(), before)


def refused(env, data, *what):
    try:
        env.restore_checkpoint(data)
    except blockyard.CheckpointError:
        return
    raise AssertionError(f"not refused: {what}")


def test_reads_what_it_writes():
    game = b"BYC\x03" + struct.pack("<I", 24) + bytes(16)
    counts = {"afterstate_calls": 1, "actions": 2, "illegal": 3}
    client = counts | {"opponents": ["x"], "policies": ["x"]}
    one = Checkpoint("toy", 3, "1.2.3", client, b'{"opponents":["y"]}', [game] * 2, {"sha256:1": b"abc"})
    again = Checkpoint.from_bytes(one.to_bytes())
    assert again == one
