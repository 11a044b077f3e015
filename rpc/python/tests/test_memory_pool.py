"""Step memory is reused only when nobody refers to any part of it."""

from __future__ import annotations

import gc
import weakref

import numpy as np
import pytest
from conftest import GAME, begun, pairs

ROADS = ["auto", "socket", "split"]


def opened(server, road, **kwargs):
    where = [server.unix, server.unix] if road == "split" else server.unix
    return begun(GAME, 3, address=where, transport="socket" if road == "socket" else "auto", **kwargs)


# What of a step somebody might hold on to, without holding the rest.
HELD = {
    "planes": lambda env, result: result[0]["planes"],
    "a board": lambda env, result: result[0]["planes"][1, 0],
    "a view of a view": lambda env, result: result[0]["planes"].reshape(-1)[5:].view(np.int8)[::2],
    "globals": lambda env, result: result[0]["globals"][:, 1:],
    "terminated": lambda env, result: result[2],
    "truncated": lambda env, result: result[3],
    "score": lambda env, result: result[4]["score"],
    "scores of all": lambda env, result: env.scores,
    "rewards of all": lambda env, result: env.seat_rewards[:, :1],
    "packed masks": lambda env, result: env.packed_masks[1],
    "masks": lambda env, result: env.action_masks,
    "bytes": lambda env, result: np.frombuffer(memoryview(result[0]["planes"]), np.uint8),
    "infos": lambda env, result: result[4],
    "infos, masks unread": lambda env, result: {"lazy": result[4]},
}


def content(thing):
    if isinstance(thing, dict):
        infos = thing.get("lazy", thing)
        return np.concatenate([np.ravel(infos[key]).astype(np.int64) for key in ("action_mask", "score")])
    return np.array(thing)


@pytest.mark.parametrize(
    ("what", "road", "opponents"), pairs([(what, road) for what in HELD for road in ROADS], ["random", None])
)
def test_one_thing_held(server, road, opponents, what):
    rng = np.random.default_rng(3)
    seats = {"seed": 1, "opponents": opponents}
    with opened(server, road, **seats) as env, opened(server, "socket", **seats) as twin:
        held, copies = [], []
        for _ in range(20):
            actions = twin.sample_actions(rng)
            result = env.step(actions)
            held.append(HELD[what](env, result))
            copies.append(content(HELD[what](twin, twin.step(actions))).copy())
            del result
        for thing, copy in zip(held, copies, strict=True):
            np.testing.assert_array_equal(content(thing), copy)


@pytest.mark.parametrize("road", ROADS)
def test_memory_is_used_again(server, road):
    """A learner that keeps one step uses little memory; that of 50 kept steps is reused once they are dropped."""
    with opened(server, road, seed=1) as env:
        rng = np.random.default_rng(0)

        def places(steps, keep):
            kept, seen = [], set()
            for _ in range(steps):
                obs, *_ = env.step(env.sample_actions(rng))
                seen.add(obs["planes"].ctypes.data)
                kept = [*kept, obs][-keep:]
            return seen

        assert len(places(50, 1)) <= 3
        many = places(100, 50)
        assert 50 <= len(many) <= 80
        assert len(many | places(200, 1)) <= 100


@pytest.mark.parametrize("road", ROADS)
def test_without_reference_counts(server, road, monkeypatch):
    """Without reference counts, every step gets new memory, and private memory when the slots have run out."""
    monkeypatch.setattr("blockyard.transport.memory._references", None)
    with opened(server, road, seed=1) as env, opened(server, "socket", seed=1) as twin:
        rng, kept = np.random.default_rng(0), []
        for _ in range(600):
            actions = twin.sample_actions(rng)
            kept.append((env.step(actions)[0]["planes"], twin.step(actions)[0]["planes"].copy()))
        for mine, other in kept:
            np.testing.assert_array_equal(mine, other)


@pytest.mark.parametrize("road", ["socket", "split"])
def test_memory_goes_back(server, road):
    """Private memory of many kept steps is released at last."""
    with opened(server, road, seed=1) as env:
        actions = env.sample_actions(np.random.default_rng(0))
        kept = [env.step(np.zeros_like(actions))[0] for _ in range(50)]
        alive = [weakref.ref(obs["planes"]) for obs in kept]
        del kept
        for _ in range(60):
            env.step(np.zeros_like(actions))
        gc.collect()
        assert sum(ref() is not None for ref in alive) <= 6


@pytest.mark.parametrize("road", ROADS)
def test_views_of_views_refer_to_the_arrays_at_the_bottom(server, road):
    """They are counted there."""
    with opened(server, road) as env:
        for array in env.engine.transport.memory().arrays.values():
            assert not isinstance(array.base, np.ndarray)
            assert array[1:].view(np.uint8).base is array
