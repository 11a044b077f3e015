"""Pools whose servers are killed continue as if nothing had happened."""

from __future__ import annotations

import hashlib

import numpy as np
import pytest
from conftest import Server, pairs
from mortal import dying
from test_checkpoint import digest
from test_healing import WAYS, hang, losses
from test_pool import choose, entries

import blockyard

N = 7


def played(pool, steps, events=None, chance=0):
    """Send and receive random subsets; return what each row received, the results, and what the pool counted."""
    rng, n = np.random.default_rng(chance), pool.num_envs
    seen, turn, calls = [[] for _ in range(n)], np.zeros(n, int), 0
    pool.async_reset()
    waiting, masks = [], {}
    while min(map(len, seen)) < steps:
        for when in [k for k in events or {} if k <= calls]:
            events.pop(when)()
        calls += 1
        if pool._receiver.flying + len(pool._receiver.ready):
            batch = pool.recv(1, int(rng.integers(pool.rows_per_game, n + 1)))
            found = entries(batch.obs, batch.rewards, batch.terminated, batch.truncated, batch.infos)
            for k, (row, entry) in enumerate(zip(batch.env_ids, found, strict=True)):
                h = hashlib.sha256(repr(entry[4]).encode())
                digest(h, entry[0])
                digest(h, np.array(entry[1:4]))
                seen[row].append(h.hexdigest())
                masks[row] = batch.action_masks[k].copy()
            waiting += [row for row in batch.env_ids.tolist() if len(seen[row]) < steps]
        rng.shuffle(waiting)
        chosen, waiting = waiting[: len(waiting) // 2 + 1], waiting[len(waiting) // 2 + 1 :]
        if chosen:
            pool.send(choose([masks[row] for row in chosen], chosen, turn), chosen)
    return seen, pool.opponent_stats() if pool.opponent_specs else None


@pytest.mark.parametrize(("game", "mode"), pairs(WAYS, ["SameStep", "NextStep"]))
def test_nothing_changes(server: Server, two, caplog, game, mode):
    a, b = two
    options = WAYS[game] | {"seed": 4, "autoreset_mode": mode}
    with blockyard.BlockPool(game, N, 3, address=server.unix, **options) as pool:
        want = played(pool, 24)
    options |= {"heal": True, "snapshot_every": 5}
    kills = {9: a.restart, 24: a.restart, 25: a.restart, 36: a.restart}
    with blockyard.BlockPool(game, N, 3, address=a.address, **options) as pool:
        assert played(pool, 24, kills, 1) == want
        assert pool.stats()["steps"] > 0
    assert losses(caplog) == 4
    kills = {9: a.kill, 18: a.start, 21: b.kill, 33: b.start, 36: a.restart}
    with blockyard.BlockPool(game, N, 3, address=[a.address, b.address], **options) as pool:
        assert played(pool, 24, kills, 2) == want


def test_a_server_that_dies_at_any_time(server: Server, two):
    """Also in the middle of a request or of its answer."""
    options = {"seed": 3, "opponents": {"random": 1, "hand:ply=1": 1}, "max_episode_steps": 9}
    with blockyard.BlockPool("TetrisDuel-v0", 8, 4, address=server.unix, **options) as pool:
        want = played(pool, 50)
    with blockyard.BlockPool("TetrisDuel-v0", 8, 4, address=two[0].address, heal=True, **options) as pool:
        with dying(two[0], seed=2, soon=True) as deaths:
            got = played(pool, 50, {40: deaths.first.wait}, chance=1)
        assert got == want


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("game", WAYS)
def test_servers_that_die_and_hang_at_any_time(server: Server, two, game, mode):
    """A hundred losses of one or of both, in pools that keep many or few steps."""
    options = {"max_episode_steps": 11} | WAYS[game] | {"seed": 4, "autoreset_mode": mode}
    with blockyard.BlockPool(game, 16, 3, address=server.unix, **options) as pool:
        want = played(pool, 300)
    lost, k = 0, 0
    while lost < 100:
        servers = two[: 1 + k % 2]
        more = {"heal": True, "timeout": 2, "snapshot_every": (3, 8, 64)[k % 3], "heal_timeout": 300}
        with blockyard.BlockPool(game, 16, 3, address=[s.address for s in servers], **options, **more) as pool:
            with dying(*servers, seed=k, hang=k % 5 > 2) as deaths:
                got = played(pool, 300, chance=k)
            assert got == want, k
        lost, k = lost + deaths.count, k + 1


def test_opponents_are_replaced_in_flight(server: Server, two):
    """After as many calls, not steps: so the pool is driven in the same order with and without kills."""
    a, _ = two

    def play(address, hurt, **more):
        with blockyard.BlockPool("TetrisDuel-v0", 4, 4, seed=3, address=address, max_episode_steps=6, **more) as pool:
            pool.async_reset()
            out = []
            for t in range(40):
                batch = pool.recv(4, 4)
                order = np.argsort(batch.env_ids)
                out.append((batch.obs["globals"][order], batch.rewards[order], batch.infos["opponent"][order]))
                pool.send(batch.action_masks.argmax(1), batch.env_ids)
                if t == 20:
                    pool.set_opponents({"first": 1, "hand:ply=1": 1})
                if t in (5, 20, 25, 26):
                    hurt()
            return out, pool.opponent_stats()

    want = play(server.unix, lambda: None)
    got = play(a.address, a.restart, heal=True, snapshot_every=4)
    np.testing.assert_equal(got[0], want[0])
    assert got[1] == want[1]


def test_refused_actions(server: Server, two):
    """Games whose actions were refused wait again, whatever happens to the server meanwhile."""
    a, _ = two
    with blockyard.BlockPool(
        "TetrisDuel-v0", 4, 4, seed=3, address=a.address, illegal="error", heal=True, opponents="first"
    ) as pool:
        pool.async_reset()
        batch = pool.recv(4, 4)
        legal = batch.action_masks.argmax(1)
        order = batch.env_ids
        illegal = batch.action_masks[2].argmin()
        pool.send(legal[:2], order[:2])
        pool.send(np.array([illegal, legal[3]]), order[2:])
        a.restart()
        with pytest.raises(blockyard.IllegalActionError) as error:
            pool.recv(4, 4)
        assert error.value.env_ids == [order[2]]
        pool.send(legal[2:], order[2:])
        assert set(pool.recv(4, 4).env_ids) == set(order)
        legal = batch.action_masks.argmax(1)
        pool.send([batch.action_masks[np.flatnonzero(batch.env_ids == 0)[0]].argmin()], [0])
        pool.set_opponents("random")
        a.restart()
        for _ in range(2):
            with pytest.raises(blockyard.IllegalActionError) as error:
                pool.recv()
            assert error.value.env_ids == [0]
            pool.send([batch.action_masks[np.flatnonzero(batch.env_ids == 0)[0]].argmin()], [0])


def test_a_server_that_hangs(server: Server, two, caplog):
    """One of two servers is stopped; its games go on at the other one."""
    a, b = two
    with blockyard.BlockPool("TetrisDuel-v0", N, 3, seed=3, address=server.unix) as pool:
        want = played(pool, 20)
    where = [a.address, b.address]
    with blockyard.BlockPool("TetrisDuel-v0", N, 3, seed=3, address=where, heal=True) as pool:
        assert played(pool, 20, {9: lambda: hang(b, pool.engine.transport.parts[1])}, 1) == want
    assert losses(caplog) >= 1


def test_no_server_is_left(two):
    a, _ = two
    with blockyard.BlockPool("TetrisDuel-v0", 4, 2, address=a.address, heal=True, heal_timeout=3) as pool:
        pool.async_reset()
        batch = pool.recv(4, 4)
        pool.send(batch.action_masks.argmax(1), batch.env_ids)
        a.kill()
        for _ in range(2):
            with pytest.raises(blockyard.ServerGoneError, match="in 3 s none was found to continue with"):
                pool.recv(4, 4)
        a.start()
        assert len(pool.recv(4, 4)) == 4, "it may be tried again"
