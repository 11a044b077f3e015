"""States: what one kind of environment returns, every other kind of the same game and seats restores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from conftest import Server, first, last
from numpy.typing import NDArray

import blockyard

GAMES = ["TetrisDuel-v0", "BlockBattle-v0"]


KINDS: dict[str, dict[str, Any]] = {
    "an agent": {"opponents": "random"},
    "a mixture": {"opponents": {"random": 1, "hand:ply=1": 2}},
    "a policy": {"opponents": first},
    "policies and agents": {"opponents": {"random": 1, first: 1, last: 1}},
    "a policy on compact rows": {"opponents": last, "rows": "acting"},
    "a policy in the first seat": {"opponents": {0: last}},
    "a policy in this process": {"opponents": {"random": 1, last: 1}, "transport": "inproc"},
    "a policy on two servers": {"opponents": {"first": 1, last: 1}, "address": "both"},
    "a curriculum": {"opponents": "curriculum"},
    "every seat": {"opponents": None},
    "compact rows": {"opponents": None, "rows": "acting"},
    "the second seat": {"opponents": {0: "random"}},
    "shaped rewards": {"reward": "shaped", "autoreset_mode": "Disabled"},
    "packed boards": {"packed": True, "autoreset_mode": "NextStep"},
    "this process": {"transport": "inproc"},
    "a socket": {"transport": "socket"},
    "healing": {"opponents": first, "heal": True},
    "two servers": {"address": "both"},
    "a pool": {"opponents": {"random": 1, first: 1}},
}


@pytest.fixture(scope="module", params=GAMES)
def envs(request: pytest.FixtureRequest, server: Server) -> Iterator[dict[str, list[Any]]]:
    """Yield environments of four games by their kind; those of a pool, and of nothing else, are several."""
    with ExitStack() as stack:
        made: dict[str, list[Any]] = {}
        for k, (kind, given) in enumerate(KINDS.items()):
            how = {"address": server.unix, "seed": 10 * k} | given
            if how.get("transport") == "inproc":
                del how["address"]
            if how.get("address") == "both":
                how["address"] = [server.unix, server.tcp]
            if kind == "a pool":
                how["address"] = [server.unix, server.tcp]
                pool = stack.enter_context(blockyard.BlockPool(request.param, 4, 4, **how))
                pool.async_reset()
                pool.recv()
                made[kind] = pool.envs
            else:
                made[kind] = [stack.enter_context(blockyard.make_vec(request.param, 4, **how))]
                made[kind][0].reset()
                for _ in range(4):
                    made[kind][0].step(made[kind][0].sample_actions(np.random.default_rng(k)))
        yield made


def states_of(parts: list[Any]) -> NDArray[np.uint8]:
    return np.concatenate([env.snapshot() for env in parts])


def restore(parts: list[Any], states: NDArray[np.uint8]) -> None:
    at = 0
    for env in parts:
        env.restore(states[at : at + env.num_games])
        at += env.num_games


@pytest.mark.parametrize("into", KINDS)
def test_every_kind_restores_those_of_every_other(envs: dict[str, list[Any]], into: str):
    """There they show the same boards and scores, and what is saved there restores what was here, byte for byte."""
    other, in_turn = envs[into], envs[into][0].game_spec.turn == "alternating"
    for kind, parts in envs.items():
        states = states_of(parts)
        restore(other, states)
        if not in_turn or set(parts[0].players) <= set(other[0].players):  # else an agent may play on at once
            scores = np.concatenate([env.scores for env in parts])
            np.testing.assert_array_equal(np.concatenate([env.scores for env in other]), scores, err_msg=kind)
            assert other[0].picture(0, "text") == parts[0].picture(0, "text"), kind
            back = states_of(other)
            restore(parts, back)
            np.testing.assert_array_equal(states_of(parts), states, err_msg=kind)
        if into != "a pool":
            other[0].step(other[0].sample_actions(np.random.default_rng(1)))


@pytest.mark.parametrize("into", [kind for kind in KINDS if kind != "a pool"])
def test_a_reset_begins_with_states(envs: dict[str, list[Any]], into: str):
    """Each game begins with its state, as an array or bytes, or anew where there is none; a mask chooses among them."""
    env = envs[into][0]
    env.reset(seed=9)
    env.step(env.sample_actions(np.random.default_rng(2)))
    states = env.snapshot()
    _, infos = env.reset(seed=5, options={"state": [states[0], None, states[2].tobytes(), None]})
    assert infos["_score"].all()
    got = env.snapshot()
    np.testing.assert_array_equal(got[[0, 2]], states[[0, 2]])
    env.reset(seed=5)
    np.testing.assert_array_equal(env.snapshot()[[1, 3]], got[[1, 3]])
    games = np.array([True, True, False, False])
    rows = games.repeat(env.rows_per_game)
    before = env.snapshot()
    obs, infos = env.reset(options={"state": states, "reset_mask": rows})
    np.testing.assert_array_equal(infos["_score"], rows)
    np.testing.assert_array_equal(env.snapshot(), np.where(games[:, None], states, before))
    again, _ = env.restore(env.snapshot())
    for name in obs:
        np.testing.assert_array_equal(obs[name], again[name])
    env.step(env.sample_actions(np.random.default_rng(1)))


def test_states_of_a_reset_are_checked(envs: dict[str, list[Any]], server: Server):
    """A wrong number, type or length is refused before a game begins; other bytes are no state of the game."""
    env = envs["this process"][0]
    state, n = env.snapshot()[0], env.num_games
    for wrong, says in [
        ([state] * (n + 1), "got 5 states for 4 games"),
        ([state[:-1], *[None] * (n - 1)], r"\['state'\]\[0\]: want uint8"),
        ([None, state.astype(int), None, None], r"\['state'\]\[1\]: want uint8"),
        ([None, b"BYS", None, None], r"\['state'\]\[1\]: want uint8"),
    ]:
        before = env.snapshot()
        with pytest.raises(ValueError, match=says):
            env.reset(options={"state": wrong})
        np.testing.assert_array_equal(env.snapshot(), before)
    with pytest.raises(blockyard.BadStateError, match="no state"):
        env.reset(options={"state": [np.zeros_like(state), None, None, None]})
    with pytest.raises(ValueError, match="the options are 'reset_mask' and 'state'"):
        env.reset(options={"states": [None] * n})
    with blockyard.make(env.game_spec.id, address=server.unix) as single:
        single.reset(seed=1)
        other = env.snapshot()[1]
        obs, infos = single.reset(options={"state": other})
        np.testing.assert_array_equal(single.snapshot(), other)
        assert infos["action_mask"].any()
        assert obs["globals"].shape == single.observation_space["globals"].shape
        _, _, terminated, _, _ = single.step(int(single.legal_actions()[0]))
        assert terminated in (True, False)
        with pytest.raises(ValueError, match="the only option is 'state'"):
            single.reset(options={"reset_mask": True})
