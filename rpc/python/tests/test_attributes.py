"""call, get_attr and set_attr give what Gymnasium's own vector environment of single games gives; reprs fit a line."""

from __future__ import annotations

import gymnasium as gym
import numpy as np
import pytest
from conftest import GAME, assert_same, begun

import blockyard


@pytest.fixture
def both(server, closing):
    """The native environment and Gymnasium's SyncVectorEnv of the same three games."""
    kwargs = {"num_envs": 3, "address": server.unix, "render_mode": "ansi"}
    name = f"blockyard/{GAME}"
    native = closing(gym.make_vec(name, **kwargs))
    single = closing(gym.make_vec(name, vectorization_mode="sync", **kwargs))
    native.reset(seed=5)
    single.reset(seed=5)
    yield native, single


@pytest.mark.parametrize(
    "name", ["action_masks", "legal_actions", "render", "snapshot", "observation_space", "action_space", "render_mode"]
)
def test_the_same_as_gymnasium(both, name):
    native, single = both
    mine, theirs = native.call(name), single.call(name)
    assert isinstance(mine, tuple)
    assert len(mine) == len(theirs) == 3
    for a, b in zip(mine, theirs, strict=True):
        if isinstance(a, gym.Space):
            assert a == b
        else:
            assert_same(a, b)
    for a, b in zip(native.get_attr(name), theirs, strict=True):
        if not isinstance(a, gym.Space):
            assert_same(a, b)


def test_attributes_of_ones_own(both):
    for env in both:
        env.set_attr("level", [1, 2, 3])
        assert env.get_attr("level") == (1, 2, 3)
        env.set_attr("level", 7)
        assert env.get_attr("level") == (7, 7, 7)
        env.set_attr("greet", lambda word: word + "!")
        assert env.call("greet", "hi") == ("hi!",) * 3
        with pytest.raises(ValueError, match=r"2`? values"):
            env.set_attr("level", [1, 2])


def test_refusals(both):
    native, _ = both
    with pytest.raises(AttributeError, match=r"no attribute 'legs', they have action_masks, .*snapshot"):
        native.get_attr("legs")
    with pytest.raises(AttributeError, match="'action_space' cannot be changed: create another environment"):
        native.set_attr("action_space", 3)


def test_rows_of_games_with_several(server):
    with begun(GAME, 2, address=server.unix, opponents=None, seed=1) as env:
        env.rollout(5, keep="last")
        assert env.call("game") == (0, 0, 1, 1)
        assert list(env.call("score")) == env.scores.reshape(-1).tolist()
        assert env.call("render") == (None,) * 4
        first, second, third, _ = env.call("picture", "text")
        assert first == second == env.picture(0, "text") != third
        states = env.snapshot()
        for row, state in enumerate(env.call("snapshot")):
            np.testing.assert_array_equal(state, states[row // 2])


def test_reprs_fit_a_line(server):
    with blockyard.connect(server.unix) as client, client.make_vec("Blocking-v0", 64, seats=4, opponents=None) as env:
        env.reset(seed=0)
        rollout, one = env.rollout(2), client.make(GAME)
        shown = {
            "env": (env, "BlockVectorEnv(Blocking-v0, num_envs="),
            "single": (one, "BlockEnv(BlockBattle-v0, seat 0 of 2)"),
            "client": (client, "Client('unix:"),
            "spec": (env.game_spec, "GameSpec(Blocking-v0, seats=2 to 4, alternating, actions=11582, "),
            "legal": (env.legal_actions(), "LegalActions("),
            "afterstates": (env.afterstates([0]), "Afterstates("),
            "rollout": (rollout, "Rollout(steps=2, kept=2, rows="),
            "buffer": (rollout.buffer, "RolloutBuffer(2 steps, "),
            "final": (env.final(), "FinalStep(0 games, 0 rows)"),
        }
        for name, (thing, start) in shown.items():
            text = repr(thing)
            assert text.startswith(start), (name, text)
            assert "\n" not in text
            assert len(text) <= 160 if name == "client" else len(text) <= 120, (name, text)
    assert repr(env).endswith("closed)")
