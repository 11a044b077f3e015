"""Environments go on exactly from a checkpoint: on other servers, over other transports, in other splits."""

from __future__ import annotations

import hashlib
import shutil
from pathlib import Path

import numpy as np
import pytest
from conftest import GAME, MODES, Server, begun, pairs, random_actions, serving

import blockyard

N = 6


def digest(h, x):
    """Add everything in x to a hash: names, types, shapes and bytes."""
    if isinstance(x, dict):
        for key in sorted(x):
            h.update(key.encode())
            digest(h, x[key])
    elif isinstance(x, np.ndarray) and x.dtype == object:
        for v in x:
            digest(h, v)
    elif x is None:
        h.update(b"none")
    else:
        array = np.ascontiguousarray(x)
        h.update(f"{array.dtype}{array.shape}".encode() + array.tobytes())


def go_on(env, infos, steps, seed):
    """Play random legal actions; return a hash of each step: observations, rewards, flags, infos, masks."""
    rng, hashes = np.random.default_rng(seed), []
    for _ in range(steps):
        obs, rewards, terminated, truncated, infos = env.step(random_actions(env.action_masks, rng))
        h = hashlib.sha256()
        for x in (obs, rewards, terminated, truncated, dict(infos.items()), env.scores, env.seat_rewards):
            digest(h, x)
        ended = terminated | truncated
        if env.autoreset_mode.value == "Disabled" and ended.any():
            obs, infos = env.reset(options={"reset_mask": ended})
            digest(h, obs)
        hashes.append(h.hexdigest())
    return hashes


def same(a, b):
    x, y = hashlib.sha256(), hashlib.sha256()
    digest(x, a)
    digest(y, b)
    return x.digest() == y.digest()


@pytest.fixture(scope="module")
def other(program, tmp_path_factory):
    with serving(program, tmp_path_factory.mktemp("o")) as running:
        yield running


def options_of(game):
    """The opponents to try in a game: other seats of the client, simple ones, searches, mixtures."""
    seats = next(
        (n for name, n in (("Blocking", 4), ("BlockBattle", 2), ("TetrisDuel", 2)) if game.startswith(name)), 1
    )
    if seats == 1:
        return seats, ["random"]
    return seats, [None, "random", "hand:ply=1", "learned:ply=1", {"random": 1, "first": 1, "hand:ply=1": 2}]


@pytest.mark.parametrize("places", [1, pytest.param(4, marks=pytest.mark.slow)])
@pytest.mark.parametrize(("game", "mode"), pairs(blockyard.ENV_IDS, MODES))
def test_goes_on_exactly(server: Server, other: Server, game, mode, places):
    """Against each kind of opponent, at so many of the places; alone, at all of them."""
    seats, opponents = options_of(game)
    targets = [
        {"address": other.unix},
        {"address": other.tcp},
        {"address": other.unix, "transport": "socket", "copy": False},
        {"address": [server.tcp, other.unix, other.tcp]},
    ]
    for k, opponent in enumerate(opponents):
        kwargs = {
            "seats": seats,
            "autoreset_mode": mode,
            "rows": ["seat", "acting"][k % 2],
            "max_episode_steps": 23,
            "packed": k % 3 == 2,
        }
        with blockyard.make_vec(game, N, seed=5, address=server.unix, opponents=opponent, **kwargs) as env:
            _, infos = env.reset()
            go_on(env, infos, 31, 1)
            data = env.checkpoint()
            here = env.snapshot()
            want = go_on(env, None, 40, 2)
            last = env.snapshot()
            start = opponent if opponent is None else "random"
            begin = (k + blockyard.ENV_IDS.index(game)) % 4
            for target in targets if len(opponents) == 1 else (2 * targets)[begin:][:places]:
                with blockyard.make_vec(game, N, checkpoint=data, opponents=start, **kwargs, **target) as twin:
                    _, infos = twin.reset()
                    assert same(twin.snapshot(), here)
                    assert infos["action_mask"].any(1).all()
                    assert go_on(twin, infos, 40, 2) == want, (opponent, target)
                    assert same(twin.snapshot(), last)
                    assert twin.opponent_specs == env.opponent_specs
                    assert twin.opponent_stats() == env.opponent_stats()
                    assert twin.stats()["env"] == env.stats()["env"]
            _, infos = env.restore_checkpoint(data)  # back in time
            assert go_on(env, infos, 40, 2) == want


