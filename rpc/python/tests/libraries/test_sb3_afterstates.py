"""Stable-Baselines3 on afterstates: what a policy sees, what is played, and the agent that its network becomes."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Server, assert_same
from sb3_contrib import MaskablePPO
from sb3_contrib.common.maskable.utils import get_action_masks
from stable_baselines3.common.vec_env import VecNormalize

import blockyard
from blockyard import policies
from blockyard.sb3 import SB3VecEnv
from blockyard.sb3_afterstates import AfterstatePolicy

SMALL = {"n_steps": 16, "batch_size": 32, "n_epochs": 1, "policy_kwargs": {"net_arch": [16]}}


def environment(server: Server, game: str, games: int, **how) -> SB3VecEnv:
    return SB3VecEnv(game, games, actions="afterstates", address=server.unix, seed=1, **{"opponents": "random", **how})


def play(env: SB3VecEnv, rng: np.random.Generator) -> dict[str, np.ndarray]:
    mask = get_action_masks(env)[0]
    return env.step((rng.random(mask.shape) * mask).argmax(1))[0]


def test_truncated_game_has_the_value_of_its_last_decision(server: Server, closing):
    env = closing(environment(server, "BlockBattle-v0", 2, max_episode_steps=2))
    env.reset()
    rng = np.random.default_rng(0)
    before = play(env, rng)
    mask = get_action_masks(env)[0]
    after, _, dones, infos = env.step((rng.random(mask.shape) * mask).argmax(1))
    assert dones.all()
    for row, info in enumerate(infos):
        assert info["TimeLimit.truncated"]
        assert_same(info["terminal_observation"], {key: array[row] for key, array in before.items()})
        assert not np.array_equal(after["features"][row], before["features"][row])


def test_self_play_in_turn(server: Server, closing):
    """A seat that waits has one candidate, which is ignored."""
    env = closing(environment(server, "TetrisDuel-v0", 2, opponents=None))
    env.reset()
    rng = np.random.default_rng(0)
    for _ in range(60):
        waits = ~env.env.acting
        assert waits.any()
        assert (get_action_masks(env)[0][waits].sum(1) == 1).all()
        assert np.isfinite(play(env, rng)["features"]).all()


def test_network_becomes_an_agent(server: Server, tmp_path, closing):
    env = closing(environment(server, "BlockBattle-v0", 4))
    model = MaskablePPO(AfterstatePolicy, env, seed=1, **SMALL).learn(128)
    weights = tmp_path / "mine.safetensors"
    blockyard.save_weights(weights, model.policy.actor, blockyard.feature_facts(env.env))
    obs = env.reset()
    masks = get_action_masks(env)[0]
    chosen = model.predict(obs, action_masks=masks, deterministic=True)[0]
    for row, candidate in enumerate(chosen):
        values = blockyard.load_weights(weights).values(obs["features"][row, masks[row]])
        assert values.max() - values[candidate] < 1e-4
    model.save(tmp_path / "model.zip")
    again = MaskablePPO.load(tmp_path / "model.zip")
    assert again.predict(obs, action_masks=masks, deterministic=True)[0].tolist() == chosen.tolist()
    result = blockyard.evaluate(f"learned:ply=1,weights={weights}", "random", game="BlockBattle-v0", games=2)
    assert result.games == 2


def test_wrong_observations_and_actions(server: Server, tmp_path, closing):
    env = closing(environment(server, "TetrisDuel-v0", 4, illegal="error"))
    env.reset()
    with pytest.raises(blockyard.IllegalActionError):
        env.step(np.full(4, 63))
    env.reset()
    with pytest.raises(ValueError, match="norm_obs=False"):
        MaskablePPO(AfterstatePolicy, VecNormalize(env), **SMALL).learn(64)
    with pytest.raises(ValueError, match="want the observations of SB3VecEnv"):
        MaskablePPO(AfterstatePolicy, SB3VecEnv("TetrisDuel-v0", address=server.unix))
    MaskablePPO(AfterstatePolicy, env, **SMALL).save(tmp_path / "model.zip")
    with pytest.raises(ValueError, match="use save_weights"):
        policies.sb3(tmp_path / "model.zip")
