"""PettingZoo's own tests, with warnings as errors, and what they do not cover."""

from __future__ import annotations

import warnings
from functools import partial
from types import SimpleNamespace

import numpy as np
import pytest
from conftest import Server, assert_same
from pettingzoo.test import (
    api_test,
    max_cycles_test,
    parallel_api_test,
    parallel_seed_test,
    render_test,
    seed_test,
)

import blockyard
from blockyard.pettingzoo import aec_env, parallel_env


def several_seats() -> list[tuple[str, int]]:
    """Return every game of several seats, with its smallest and largest number of seats."""
    with blockyard.connect() as client:
        facts = [client.describe(game["id"]) for game in client.games() if game["id"] in blockyard.ENV_IDS]
    return [(f.id, seats) for f in facts if f.max_seats > 1 for seats in sorted({max(2, f.min_seats), f.max_seats})]


@pytest.fixture(params=several_seats(), ids=lambda p: f"{p[0]}x{p[1]}")
def make(request: pytest.FixtureRequest, server: Server):
    """Return a constructor of a game with default arguments; warnings are errors."""
    game, seats = request.param

    def open_(kind, **kwargs):
        return kind(game, **{"seats": seats, "address": server.unix} | kwargs)

    with warnings.catch_warnings():
        warnings.simplefilter("error")
        yield open_


@pytest.mark.parametrize("cycles", [30, 1000])
def test_aec_api(make, cycles):
    api_test(make(aec_env), num_cycles=cycles)


def test_parallel_api(make):
    parallel_api_test(make(parallel_env))


def test_seeds(make):
    seed_test(lambda: make(aec_env))
    parallel_seed_test(lambda: make(parallel_env))


def test_max_cycles(make):
    """This test ignores masks and counts on games that go on nevertheless.

    It also counts on agents that act in every cycle. One game of Blocking in some hundred blocks an agent before its
    fourth action, so that others act more often: its seed and those of the actions are fixed.
    """

    def seeded(kind, **kwargs):
        env = make(kind, illegal="random", seed=1, **kwargs)
        for agent in env.possible_agents:
            env.action_space(agent).seed(1)
        return env

    max_cycles_test(SimpleNamespace(env=partial(seeded, aec_env), parallel_env=partial(seeded, parallel_env)))


def test_renders(make, capsys):
    render_test(lambda **k: make(aec_env, **k), custom_tests={"human": lambda r: r is None})
    assert capsys.readouterr().out


@pytest.mark.parametrize("observation", ["flat", "masked", "planes"])
def test_whole_games(make, observation):
    """Agents that act one by one and at the same time get the same rewards, scores and observations."""
    one, all_ = (
        make(kind, observation=observation, illegal="error", reward="score") for kind in (aec_env, parallel_env)
    )
    rng = np.random.default_rng(0)
    for seed in (3, None):
        one.reset(seed=seed)
        obs, infos = all_.reset(seed=seed)
        totals = dict.fromkeys(all_.agents, 0.0)
        while all_.agents:
            actions = {}
            for agent in all_.agents:
                assert all_.observation_space(agent).contains(obs[agent])
                mask = infos[agent]["action_mask"]
                actions[agent] = int(rng.choice(np.flatnonzero(mask))) if infos[agent]["acting"] else None
            for agent in [a for a in all_.agents if actions[a] is not None]:
                assert one.agent_selection == agent
                seen, *_, info = one.last()
                assert_same(seen, obs[agent])
                assert_same(info, infos[agent])
                one.step(actions[agent])
            obs, rewards, terminations, truncations, infos = all_.step(actions)
            for agent, reward in rewards.items():
                totals[agent] += reward
                assert one.rewards[agent] == reward
                assert type(terminations[agent]) is bool
                assert one.terminations[agent] is terminations[agent]
                assert one.truncations[agent] is truncations[agent]
                assert_same(one.observe(agent), obs[agent])
        assert totals == {agent: float(info["score"]) for agent, info in infos.items()}
        while one.agents:
            one.step(None)
    one.close()
    all_.close()


