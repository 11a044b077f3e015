"""Invalid input raises the right exception with a message that names it, and changes nothing."""

from __future__ import annotations

import importlib
import pickle
import sys

import numpy as np
import pytest
from conftest import GAME, Server, advance, begun
from mortal import mortals

import blockyard
from blockyard.errors import from_wire


@pytest.fixture
def env(server: Server):
    with begun(GAME, 4, address=server.unix, seed=1, illegal="error") as env:
        yield env


@pytest.mark.parametrize(
    ("kwargs", "error", "what"),
    [
        ({"game": "Chess-v0"}, blockyard.UnknownGameError, "Chess-v0"),
        ({"game": 7}, TypeError, "game"),
        ({"num_envs": 0}, ValueError, "num_envs"),
        ({"num_envs": -3}, ValueError, "num_envs"),
        ({"num_envs": 10_000_000}, blockyard.BlockyardError, "num_envs|max_envs"),
        ({"num_envs": 300_000}, blockyard.LimitError, "max_envs"),
        ({"seats": 3}, blockyard.RequestError, "seats"),
        ({"opponents": {1: "nobody"}}, blockyard.RequestError, "nobody"),
        ({"opponents": {1: 5}}, TypeError, r"opponents\[1\]"),
        ({"opponents": {2: "random"}}, ValueError, "no seat 2"),
        ({"opponents": {"one": "random"}}, TypeError, r"opponents\['one'\]: want a number as the weight"),
        ({"opponents": {0: "random", 1: "random"}}, ValueError, "at least one seat"),
        ({"opponents": {1: "exec:rm"}}, blockyard.RequestError, "trust-specs"),
        ({"autoreset_mode": "Sometimes"}, ValueError, "Sometimes"),
        ({"opponents": [None, "hand"]}, TypeError, r"want a spec such as 'hand'.*got \[None, 'hand'\]"),
        ({"opponents": 7}, TypeError, "got 7"),
        ({"game": "BlockBatle-v0"}, blockyard.UnknownGameError, "there are blockbattle"),
        ({"game": "blockyard/BlockBatle-v0"}, blockyard.UnknownGameError, "there are blockbattle"),
        ({"num_envs": 2.5}, TypeError, "num_envs: want an integer, got 2.5"),
        ({"num_envs": "2"}, TypeError, "num_envs: want an integer, got '2'"),
        ({"seats": 0}, ValueError, "seats: want at least 1, got 0"),
        ({"timeout": "long"}, ValueError, "timeout: want a positive number of seconds, got 'long'"),
        ({"address": 5}, TypeError, "address: want None.*got 5"),
        ({"seats": "two"}, TypeError, "seats: want an integer, got 'two'"),
        ({"max_episode_steps": 1.5}, TypeError, "max_episode_steps: want an integer, got 1.5"),
        ({"autoreset_mode": 3}, ValueError, r"autoreset_mode 3: want one of \['NextStep', 'SameStep', 'Disabled'\]"),
        ({"rows": "game"}, ValueError, r"rows 'game': want one of \['seat', 'acting'\]"),
        ({"reward": "praise"}, ValueError, r"reward 'praise': want one of \['result', 'score', 'shaped'\]"),
        ({"illegal": "shrug"}, ValueError, r"illegal 'shrug': want one of \['penalty', 'random', 'error'\]"),
        ({"max_episode_steps": -1}, blockyard.RequestError, "step"),
        ({"render_mode": "hologram"}, ValueError, "hologram"),
        ({"copy": False, "slots": 1}, ValueError, "slots"),
        ({"timeout": 0}, ValueError, "timeout"),
        ({"address": "pigeon:coop"}, ValueError, "unix:PATH"),
        ({"address": "tcp:localhost"}, ValueError, "tcp:HOST:PORT"),
        ({"address": "unix:/nowhere/s.sock"}, blockyard.ServerGoneError, "/nowhere/s.sock"),
        ({"address": "tcp:127.0.0.1:1"}, blockyard.ServerGoneError, "127.0.0.1:1"),
    ],
)
def test_make_vec(server: Server, kwargs, error, what):
    with pytest.raises(error, match=what) as caught:
        blockyard.make_vec(**{"game": GAME, "num_envs": 2, "address": server.unix} | kwargs)
    assert "\n" not in str(caught.value)


def test_ids_with_and_without_the_namespace(server: Server):
    for name in ("BlockBattle-v0", "blockyard/BlockBattle-v0", "blockyard:blockyard/BlockBattle-v0", "blockbattle"):
        with blockyard.make_vec(name, address=server.unix) as env:
            assert env.game_spec.id == "BlockBattle-v0"


def test_illegal_actions_change_nothing(env):
    legal = env.legal_actions()
    good = np.array([legal[i][0] for i in range(4)])
    bad = good.copy()
    bad[2] = 1600
    before = env.snapshot()
    said = r"step: illegal action 1600 \(skip\) in environment 2, seat 0: choose from infos\[.action_mask.\], or pass"
    with pytest.raises(blockyard.IllegalActionError, match=said) as caught:
        env.step(bad)
    assert caught.value.env_ids == [2]
    assert caught.value.data["action"] == 1600
    assert caught.value.code == 400
    assert isinstance(caught.value, ValueError)
    np.testing.assert_array_equal(env.snapshot(), before)
    env.step(good)


