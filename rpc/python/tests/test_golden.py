"""Every game in every autoreset mode is bit-identical in Gymnasium's own vector of single environments.

Games are those of the list, so that one added to it is judged too.
"""

from __future__ import annotations

import numpy as np
import pytest
from conftest import MODES, Server, assert_same, copied, pairs, play
from gymnasium.vector import SyncVectorEnv
from gymnasium.wrappers import vector as wrappers

import blockyard


@pytest.fixture
def both(server: Server, closing):
    """Return what makes a vector environment, and Gymnasium's own of single environments."""

    def make(game, n, mode, **kwargs):
        singles = [lambda: blockyard.make(game, address=server.unix, **kwargs)] * n
        ours = blockyard.make_vec(game, n, address=server.unix, autoreset_mode=mode, **kwargs)
        return closing(ours), closing(SyncVectorEnv(singles, autoreset_mode=mode))

    return make


def forgive(step, limit):
    """Remove the values of infos in rows where they are not valid, and values documented as unknown."""
    infos = copied(step[-1])
    if "final_info" in infos and limit:  # the last mask of a truncated episode
        final = infos["final_info"]
        final["_action_mask"] = final["_action_mask"] & ~step[3]
    for level in (infos, infos.get("final_info", {})):
        for key in ("action_mask", "acting", "illegal", "score"):
            if key in level:
                level[key][~level[f"_{key}"]] = 0
    return (*step[:-1], infos)


# Every game in every mode, and with every kind of reward, with and without a limit.
KINDS = [("result", None), ("score", 9), ("score", None), ("result", 9)]


@pytest.mark.parametrize(
    ("game", "mode", "reward", "limit"),
    pairs([(game, mode) for game in blockyard.ENV_IDS for mode in MODES], KINDS),
)
def test_equals_a_vector_of_singles(both, game, mode, limit, reward):
    """Observations, rewards, flags and infos, final ones included."""
    steps = 120 if limit is None and reward == "result" else 40
    kwargs = {"max_episode_steps": limit, "reward": reward}
    n = 4
    ours, theirs = both(game, n, mode, **kwargs)
    a, b = play(ours, steps), play(theirs, steps)
    ended = sum(int((step[2] | step[3]).sum()) for step in a if len(step) == 5)
    assert ended >= n or limit is None
    for i, (x, y) in enumerate(zip(a, b, strict=True)):
        assert_same(forgive(x, limit), forgive(y, limit), f"step {i}")


@pytest.mark.parametrize(("game", "mode"), pairs(blockyard.ENV_IDS, MODES))
def test_statistics_wrapper_counts(both, game, mode):
    """Gymnasium's statistics of episodes are those of its own vector environment, in every mode."""
    kwargs = {"reward": "score", "max_episode_steps": 6}
    ours, theirs = both(game, 3, mode, **kwargs)
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
