"""Shaped rewards: the potential comes to nothing over an episode, so that no optimal policy changes."""

from __future__ import annotations

from contextlib import closing

import numpy as np
import pytest
from conftest import MODES, Server, begun, first, pairs

import blockyard
from blockyard.pettingzoo import parallel_env

GAMMA = 0.99
POTENTIALS = {
    "BlockBattle-v0": {"own_points": 0.05, "opponent_points": -0.05, "own_height": -0.02, "opponent_height": 0.02},
    "TetrisDuel-v0": {"own_points": 0.02, "opponent_points": -0.02},
    "Blocking-v0": {"own_points": 0.03, "second_points": -0.01, "third_points": -0.01, "fourth_points": -0.01},
}


def potential(spec, numbers):
    weights = np.array([POTENTIALS[spec.id].get(name, 0.0) for name in spec.global_names])
    return np.tanh(numbers.astype(np.float64) @ weights)


@pytest.mark.parametrize(
    ("game", "mode", "opponents"),
    pairs([(game, mode) for game in POTENTIALS for mode in MODES], ["random", None, first]),
)
def test_what_is_added_telescopes(server: Server, game, mode, opponents):
    """The discounted sum of it is -Φ of the first position, and γ^T Φ of the last one if that was truncated."""
    how = {"autoreset_mode": mode, "seed": 3, "address": server.unix, "opponents": opponents, "max_episode_steps": 15}
    with (
        blockyard.make_vec(game, 4, reward="shaped", **how) as env,
        blockyard.make_vec(game, 4, reward="result", **how) as plain,
    ):
        spec, rng = env.game_spec, np.random.default_rng(0)
        obs, _ = env.reset()
        plain.reset()
        n, episodes = env.num_envs, 0
        total, power, begun = np.zeros(n), np.ones(n), potential(spec, obs["globals"])
        over, moved = np.zeros(n, bool), False
        for _ in range(60):
            actions = env.sample_actions(rng)
            obs, rewards, terminated, truncated, infos = env.step(actions)
            added = rewards - plain.step(actions)[1]
            assert (added[over] == 0).all()
            total += power * added
            moved = moved or added.any()
            power *= GAMMA
            ended = terminated | truncated
            for row in np.flatnonzero(ended):
                last = obs["globals"][row] if mode != "SameStep" else infos["final_obs"][row]["globals"]
                rest = 0.0 if terminated[row] else power[row] * potential(spec, last)
                np.testing.assert_allclose(total[row], rest - begun[row], atol=1e-5)
                episodes += 1
            if mode == "Disabled" and ended.any():
                obs, _ = env.reset(options={"reset_mask": ended})
                plain.reset(options={"reset_mask": ended})
            fresh = over if mode == "NextStep" else ended
            over = ended if mode == "NextStep" else over
            begun[fresh] = potential(spec, obs["globals"])[fresh]
            total[fresh], power[fresh] = 0, 1
        assert episodes >= 4
        assert moved or game == "TetrisDuel-v0"  # whose random games have no points


def test_every_form_of_environment_has_it(server: Server):
    """Compact rows have the reward of the seat that acted, pools and PettingZoo those of one environment."""
    how = {"reward": "shaped", "opponents": None, "illegal": "error", "seed": 5, "address": server.unix}
    for game in POTENTIALS:
        with (
            begun(game, 2, autoreset_mode="Disabled", **how) as env,
            begun(game, 2, autoreset_mode="Disabled", rows="acting", **how) as compact,
            blockyard.BlockPool(game, 2, 2, autoreset_mode="Disabled", **how) as pool,
            closing(parallel_env(game, reward="shaped", opponents=None, address=server.unix)) as one,
        ):
            pool.async_reset()
            one.reset(seed=5)
            some, rng = False, np.random.default_rng(0)
            for _ in range(12):
                acting = env.acting
                actions = env.sample_actions(rng)
                rewards = env.step(actions)[1]
                some |= bool(rewards.any())
                row = rewards[acting]
                np.testing.assert_array_equal(compact.step(actions[acting])[1], row)
                waiting = pool.recv()
                order = np.argsort(waiting.env_ids)
                np.testing.assert_array_equal(waiting.env_ids[order], np.arange(env.num_envs))
                pool.send(actions, np.arange(env.num_envs))
                given = one.step({agent: actions[k] for k, agent in enumerate(one.possible_agents)})[1]
                np.testing.assert_array_equal([given[agent] for agent in one.possible_agents], rewards[: env.seats])
            played = pool.recv()
            np.testing.assert_array_equal(played.rewards[np.argsort(played.env_ids)], rewards)
            assert some or game == "TetrisDuel-v0"


def test_where_it_is_refused(server: Server):
    for make in (blockyard.make_vec, lambda game, n, **how: blockyard.BlockPool(game, n, 1, **how)):
        with pytest.raises(blockyard.RequestError, match="wintetris: it has no shaped rewards, want result or score"):
            make("WinTetris-v0", 2, reward="shaped", address=server.unix)
