"""Blocks of games that are stepped independently."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import GAME, assert_same

import blockyard


def choose(masks, ids, turn):
    """Actions that depend only on the row and its step, in whatever order blocks come."""
    out = np.zeros(len(ids), np.int64)
    for k, row in enumerate(ids):
        legal = np.flatnonzero(masks[k])
        out[k] = legal[(7 * row + 13 * turn[row]) % len(legal)] if len(legal) else 0
        turn[row] += 1
    return out


@pytest.mark.parametrize("transport", ["auto", "socket"])
@pytest.mark.parametrize("opponents", ["random", None])
def test_games_are_the_same(server, transport, opponents):
    kwargs = {"seed": 4, "opponents": opponents, "transport": transport, "address": server.unix}
    with blockyard.BlockPool(GAME, 12, 3, **kwargs) as pool, blockyard.make_vec(GAME, 12, **kwargs) as env:
        n = env.num_envs
        assert pool.num_envs == n
        seen, turn = [[] for _ in range(n)], np.zeros(n, int)
        pool.async_reset()
        for _ in range(4 * 40):
            batch = pool.recv()
            for k, row in enumerate(batch.env_ids):
                seen[row].append((batch.obs["planes"][k].copy(), batch.rewards[k], batch.terminated[k]))
            order = np.random.default_rng(0).permutation(len(batch.env_ids))
            actions = choose(batch.action_masks, batch.env_ids, turn)
            half = len(order) // 2
            pool.send(actions[order[:half]], batch.env_ids[order[:half]])
            pool.send(actions[order[half:]], batch.env_ids[order[half:]])
        obs, _ = env.reset()
        turn[:] = 0
        rewards, terminated = np.zeros(n), np.zeros(n, bool)
        for t in range(max(map(len, seen))):
            for row in range(n):
                if t < len(seen[row]):
                    np.testing.assert_array_equal(seen[row][t][0], obs["planes"][row])
                    assert seen[row][t][1:] == (rewards[row], terminated[row])
            obs, rewards, terminated, _, _ = env.step(choose(env.action_masks, np.arange(n), turn))
        assert min(map(len, seen)) > 5


def test_how_many(server):
    with blockyard.BlockPool(GAME, 8, 2, seed=1, address=[server.unix, server.tcp]) as pool:
        pool.async_reset()
        assert sorted(pool.recv(8).env_ids) == list(range(8))
        with pytest.raises(ValueError, match="fewer rows are under way"):
            pool.recv()
        pool.send(np.argmax([m for b in pool.blocks for m in b.action_masks], 1))
        assert len(pool.recv(4, 5).env_ids) == 4
        assert len(pool.recv(2, 2).env_ids) == 2
        assert len(pool.recv(2, timeout=60).env_ids) == 2
        with pytest.raises(ValueError, match="at least a block, 2 rows"):
            pool.recv(1, 1)
        for bad, text in (([0, 0], "already"), ([9], "0 to 7"), ([-1], "0 to 7")):
            with pytest.raises(ValueError, match=text):
                pool.send(np.zeros(len(bad), int), bad)
        pool.send([0], [0])
        with pytest.raises(ValueError, match="already"):
            pool.send([0], [0])
    with pytest.raises(ValueError, match="divisor"):
        blockyard.BlockPool(GAME, 8, 3, address=server.unix)


def test_refused_actions_can_be_sent_again(server):
    with blockyard.BlockPool(GAME, 2, 1, seed=1, illegal="error", address=server.unix) as pool:
        pool.async_reset()
        batch = pool.recv(2)
        bad = np.array([int(np.flatnonzero(~m)[0]) for m in batch.action_masks])
        good = batch.action_masks.argmax(1)
        pool.send([bad[0], good[1]], batch.env_ids)
        with pytest.raises(blockyard.IllegalActionError):
            pool.recv(2)
        pool.send([good[0]], [0])
        assert sorted(pool.recv(2).env_ids) == [0, 1]


def test_env_ids_may_take_any_form(server):
    """Rows may be named by the array that recv returned, a copy, other integers, or in two parts, with one result."""
    ways = (
        lambda ids, actions: [(actions, ids)],
        lambda ids, actions: [(actions, ids.copy())],
        lambda ids, actions: [(actions.tolist(), ids.astype(np.uint64))],
        lambda ids, actions: [(actions[2:], ids[2:]), (actions[:2], ids[:2])],
    )
    traces = []
    for way in ways:
        with blockyard.BlockPool(GAME, 8, 4, seed=1, address=server.unix) as pool:
            pool.async_reset()
            seen = [[], []]
            for _ in range(30):
                batch = pool.recv(4, 4)
                seen[int(batch.env_ids[0]) // 4].append((batch.obs["planes"].copy(), batch.action_masks.copy()))
                assert batch.action_masks.dtype == np.bool_
                for actions, ids in way(batch.env_ids, batch.action_masks.argmax(1)):
                    pool.send(actions, ids)
            traces.append(seen)
    for seen in traces[1:]:
        for mine, first in zip(seen, traces[0], strict=True):
            for a, b in zip(mine, first, strict=False):
                assert_same(a, b)


def test_a_block_with_an_action_of_one_row(server):
    """The whole block again is refused, the rest of it is not."""
    with blockyard.BlockPool(GAME, 4, 4, seed=1, address=server.unix) as pool:
        pool.async_reset()
        batch = pool.recv()
        actions = batch.action_masks.argmax(1)
        pool.send(actions[:1], batch.env_ids[:1])
        with pytest.raises(ValueError, match="already"):
            pool.send(actions, batch.env_ids)
        pool.send(actions[1:], batch.env_ids[1:])
        assert len(pool.recv().env_ids) == 4
        with pytest.raises(ValueError, match="already"):
            pool.send(actions, np.r_[batch.env_ids[:3], 2])


def test_without_masks(server):
    with blockyard.BlockPool(GAME, 4, 2, seed=1, address=server.unix, mask=False) as pool:
        pool.async_reset()
        assert pool.recv().action_masks is None