def test_what_the_reset_after_it_does(server: Server):
    """The first reset returns the position, whatever its seed; others start new episodes, as they would have."""
    with begun(GAME, N, seed=5, address=server.unix) as env:
        go_on(env, None, 20, 1)
        data = env.checkpoint()
        obs = {k: v.copy() for k, v in env.step(np.zeros(N, int))[0].items()}
        again, _ = env.reset()
        with blockyard.make_vec(GAME, N, address=server.unix, checkpoint=data) as twin:
            first, _ = twin.reset()
            assert not same(first, obs)
            assert same(twin.step(np.zeros(N, int))[0], obs)
            assert same(twin.reset()[0], again)
        with blockyard.make_vec(GAME, N, address=server.unix, checkpoint=data) as twin:
            assert same(twin.step(np.zeros(N, int))[0], obs), "a reset is not needed"
        with blockyard.make_vec(GAME, N, address=server.unix, checkpoint=data) as twin:
            assert same(twin.reset(seed=5)[0], first), "libraries seed every environment"
            assert same(twin.reset(seed=5)[0], env.reset(seed=5)[0])
        with blockyard.make_vec(GAME, N, address=server.unix, checkpoint=data) as twin:
            mask = np.arange(N) == 2
            obs, infos = twin.reset(options={"reset_mask": mask})
            assert (infos["_score"] == mask).all()
        with pytest.raises(ValueError, match="leave out seed or checkpoint"):
            blockyard.make_vec(GAME, N, address=server.unix, checkpoint=data, seed=1)


def test_client_side_state(server: Server, other: Server):
    """Draws of afterstates without a seed, counts of illegal actions, results against opponents, rollouts."""
    kwargs = {"opponents": {"random": 1, "first": 1}, "illegal": "random", "autoreset_mode": "NextStep"}
    with begun("TetrisDuel-v0", N, seed=1, address=server.unix, **kwargs) as env:
        env.afterstates()
        env.step((~env.action_masks).argmax(1))
        env.rollout(200, "hand:ply=1")
        env.set_opponents("first")
        data = env.checkpoint()
        with begun("TetrisDuel-v0", N, address=[other.unix, other.tcp], checkpoint=data, **kwargs) as twin:
            assert twin.stats()["env"] == env.stats()["env"]
            assert twin.stats()["env"]["illegal"] == N
            for _ in range(2):
                assert same(vars(env.afterstates()), vars(twin.afterstates()))
                a, b = env.rollout(50, "hand:ply=1"), twin.rollout(50, "hand:ply=1")
                assert same(a.buffer.arrays, b.buffer.arrays)
                assert same(a.actions, b.actions)
                assert env.opponent_stats() == twin.opponent_stats()
            assert sum(s.games for s in twin.opponent_stats().values()) > N
            assert twin.opponent_stats(reset=True) == env.opponent_stats(reset=True)
            env.rollout(90)
            twin.rollout(90)
            assert twin.opponent_stats() == env.opponent_stats()
            assert same(env.snapshot(), twin.snapshot())
            twin.set_opponents({"random": 2, "hand:ply=1": 1})
            env.set_opponents({"random": 2, "hand:ply=1": 1})
            assert go_on(env, None, 60, 3) == go_on(twin, None, 60, 3)
            assert twin.opponent_specs == env.opponent_specs == ("random", "first", "hand:ply=1")


def test_split_differently(server: Server):
    """The games of several servers fit into one, and the other way round; their draws depend on their numbers."""
    with begun(GAME, N, seed=3, address=[server.unix] * 4) as env:
        go_on(env, None, 9, 1)
        data = env.checkpoint()
        states = env.snapshot()
        want = env.restore(states, reseed=4)[0]
        for where in (server.unix, [server.tcp] * 6):
            with blockyard.make_vec(GAME, N, address=where, checkpoint=data) as twin:
                assert same(twin.snapshot(), states)
                assert same(twin.checkpoint()[-64:-32], data[-64:-32]), "the same bytes of the last game"
                assert same(twin.restore(twin.snapshot(), reseed=4)[0], want)


