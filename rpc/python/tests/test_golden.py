"""Every game in every autoreset mode is bit-identical in Gymnasium's own vector of single environments.

Games are those of the list, so that one added to it is judged too.
"""

from __future__ import annotations

import warnings

import gymnasium
import numpy as np
import pytest
from conftest import MODES, Server, assert_same, pairs, play
from gymnasium.utils.env_checker import check_env
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import vector as wrappers
from test_gymnasium import OBSERVING, forgive, wrap

import blockyard


@pytest.fixture(params=blockyard.ENV_IDS)
def game(request: pytest.FixtureRequest) -> str:
    return request.param


# Every game in every mode, and with every kind of reward, with and without a limit.
KINDS = [("result", None), ("score", 9), ("score", None), ("result", 9)]


@pytest.mark.parametrize(
    ("game", "mode", "reward", "limit"),
    pairs([(game, mode) for game in blockyard.ENV_IDS for mode in MODES], KINDS),
)
def test_equals_a_vector_of_singles(server: Server, game, mode, limit, reward):
    """Observations, rewards, flags and infos, final ones included."""
    steps = 120 if limit is None and reward == "result" else 40
    kwargs = {"max_episode_steps": limit, "reward": reward}
    n = 4
    theirs = SyncVectorEnv(
        [lambda: blockyard.make(game, address=server.unix, **kwargs) for _ in range(n)], autoreset_mode=mode
    )
    ours = blockyard.make_vec(game, n, address=server.unix, autoreset_mode=mode, **kwargs)
    a, b = play(ours, steps), play(theirs, steps)
    ended = sum(int((step[2] | step[3]).sum()) for step in a if len(step) == 5)
    assert ended >= n or limit is None
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        assert_same(forgive(x, limit), forgive(y, limit), f"step {i}")
    theirs.close()
    ours.close()


def test_check_env(server: Server, game):
    env = gymnasium.make(f"blockyard:blockyard/{game}", address=server.unix, illegal="random")
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        # Globals have no bounds; the render modes are tried elsewhere by name.
        warnings.filterwarnings("ignore", message=".*(infinity|not at the default|unwrapped).*")
        check_env(env.unwrapped, skip_render_check=True)
    env.close()


@pytest.mark.parametrize(("game", "mode"), pairs(blockyard.ENV_IDS, MODES))
def test_wrappers_that_a_mode_permits(server: Server, game, mode):
    names = ["RecordEpisodeStatistics", "NormalizeReward", "ClipReward", "DictInfoToList"]
    names += OBSERVING[1:] if mode != "SameStep" else []
    for name in names:
        with blockyard.make_vec(game, 3, address=server.unix, autoreset_mode=mode, max_episode_steps=5) as base:
            env, rng = wrap(name, base), np.random.default_rng(0)
            env.reset(seed=1)
            for _ in range(12):
                _, _, terminated, truncated, _ = env.step(base.sample_actions(rng))
                if mode == "Disabled" and (terminated | truncated).any():
                    env.reset(options={"reset_mask": terminated | truncated})


def test_final_observations_are_ones_own(server: Server, game):
    """What SAME_STEP returns of an ended episode is never overwritten."""
    with blockyard.make_vec(game, 4, address=server.unix, autoreset_mode="SameStep", max_episode_steps=4) as env:
        env.reset(seed=1)
        rng, kept = np.random.default_rng(0), []
        for _ in range(20):
            *_, infos = env.step(env.sample_actions(rng))
            for last in infos.get("final_obs", []):
                if last is not None:
                    kept.append((last, {key: value.copy() for key, value in last.items()}))
        assert len(kept) >= 16
        for last, copy in kept:
            assert_same(last, copy)


@pytest.mark.parametrize(("game", "mode"), pairs(blockyard.ENV_IDS, MODES))
def test_statistics_wrapper_counts(server: Server, game, mode):
    """Gymnasium's statistics of episodes are those of its own vector environment, in every mode."""
    kwargs = {"reward": "score", "max_episode_steps": 6}
    theirs = SyncVectorEnv(
        [lambda: blockyard.make(game, address=server.unix, **kwargs) for _ in range(3)], autoreset_mode=mode
    )
    ours = blockyard.make_vec(game, 3, address=server.unix, autoreset_mode=mode, **kwargs)
    a, b = (wrappers.RecordEpisodeStatistics(env) for env in (ours, theirs))
    rng, seen = np.random.default_rng(0), 0
    a.reset(seed=1)
    b.reset(seed=1)
    for _ in range(24):
        actions = ours.sample_actions(rng)
        infos = []
        for env in (a, b):
            *_, terminated, truncated, info = env.step(actions)
            infos.append(info)
            done = terminated | truncated
            if done.any() and mode == "Disabled":
                env.reset(options={"reset_mask": done})
        assert ("episode" in infos[0]) == ("episode" in infos[1])
        if done.any():
            seen += int(done.sum())
            for key in "rl":
                np.testing.assert_array_equal(infos[0]["episode"][key], infos[1]["episode"][key])
    assert seen >= 9
    ours.close()
    theirs.close()
