"""Features of afterstates, and a network trained here as an opponent on the server."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Server, advance

import blockyard
from blockyard import Features, feature_facts, features


def games_with_features(server: Server) -> list[str]:
    """Return the games that define features."""
    games = []
    with blockyard.connect(server.unix) as client:
        for game in blockyard.ENV_IDS:
            try:
                with client.make_vec(game) as env:
                    feature_facts(env)
                games.append(game)
            except blockyard.RequestError:
                continue
    return games


def test_beside_afterstates(server: Server):
    """The same actions, rewards and ends in the same CSR rows as afterstates; zero where a game is over."""
    games = games_with_features(server)
    assert {"BlockBattle-v0", "TetrisDuel-v0", "Blocking-v0", "WinTetris-v0", "Dropblox-v0"} <= set(games)
    assert "WinTetrisTick-v0" not in games
    for game in games:
        with blockyard.make_vec(game, 5, address=server.unix, opponents=None, reward="score") as env:
            env.reset(seed=1)
            rng = np.random.default_rng(0)
            facts = feature_facts(env)
            assert 0 < facts.own <= len(facts)
            assert (facts.own == len(facts)) == (env.seats == 1)
            advance(env, 20, rng)
            a, f = env.afterstates([3, 1], seed=5), features(env, [3, 1], seed=5)
            for key in ("indptr", "actions", "reward", "done"):
                np.testing.assert_array_equal(getattr(a, key), getattr(f, key))
            assert f.features.shape == (len(a), len(facts))
            assert not f.features[f.done].any()
            assert np.isfinite(f.features).all()
            np.testing.assert_array_equal(a.row, f.row)
            values = rng.random(len(f))
            np.testing.assert_array_equal(a.best(values), f.best(values))
            np.testing.assert_array_equal(features(env, seed=2).features, features(env, seed=2).features)


def test_pages(server: Server, monkeypatch):
    """An answer in several messages is joined."""
    with blockyard.make_vec("BlockBattle-v0", 6, address=server.unix) as env:
        env.reset(seed=1)
        whole = features(env, seed=1)
        parts = [features(env, [i], seed=1) for i in range(6)]
        real = env.engine.transport.call

        def few(method, *params):
            ids = np.frombuffer(params[0], "<u4")[:2]
            return real(method, ids.tobytes(), *params[1:])

        monkeypatch.setattr(env.engine.transport, "call", few)
        paged = features(env, seed=1)
        assert isinstance(paged, Features)
        np.testing.assert_array_equal(paged.indptr, whole.indptr)
        np.testing.assert_array_equal(paged.actions, whole.actions)
        assert len(whole) == sum(map(len, parts))


@pytest.mark.parametrize("game", ["BlockBattle-v0", "TetrisDuel-v0", "Blocking-v0"])
def test_a_net_plays_alike_here_and_there(game, tmp_path):
    """Seat 0 plays a random network over features; the server's one-ply search with the same network plays the same."""
    rng = np.random.default_rng(0)
    with blockyard.make_vec(game, 1, opponents=None, seed=3, rows="acting") as env:
        facts = feature_facts(env)
        shapes = {"fc0.weight": (8, len(facts)), "fc0.bias": (8,), "fc1.weight": (1, 8), "fc1.bias": (1,)}
        net = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
        blockyard.save_weights(tmp_path / "net.safetensors", net, facts)

        def values(f: Features):
            hidden = f.features @ net["fc0.weight"].T + net["fc0.bias"]
            v = (np.maximum(hidden, 0.01 * hidden) @ net["fc1.weight"].T)[:, 0] + net["fc1.bias"]
            return np.where(f.done, -np.inf, v)

        rival = f"learned:ply=1,weights={tmp_path / 'net.safetensors'}"
        twin = blockyard.BlockVectorEnv(game, 1, client=env.client, opponents={1: rival})
        env.reset(seed=3)
        twin.reset(seed=3)
        for _ in range(8):
            f = features(env, seed=1)
            chosen = f.actions[f.best(values(f))].astype(np.int64)
            mine = int(chosen[0])
            np.testing.assert_array_equal(twin.action_masks[0], env.action_masks[0])
            env.step(chosen)
            if env.game_spec.turn == "alternating":  # seat 1 answers
                f = features(env, seed=1)
                env.step(f.actions[f.best(values(f))].astype(np.int64))
            _, _, terminated, _, _ = twin.step([mine])
            np.testing.assert_array_equal(env.scores, twin.scores)
            if terminated[0]:
                break
        twin.close()


def test_a_net_plays_alone(tmp_path):
    """A random network over features chooses the same as the server's one-block search with that network.

    Its numbers are so large that points, 0.01 each, and the classic terms that the player adds decide nothing.
    """
    rng = np.random.default_rng(0)
    with blockyard.make_vec("Dropblox-v0", 3, seed=3, reward="score") as env:
        facts = feature_facts(env)
        shapes = {"fc0.weight": (8, len(facts)), "fc0.bias": (8,), "fc1.weight": (1, 8), "fc1.bias": (1,)}
        net = {name: rng.normal(size=shape).astype(np.float32) for name, shape in shapes.items()}
        net["fc1.weight"] *= 1000
        blockyard.save_weights(tmp_path / "net.safetensors", net, facts)
        env.reset()
        for _ in range(12):
            f = features(env)
            hidden = f.features @ net["fc0.weight"].T + net["fc0.bias"]
            values = (np.maximum(hidden, 0.01 * hidden) @ net["fc1.weight"].T)[:, 0] + net["fc1.bias"]
            best = f.best(np.where(f.done, -np.inf, values))
            played = env.rollout(1, f"learned:depth=1,width=1,weights={tmp_path / 'net.safetensors'}").actions[0]
            np.testing.assert_array_equal(played, f.actions[best])


def test_of_no_game(server: Server):
    with blockyard.make_vec("BlockBattle-v0", 1, address=server.unix) as env:
        env.reset(seed=1)
        f = features(env, [])
        assert f.features.shape == (0, len(feature_facts(env).names))
        assert len(f) == len(f.best(np.zeros(0))) == 0


def test_refuses(server: Server):
    env = blockyard.make_vec("BlockBattle-v0", 2, address=server.unix)
    with env, pytest.raises(blockyard.NeedsResetError):
        features(env)