def play_pool(pool, steps, seed, want=None):
    """Play random legal actions in whole rounds; return what the rows were told, in order."""
    rng, told = np.random.default_rng(seed), []
    for _ in range(steps):
        rows = {}
        while len(rows) < pool.num_envs:
            batch = pool.recv()
            for k, row in enumerate(batch.env_ids):
                rows[int(row)] = [
                    batch.obs["planes"][k].copy(),
                    batch.rewards[k],
                    batch.terminated[k],
                    batch.action_masks[k],
                ]
        told.append(rows)
        masks = np.stack([rows[k][3] for k in range(pool.num_envs)])
        pool.send(random_actions(masks, rng))
    while pool._receiver.flying or len(pool._receiver.ready):
        pool.recv()
    return told


def same_rounds(a, b):
    return all(
        same({str(k): np.array(v, object) for k, v in x.items()}, {str(k): np.array(v, object) for k, v in y.items()})
        for x, y in zip(a, b, strict=True)
    )


def test_pools(server: Server, other: Server):
    """Pools on other servers, or one environment, continue the games of a pool."""
    kwargs = {"opponents": "random", "max_episode_steps": 20}
    where = [server.unix, server.tcp, server.unix]
    with blockyard.BlockPool(GAME, 6, 2, seed=5, address=where, **kwargs) as pool:
        with pytest.raises(RuntimeError, match="call recv until every row waits"):
            pool.checkpoint()
        pool.async_reset()
        with pytest.raises(RuntimeError, match="call recv until every row waits"):
            pool.checkpoint()
        play_pool(pool, 9, 1)
        pool.envs[0].afterstates()
        data = pool.checkpoint()
        pool.restore_checkpoint(data)
        want = play_pool(pool, 12, 2)
        last = pool.envs[0].snapshot()
        for size, where in ((2, other.unix), (3, [other.tcp, server.unix]), (6, other.unix)):
            with blockyard.BlockPool(GAME, 6, size, address=where, checkpoint=data, **kwargs) as twin:
                twin.async_reset()
                assert same_rounds(play_pool(twin, 12, 2), want)
                assert same(twin.envs[0].snapshot(), last)
        with begun(GAME, 6, address=other.unix, checkpoint=data, **kwargs) as env:
            other_data = env.checkpoint()
            assert same(vars(env.afterstates()), vars(env.afterstates(seed=2)))
        pool.restore_checkpoint(other_data)
        assert same_rounds(play_pool(pool, 12, 2), want)
        pool.engine.transport.parts[1].call("set_opponents", {1: [("first", 1.0)]})
        with pytest.raises(blockyard.CheckpointError, match="the servers have different opponents"):
            pool.checkpoint()
        with pytest.raises(ValueError, match="leave out seed or checkpoint"):
            blockyard.BlockPool(GAME, 6, 2, seed=1, address=server.unix, checkpoint=data)


def test_single_environments(server: Server, other: Server):
    with begun(GAME, seed=5, address=server.unix, kind=blockyard.make) as env:
        for _ in range(5):
            env.step(env.legal_actions()[-1])
        data = env.checkpoint()
        want = [env.step(env.legal_actions()[0])[0] for _ in range(4)]
        with blockyard.make(GAME, address=other.tcp, checkpoint=data) as twin:
            obs, _ = twin.reset()
            again, _ = env.restore_checkpoint(data)
            assert same(obs, again)
            assert same(
                np.array(want, object), np.array([twin.step(twin.legal_actions()[0])[0] for _ in range(4)], object)
            )


def test_weights_travel(server: Server, other: Server, tmp_path):
    """Opponents loaded from a file of the client go on where that file does not exist."""
    source = Path(__file__).parents[3] / "agents/bots/tetrisduelbot/weights/tetrisduel.safetensors"
    path = tmp_path / "mine.safetensors"
    shutil.copy(source, path)
    spec = f"learned:ply=1,weights={path}"
    with begun("TetrisDuel-v0", N, seed=5, address=server.unix, opponents={spec: 1, "random": 1}) as env:
        go_on(env, None, 9, 1)
        env.set_opponents("random")  # the weights are needed by games in progress only
        data = env.checkpoint()
        assert len(data) > path.stat().st_size
        want = go_on(env, None, 60, 2)
        assert len(env.checkpoint()) < path.stat().st_size, "no game needs them any more"
        path.unlink()
        with blockyard.make_vec("TetrisDuel-v0", N, address=[other.unix, other.tcp], checkpoint=data) as twin:
            assert go_on(twin, None, 60, 2) == want
            assert twin.opponent_specs == env.opponent_specs == (spec, "random")
            assert twin.opponent_stats() == env.opponent_stats()