def test_infos_name_the_opponents(server: Server, closing):
    """By spec: the one that was drawn for the episode; a list if the server plays several seats."""
    env = closing(parallel_env("BlockBattle-v0", opponents={1: {"first": 1, "random": 1}}, address=server.unix))
    drawn = []
    for seed in range(20):
        _, infos = env.reset(seed=seed)
        drawn.append(infos["player_0"]["opponent"])
        with blockyard.make("BlockBattle-v0", opponents={"first": 1, "random": 1}, address=server.unix) as one:
            assert one.opponent_specs[one.reset(seed=seed)[1]["opponent"]] == drawn[-1]
    assert set(drawn) == {"first", "random"}
    env = closing(aec_env("Blocking-v0", seats=3, opponents={1: "first", 2: "random"}, address=server.unix))
    env.reset(seed=1)
    assert env.last()[4]["opponent"] == ["first", "random"]
    env = closing(aec_env("BlockBattle-v0", address=server.unix))
    env.reset(seed=1)
    assert "opponent" not in env.last()[4]


@pytest.mark.parametrize("kind", [aec_env, parallel_env])
def test_resumes_whatever_the_seed(server: Server, kind, closing):
    """The first reset of an environment with a checkpoint goes on with its game, also with a library's seed."""
    env = closing(kind("BlockBattle-v0", address=server.unix))
    env.reset(seed=1)
    chosen = {agent: int(env._info(agent)["action_mask"].argmax()) for agent in env.agents}
    if kind is parallel_env:
        env.step(chosen)
    else:
        for agent in chosen:
            env.step(chosen[agent])
    twin = closing(kind("BlockBattle-v0", address=server.unix, checkpoint=env.env.checkpoint()))
    twin.reset(seed=7)
    for agent in env.agents:
        np.testing.assert_array_equal(twin.observe(agent), env.observe(agent))
        assert twin.observe(agent).any(), agent
    fresh = closing(kind("BlockBattle-v0", address=server.unix))
    fresh.reset(seed=7)
    assert not np.array_equal(fresh.observe("player_0"), env.observe("player_0"))


def test_refusals(server: Server, closing):
    env = closing(aec_env("BlockBattle-v0", address=server.unix, illegal="error"))
    with pytest.raises(blockyard.NeedsResetError):
        env.step(0)
    env.reset(seed=1)
    illegal = int(np.flatnonzero(env.last()[4]["action_mask"] == 0)[0])
    for bad in (illegal, -1, 1601):
        with pytest.raises(blockyard.IllegalActionError, match=str(bad)):
            env.step(bad)
    with pytest.raises(TypeError, match="action of seat 0: want an integer, got None"):
        env.step(None)
    assert env.agent_selection == "player_0"
    both = closing(parallel_env("BlockBattle-v0", address=server.unix))
    _, infos = both.reset(seed=1)
    with pytest.raises(KeyError, match="player_1"):
        both.step({"player_0": int(infos["player_0"]["action_mask"].argmax())})
    for kwargs, says in (
        ({"observation": "rgb"}, "flat"),
        ({"max_cycles": 0}, "max_cycles"),
        ({"render_mode": "svg"}, "render_mode"),
    ):
        with pytest.raises(ValueError, match=says):
            aec_env("BlockBattle-v0", address=server.unix, **kwargs)
    with pytest.raises(TypeError, match="num_envs"):
        aec_env("BlockBattle-v0", address=server.unix, num_envs=3)


def test_illegal_actions_are_counted(server: Server, closing):
    """By default an illegal answer loses the duel, as in the contest; an action outside of the space is an error."""
    env = closing(aec_env("TetrisDuel-v0", address=server.unix))
    env.reset(seed=1)
    with pytest.raises(blockyard.IllegalActionError, match="600"):
        env.step(600)
    *_, info = env.last()
    assert info["acting"]
    env.step(int(np.flatnonzero(info["action_mask"] == 0)[0]))
    assert env.rewards == {"player_0": -1.0, "player_1": 1.0}
    assert env.infos["player_0"]["illegal"]
    assert not env.infos["player_1"]["illegal"]
    for info in env.infos.values():
        assert np.flatnonzero(info["action_mask"]).tolist() == [0]
        assert not info["acting"]


@pytest.mark.parametrize("game", blockyard.ENV_IDS)
def test_versions_are_gymnasiums(server: Server, game, closing):
    env = closing(parallel_env(game, address=server.unix))
    name, version = env.metadata["name"].rsplit("_", 1)
    assert version == game.rsplit("-", 1)[1]
    assert name == env.env.game_spec.name.replace(":", "_")
