"""Shaped rewards: the potential comes to nothing over an episode, so that no optimal policy changes."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import MODES, Server, pairs

import blockyard
from blockyard.vector.shaping import GAMMA, Shaping

GAMES = ["BlockBattle-v0", "TetrisDuel-v0", "Blocking-v0"]


@pytest.mark.parametrize(
    ("game", "mode", "opponents"),
    pairs([(game, mode) for game in GAMES for mode in MODES], ["random", None, lambda obs, mask: mask.argmax(1)]),
)
def test_what_is_added_telescopes(server: Server, game, mode, opponents):
    """The discounted sum of it is -Φ of the first position, and γ^T Φ of the last one if that was truncated."""
    how = {"autoreset_mode": mode, "seed": 3, "address": server.unix, "opponents": opponents, "max_episode_steps": 15}
    with (
        blockyard.make_vec(game, 4, reward="shaped", **how) as env,
        blockyard.make_vec(game, 4, reward="result", **how) as plain,
    ):
        potential, rng = Shaping(env.game_spec), np.random.default_rng(0)
        obs, _ = env.reset()
        plain.reset()
        n, episodes = env.num_envs, 0
        total, power, begun = np.zeros(n), np.ones(n), potential.of(obs["globals"])
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
                rest = 0.0 if terminated[row] else power[row] * potential.of(last[None])[0]
                np.testing.assert_allclose(total[row], rest - begun[row], atol=1e-6)
                episodes += 1
            if mode == "Disabled" and ended.any():
                obs, _ = env.reset(options={"reset_mask": ended})
                plain.reset(options={"reset_mask": ended})
            fresh = over if mode == "NextStep" else ended
            over = ended if mode == "NextStep" else over
            begun[fresh] = potential.of(obs["globals"])[fresh]
            total[fresh], power[fresh] = 0, 1
        assert episodes >= 4
        assert moved or game == "TetrisDuel-v0"  # whose random games have no points
        np.testing.assert_array_equal(np.abs(env.seat_rewards) % 1, 0)


def test_where_it_is_refused(server: Server):
    with pytest.raises(ValueError, match="has none"):
        blockyard.make_vec("WinTetris-v0", reward="shaped", address=server.unix)
    with pytest.raises(ValueError, match="rows"):
        blockyard.make_vec("BlockBattle-v0", reward="shaped", rows="acting", address=server.unix)
    with pytest.raises(ValueError, match="a pool has the plain result"):
        blockyard.BlockPool("BlockBattle-v0", 2, 1, reward="shaped", address=server.unix)
