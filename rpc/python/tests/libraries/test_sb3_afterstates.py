"""Stable-Baselines3 on afterstates: what a policy sees, what is played, and the agent that its network becomes."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Server
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import VecNormalize

import blockyard
from blockyard import policies
from blockyard.sb3 import SB3VecEnv
from blockyard.sb3_afterstates import AfterstatePolicy, AfterstateVecEnv

SMALL = {"n_steps": 16, "batch_size": 32, "n_epochs": 1, "policy_kwargs": {"net_arch": [16]}}


def play(env: AfterstateVecEnv, rng: np.random.Generator) -> np.ndarray:
    mask = get_action_masks(env)[0]
    return env.step((rng.random(mask.shape) * mask).argmax(1))[0]


@pytest.mark.parametrize("game", ["BlockBattle-v0", "TetrisDuel-v0"])
def test_lines_are_the_legal_actions(server: Server, game):
    env = AfterstateVecEnv(game, 3, address=server.unix, opponents="random", seed=1)
    obs, rng = env.reset(), np.random.default_rng(0)
    assert env.observation_space.contains(obs[0])
    for _ in range(40):
        legal, f = env.env.action_masks, blockyard.features(env.env)
        masks = get_action_masks(env)[0]
        for row in range(3):
            lines = np.flatnonzero(masks[row])
            assert env.ids[row, lines].tolist() == np.flatnonzero(legal[row]).tolist()
            here = slice(*f.indptr[row : row + 2])
            assert np.array_equal(obs[row, lines, :-2], f.features[here].astype(np.float16))
            assert np.array_equal(obs[row, lines, -1], np.where(f.done, f.reward, 0)[here])
            assert not obs[row, ~masks[row]].any()
        obs = play(env, rng)
    env.close()


def test_more_actions_than_lines(server: Server):
    """Those that are offered are evenly spaced, and no action stands in two lines."""
    env = AfterstateVecEnv("Blocking-v0", 2, most=8, address=server.unix, opponents="random", seed=1)
    env.reset()
    legal, ids = np.flatnonzero(env.env.action_masks[0]), env.ids[0].tolist()
    assert len(legal) > 40
    assert get_action_masks(env)[0].all()
    assert sorted(set(ids)) == ids
    assert np.abs(np.searchsorted(legal, ids) - (np.arange(8) + 1) * len(legal) / 8).max() <= 1
    env.close()


def test_truncated_game_has_the_value_of_its_last_decision(server: Server):
    env = AfterstateVecEnv("BlockBattle-v0", 2, address=server.unix, opponents="random", max_episode_steps=2, seed=1)
    env.reset()
    rng = np.random.default_rng(0)
    before = play(env, rng)
    mask = get_action_masks(env)[0]
    after, _, dones, infos = env.step((rng.random(mask.shape) * mask).argmax(1))
    assert dones.all()
    for row, info in enumerate(infos):
        assert info["TimeLimit.truncated"]
        assert np.array_equal(info["terminal_observation"], before[row])
        assert not np.array_equal(after[row], before[row])
    env.close()


def test_self_play_in_turn(server: Server):
    """A seat that waits has one line, whose action is ignored."""
    env = AfterstateVecEnv("TetrisDuel-v0", 2, address=server.unix, opponents=None, seed=1)
    env.reset()
    rng = np.random.default_rng(0)
    for _ in range(60):
        waits = ~env.env.acting
        assert waits.any()
        assert (get_action_masks(env)[0][waits].sum(1) == 1).all()
        assert np.isfinite(play(env, rng)).all()
    env.close()


def test_network_becomes_an_agent(server: Server, tmp_path):
    env = AfterstateVecEnv("BlockBattle-v0", 4, address=server.unix, opponents="random", seed=1)
    model = MaskablePPO(AfterstatePolicy, env, seed=1, **SMALL).learn(128)
    weights = tmp_path / "mine.safetensors"
    blockyard.save_weights(weights, model.policy.actor, env.facts)
    obs = env.reset()
    masks = get_action_masks(env)[0]
    chosen = model.predict(obs, action_masks=masks, deterministic=True)[0]
    for row, line in enumerate(chosen):
        values = blockyard.load_weights(weights).values(obs[row, masks[row], :-2])
        assert values.max() - values[line] < 1e-4
    model.save(tmp_path / "model.zip")
    again = MaskablePPO.load(tmp_path / "model.zip")
    assert again.predict(obs, action_masks=masks, deterministic=True)[0].tolist() == chosen.tolist()
    result = blockyard.evaluate(f"learned:ply=1,weights={weights}", "random", game="BlockBattle-v0", games=2)
    assert result.games == 2
    env.close()


def test_wrong_observations_and_actions(server: Server, tmp_path):
    """A line without an action is an illegal action, whatever stood there before."""
    env = AfterstateVecEnv("TetrisDuel-v0", 4, address=server.unix, opponents="random", illegal="error", seed=1)
    env.reset()
    env.ids[:, 63] = env.ids[:, 0]
    with pytest.raises(blockyard.IllegalActionError):
        env.step(np.full(4, 63))
    env.reset()
    with pytest.raises(ValueError, match="norm_obs=False"):
        MaskablePPO(AfterstatePolicy, VecNormalize(env), **SMALL).learn(64)
    with pytest.raises(ValueError, match="want observations of AfterstateVecEnv, got a Dict"):
        MaskablePPO(AfterstatePolicy, SB3VecEnv("TetrisDuel-v0", address=server.unix))
    MaskablePPO(AfterstatePolicy, env, **SMALL).save(tmp_path / "model.zip")
    with pytest.raises(ValueError, match="use save_weights"):
        policies.sb3(tmp_path / "model.zip")
    env.close()
