"""What is kept of a step keeps nothing else; what is dropped is freed."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from conftest import GAME, Server, begun, pairs

import blockyard


@pytest.mark.parametrize("road", ["shm", "socket"])
def test_many_kept_steps(server: Server, road):
    """What is kept of a step keeps nothing else of it, and no mapping of the process for each."""
    with begun(GAME, 64, address=server.unix, transport=road, seed=1, illegal="random") as env:
        actions, flags, numbers = np.zeros(64, np.int64), [], []
        for _ in range(120):
            obs, _, terminated, truncated, infos = env.step(actions)
            flags += [terminated, truncated, infos["score"], infos["illegal"], infos["opponent"], env.scores]
            numbers.append(obs["globals"])
        for flag in flags:
            assert owner(flag).nbytes == flag.nbytes
        for array in numbers[64:]:
            assert owner(array).nbytes == array.nbytes
        with open("/proc/self/maps") as maps:
            before = sum(1 for _ in maps)
        for _ in range(300):
            numbers.append(env.step(actions)[0]["globals"])
        with open("/proc/self/maps") as maps:
            assert sum(1 for _ in maps) < before + 60


@pytest.mark.parametrize(("field", "road"), pairs(["planes", "bits", "globals", "action_mask"], ["shm", "socket"]))
def test_a_replay_buffer_holds_its_data_only(server: Server, road, field):
    """A field of many steps is kept in the memory of its data and a tenth."""
    how = {"address": server.unix, "transport": road, "packed": field == "bits", "illegal": "random"}
    with begun(GAME, 64, seed=1, **how) as env:
        actions, kept = np.zeros(64, np.int64), []
        for _ in range(600):
            obs, *_, infos = env.step(actions)
            kept.append((obs | infos)[field] if field in infos else obs[field])
        del obs, infos
        held = {id(bottom(array)): memoryview(bottom(array)).nbytes for array in kept}
        assert sum(held.values()) <= 1.1 * sum(array.nbytes for array in kept)


def bottom(array):
    """Return the object whose memory an array is a part of."""
    while isinstance(array, np.ndarray) and array.base is not None:
        array = array.base
    return array.obj if isinstance(array, memoryview) else array


def test_many_kept_batches(server: Server):
    """Nor does what is kept of a batch of a pool."""
    with blockyard.BlockPool(GAME, 64, 16, address=server.unix, seed=1, illegal="random") as pool:
        pool.async_reset()
        for k in range(24):
            batch = pool.recv()
            if k >= 4:  # those of the reset are parts of it
                infos = [batch.infos[key] for key in ("score", "illegal", "opponent")]
                for array in (*batch.obs.values(), batch.rewards, batch.terminated, batch.truncated, *infos):
                    assert owner(array).nbytes == array.nbytes
            pool.send(np.zeros(len(batch), np.int64), batch.env_ids)


def owner(array):
    """Return what holds the memory of an array."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array if array.base is None else memoryview(array.base)


def test_dropped_environments_are_freed(server: Server):
    with blockyard.connect(server.tcp) as client:
        for k in range(150):
            env = client.make_vec("WinTetris-v0", 2, seed=k)
            env.reset()
        del env
        gc.collect()
        stats = client.stats()
        assert (stats["handles"], stats["envs"]) == (0, 0)
        kept = []
        with pytest.raises(blockyard.LimitError, match="close"):
            kept.extend(client.make_vec("WinTetris-v0") for _ in range(5000))
        for env in kept:
            env.close()
            env.close()
        del kept, env
        gc.collect()
        client.make_vec("WinTetris-v0").reset()
