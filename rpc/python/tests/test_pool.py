"""Games that are sent in any order and received as they finish."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import GAME, assert_same, begun, copied, pairs

import blockyard

WAYS = {
    "socket": (GAME, {"transport": "socket"}),
    "self-play": (GAME, {"opponents": None, "packed": True}),
    "next step": (GAME, {"autoreset_mode": "NextStep", "max_episode_steps": 9}),
    "turns": ("TetrisDuel-v0", {"opponents": None, "reward": "score"}),
    "turns, acting": ("Blocking-v0", {"opponents": None, "seats": 3, "rows": "acting", "max_episode_steps": 20}),
    "turns, opponents": ("Blocking-v0", {"seats": 3, "opponents": {1: {"random": 1, "first": 1}, 2: "first"}}),
    "no masks": ("WinTetris-v0", {"mask": False, "illegal": "random"}),
}


def choose(batch, ids, turn):
    """Actions that depend only on the row and its step, in whatever order rows come."""
    out = np.zeros(len(ids), np.int64)
    for k, row in enumerate(ids):
        legal = np.flatnonzero(batch[k]) if batch is not None else np.arange(40)
        out[k] = legal[(7 * row + 13 * turn[row]) % len(legal)]
        turn[row] += 1
    return out


def row_of(infos, k):
    """The infos of one row."""
    out = {key: copied(value[k]) for key, value in infos.items() if key not in ("final_obs", "final_info")}
    if "final_info" in infos and infos["_final_obs"][k]:
        out["final"] = copied(infos["final_obs"][k]), row_of(infos["final_info"], k)
    return out


def entries(obs, rewards, terminated, truncated, infos, mask=True):
    """What a step says of each row."""
    for k in range(len(rewards)):
        info = {key: v for key, v in row_of(infos, k).items() if not key.startswith(("final_", "_final"))}
        info = {key: v for key, v in info.items() if not key.startswith("_")} | {"final": info.get("final")}
        yield {key: copied(a[k]) for key, a in obs.items()}, rewards[k], terminated[k], truncated[k], info


@pytest.mark.parametrize(("way", "servers"), pairs(WAYS, [1, 2]))
def test_games_are_the_same(server, way, servers):
    """Random subsets of rows, sent in random order, give every row what it gets in one environment."""
    game, options = WAYS[way]
    kwargs = {"seed": 4, "address": server.unix, **options}
    where = {"address": [server.unix, server.tcp][:servers]} if "transport" not in options else {}
    rng = np.random.default_rng(1)
    steps = 30
    with blockyard.BlockPool(game, 7, 3, **kwargs | where) as pool, blockyard.make_vec(game, 7, **kwargs) as env:
        n = env.num_envs
        assert (pool.num_envs, pool.rows_per_game) == (n, env.rows_per_game)
        seen, turn = [[] for _ in range(n)], np.zeros(n, int)
        pool.async_reset()
        waiting, masks = [], {}
        while min(map(len, seen)) < steps:
            ready = len(pool._receiver.ready)
            if pool._receiver.flying + ready:
                batch = pool.recv(1, int(rng.integers(pool.rows_per_game, n + 1)))
                assert len(batch) == len(batch.env_ids) == len(batch.rewards) > 0
                found = entries(batch.obs, batch.rewards, batch.terminated, batch.truncated, batch.infos)
                for k, (row, entry) in enumerate(zip(batch.env_ids, found, strict=True)):
                    seen[row].append(entry)
                    masks[row] = None if batch.action_masks is None else batch.action_masks[k].copy()
                waiting += batch.env_ids.tolist()
            rng.shuffle(waiting)
            chosen, waiting = waiting[: len(waiting) // 2 + 1], waiting[len(waiting) // 2 + 1 :]
            if chosen:
                some = None if masks[chosen[0]] is None else [masks[row] for row in chosen]
                pool.send(choose(some, chosen, turn), chosen)
        assert 0 < pool.stats()["occupancy"] <= 1
        obs, infos = env.reset()
        turn[:] = 0
        none = np.zeros(n, bool)
        step = obs, np.zeros(n), none, none, infos
        for t in range(max(map(len, seen))):
            for row, entry in enumerate(entries(*step)):
                if t < len(seen[row]):
                    if t == 0:
                        entry[4].pop("illegal", None)
                        seen[row][t][4].pop("illegal", None)
                    assert_same(seen[row][t], entry, f"row {row}, step {t}")
            some = env.action_masks if kwargs.get("mask", True) else None
            step = env.step(choose(some, np.arange(n), turn))


def test_how_many(server):
    with blockyard.BlockPool(GAME, 8, 2, seed=1, address=[server.unix, server.tcp]) as pool:
        pool.async_reset()
        assert len(pool.recv().env_ids) == 2
        assert len(pool.recv(6).env_ids) == 6
        with pytest.raises(ValueError, match="only 0 rows are under way; send actions first"):
            pool.recv()
        pool.send([0], [3])
        assert len(pool.recv()) == 1
        pool.send(pool.envs[0].action_masks.argmax(1))
        assert len(pool.recv(4, 5).env_ids) in (4, 5)
        assert len(pool.recv(1, 1).env_ids) == 1
        assert 2 <= len(pool.recv(2, timeout=60).env_ids) <= 3
        for least, most in ((3, 2), (0, 0), (1, 0)):
            with pytest.raises(ValueError, match="want min_envs <= max_envs"):
                pool.recv(least, most)
    for arguments, text in (
        ((8, 9), "batch_size: want at most num_envs=8, got 9"),
        ((8, 0), "batch_size: want at least 1"),
        ((0, 1), "num_envs: want at least 1"),
    ):
        with pytest.raises(ValueError, match=text):
            blockyard.BlockPool(GAME, *arguments, address=server.unix)
    with pytest.raises(ValueError, match="address: got an empty list"):
        blockyard.BlockPool(GAME, 8, 2, address=[])


def test_rows_are_whole_games(server):
    with blockyard.BlockPool(GAME, 4, 1, seed=1, address=server.unix, opponents=None) as pool:
        pool.async_reset()
        first = pool.recv(max_envs=3)
        assert first.env_ids.tolist() == [0, 1]
        with pytest.raises(ValueError, match="at least the 2 rows of a game"):
            pool.recv(1, 1)
        actions = first.action_masks.argmax(1)
        pool.send(actions[1:], [1])
        assert pool._receiver.flying == 0
        with pytest.raises(ValueError, match="appears twice in env_ids or has an action already"):
            pool.send(actions, [0, 1])
        pool.send(actions[:1], [0])
        assert pool._receiver.flying == 1
        assert sorted(pool.recv(8).env_ids) == list(range(8))


def test_what_send_refuses(server):
    with blockyard.BlockPool(GAME, 3, 1, seed=1, address=server.unix) as pool:
        pool.async_reset()
        with pytest.raises(ValueError, match="row 1 is not waiting for an action"):
            pool.send([0], [1])
        batch = pool.recv(3)
        good = batch.action_masks.argmax(1)
        for ids, text in (
            ([0, 0], "appears twice"),
            ([3], "from 0 to 2"),
            ([-1], "from 0 to 2"),
            ([0.5], "list of integers"),
            ([[0]], "list of integers"),
        ):
            with pytest.raises(ValueError, match=text):
                pool.send(np.zeros(len(ids), int), ids)
        with pytest.raises(ValueError, match="shape"):
            pool.send([0, 1], [0])
        pool.send(good[:1], [0])
        with pytest.raises(ValueError, match="row 0 is not waiting for an action"):
            pool.send(good[:1], [0])
        pool.send(good[1:].tolist(), np.array([1, 2], np.uint64))
        assert sorted(pool.recv(3).env_ids) == [0, 1, 2]
        pool.send(good)
        with pytest.raises(RuntimeError, match="async_reset: 3 games are under way"):
            pool.async_reset()


def test_refused_actions_can_be_sent_again(server):
    options = {"seed": 1, "address": [server.unix, server.tcp], "illegal": "error"}
    with blockyard.BlockPool(GAME, 4, 1, **options) as pool:
        pool.async_reset()
        batch = pool.recv(4)
        order = np.argsort(batch.env_ids)
        masks = batch.action_masks[order]
        bad, good = np.array([int(np.flatnonzero(~m)[0]) for m in masks]), masks.argmax(1)
        pool.send([good[0], good[1], good[2], bad[3]])
        with pytest.raises(blockyard.IllegalActionError, match="environment 3") as raised:
            pool.recv(4)
        assert raised.value.env_ids == [3]
        pool.send(good[2:], [2, 3])  # the server of games 0 and 1 took their actions
        assert sorted(pool.recv(4).env_ids) == [0, 1, 2, 3]


def test_an_opponent_that_thinks_delays_no_other(server):
    """Against a mixture, many steps against the fast opponent are done in the time of one against the slow one."""
    mixture = {1: {"learned:ply=4": 1, "first": 7}}  # in Blocking, it takes thousands of times as long
    with blockyard.BlockPool("Blocking-v0", 8, 1, seed=3, address=server.unix, opponents=mixture) as pool:
        pool.async_reset()
        batch, opponent = pool.recv(8), np.zeros(8, int)
        count = np.zeros(2, int)
        while count[0] < 3:
            opponent[batch.env_ids] = batch.infos["opponent"]
            pool.send(batch.action_masks.argmax(1), batch.env_ids)
            batch = pool.recv(1)
            np.add.at(count, opponent[batch.env_ids], 1)
        stats = pool.stats()
        assert count[1] > 20 * count[0], "if all waited for the slow one, these would be some seven to one"
        assert stats["latency_max_s"] > 2 * stats["latency_s"] > 0
        assert 0 < stats["busy"] <= 1
        assert 0 < stats["wait"] <= 1
        assert 0 < stats["occupancy"] <= 1
        assert stats["steps"] == count.sum()


def test_nothing_in_time(server):
    options = {"seed": 3, "address": server.unix, "opponents": "learned:ply=4"}  # a third of a second or more
    with blockyard.BlockPool("Blocking-v0", 1, 1, **options) as pool:
        pool.async_reset()
        batch, late = pool.recv(), ""
        while not late:  # the step is done in time if the machine holds this process up for as long
            pool.send(batch.action_masks.argmax(1))
            try:
                batch = pool.recv(timeout=0)
            except blockyard.ServerTimeoutError as error:
                late = str(error)
        assert "no step was done within 0 s" in late
        assert len(pool.recv()) == 1


def test_queries_beside_steps(server):
    """Between recv and send, methods for games that wait give the same as in one environment."""
    kwargs = {"seed": 4, "address": server.unix, "opponents": "first"}
    with blockyard.BlockPool(GAME, 4, 2, **kwargs) as pool, begun(GAME, 4, **kwargs) as env:
        pool.async_reset()
        batch = pool.recv(4)
        pool.send(batch.action_masks[[0, 2]].argmax(1), [0, 2])
        assert_same(vars(pool.envs[0].afterstates([1, 3], seed=5)), vars(env.afterstates([1, 3], seed=5)))
        assert pool.envs[0].picture(1, "text") == env.picture(1, "text")
        pool.recv(2)
        pool.envs[0].set_opponents("random")


def test_without_masks_and_reprs(server):
    with blockyard.BlockPool(GAME, 4, 2, seed=1, address=server.unix, mask=False) as pool:
        pool.async_reset()
        batch = pool.recv()
        assert batch.action_masks is None
        assert repr(batch) == "PoolBatch(2 rows: 0, 1)"
        pool.send([0], [0])
        assert repr(pool) == "BlockPool(BlockBattle-v0, num_envs=4, batch_size=2, 1 games in flight, 1 server)"
    assert repr(pool).endswith("closed)")