@pytest.mark.parametrize(
    ("actions", "error", "what"),
    [
        ([0, 0, 0], ValueError, r"shape \(4,\)"),
        (5, ValueError, r"shape \(4,\)"),
        ([0.0, 1.0, 2.0, 3.0], TypeError, "integers"),
        (["a"] * 4, TypeError, "integers"),
        ([0, 0, 70000, 0], ValueError, r"actions\[2\]: 70000"),
        ([0, -1, 0, 0], ValueError, r"actions\[1\]: -1"),
        ([1601] * 4, blockyard.IllegalActionError, "1601"),
        ([0, 0, 0, 65535], blockyard.IllegalActionError, r"actions\[3\]: 65535"),
    ],
)
def test_actions_that_make_no_sense(env, actions, error, what):
    with pytest.raises(error, match=what):
        env.step(actions)
    env.step(env.sample_actions(np.random.default_rng(0)))


def test_needs_reset(server: Server):
    with blockyard.make_vec(GAME, 3, address=server.unix, autoreset_mode="Disabled", max_episode_steps=2) as env:
        with pytest.raises(blockyard.NeedsResetError):
            _ = env.action_masks
        with pytest.raises(blockyard.NeedsResetError) as caught:
            env.step([0, 0, 0])
        assert caught.value.env_ids == [0, 1, 2]
        with pytest.raises(blockyard.NeedsResetError):
            env.legal_actions()
        env.reset(seed=1)
        advance(env, 2, 0)
        env.reset(options={"reset_mask": np.array([True, False, True])})
        with pytest.raises(blockyard.NeedsResetError) as caught:
            env.step([0, 0, 0])
        assert caught.value.env_ids == [1]


def test_single(server: Server, closing):
    with pytest.raises(ValueError, match=r"2 seats have none.*make_vec"):
        blockyard.make(GAME, address=server.unix, opponents=None)
    env = closing(blockyard.make(GAME, address=server.unix))
    with pytest.raises(blockyard.NeedsResetError):
        env.step(0)
    env.reset(seed=1)
    info = env.step(1600)[4]
    assert (info["illegal"], info["acting"]) == (True, True)
    with pytest.raises(TypeError):
        env.step(0.5)
    with pytest.raises(ValueError, match="options"):
        env.reset(options={"x": 1})
    state = env.snapshot()
    obs, info = env.restore(state)
    assert env.observation_space.contains(obs)
    np.testing.assert_array_equal(np.flatnonzero(env.action_masks()), env.legal_actions())
    assert len(env.afterstates()) == info["action_mask"].sum()
    env.close()  # once more at the end


def test_closed(server: Server):
    env = blockyard.make_vec(GAME, 2, address=server.unix)
    env.reset()
    env.close()
    env.close()
    for use in (env.reset, lambda: env.step([0, 0]), env.legal_actions, env.snapshot):
        with pytest.raises(blockyard.BlockyardError, match="closed"):
            use()


def test_tokens(program, monkeypatch):
    monkeypatch.setenv("BLOCKYARD_TOKEN", "sesame")
    with mortals(program, "tcp:127.0.0.1:0") as (a,):
        monkeypatch.delenv("BLOCKYARD_TOKEN")
        for token in (None, "open"):
            with pytest.raises(blockyard.AuthError, match="token"):
                blockyard.connect(a.address, token=token)
        with blockyard.connect(a.address, token="sesame") as client:
            client.ping()


def test_errors_from_the_wire():
    error = from_wire(
        {"code": 500, "name": "busy", "msg": "16 under way", "data": {"limit": 16}, "retry_after_ms": 5}, "step"
    )
    assert type(error) is blockyard.BusyError
    assert error.retry_after_ms == 5
    assert error.data == {"limit": 16}
    assert str(error) == "step: 16 under way"
    again = pickle.loads(pickle.dumps(error))
    assert (type(again), str(again), again.data, again.code) == (type(error), str(error), error.data, 500)
    future = from_wire({"code": 399, "name": "bad_mood", "msg": "no"}, "open")
    assert type(future) is blockyard.RequestError
    assert future.name == "bad_mood"
    for nonsense in (None, 7, "x", {}, {"code": "x"}, {"code": None}):
        assert isinstance(from_wire(nonsense, "open"), blockyard.ProtocolError)
    assert issubclass(blockyard.ServerTimeoutError, TimeoutError)
    assert issubclass(blockyard.ServerGoneError, ConnectionError)
    assert str(pickle.loads(pickle.dumps(blockyard.ServerGoneError("a")))) == "a"


@pytest.mark.parametrize(
    ("adapter", "library"),
    [("pettingzoo", "pettingzoo"), ("rllib", "ray"), ("sb3", "stable_baselines3"), ("torchrl", "torchrl")],
)
def test_adapters_say_what_to_install(monkeypatch, adapter, library):
    monkeypatch.setitem(sys.modules, library, None)
    monkeypatch.delitem(sys.modules, f"blockyard.{adapter}", raising=False)
    with pytest.raises(ImportError, match=rf"blockyard\.{adapter} needs .*: pip install 'blockyard\[{adapter}\]'"):
        importlib.import_module(f"blockyard.{adapter}")
