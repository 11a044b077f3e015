"""States: what one kind of environment returns, every other kind of the same game and seats restores."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack
from typing import Any

import numpy as np
import pytest
from conftest import Server
from numpy.typing import NDArray

import blockyard

GAMES = ["TetrisDuel-v0", "BlockBattle-v0"]


def lowest(obs, mask):
    return mask.argmax(1)


def highest(obs, mask):
    return mask.shape[1] - 1 - mask[:, ::-1].argmax(1)


KINDS: dict[str, dict[str, Any]] = {
    "an agent": {"opponents": "random"},
    "a mixture": {"opponents": {"random": 1, "hand:ply=1": 2}},
    "a policy": {"opponents": lowest},
    "policies and agents": {"opponents": {"random": 1, lowest: 1, highest: 1}},
    "a curriculum": {"opponents": "curriculum"},
    "every seat": {"opponents": None},
    "compact rows": {"opponents": None, "rows": "acting"},
    "the second seat": {"opponents": {0: "random"}},
    "shaped rewards": {"reward": "shaped", "autoreset_mode": "Disabled"},
    "packed boards": {"packed": True, "autoreset_mode": "NextStep"},
    "this process": {"transport": "inproc"},
    "a socket": {"transport": "socket"},
    "healing": {"opponents": lowest, "heal": True},
    "two servers": {"address": "both"},
    "a pool": {"opponents": {"random": 1, lowest: 1}},
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
        if in_turn and not set(parts[0].players) <= set(other[0].players):
            continue  # it may be the turn of an agent there, which plays on at once
        states = states_of(parts)
        restore(other, states)
        scores = np.concatenate([env.scores for env in parts])
        np.testing.assert_array_equal(np.concatenate([env.scores for env in other]), scores, err_msg=kind)
        assert other[0].picture(0, "text") == parts[0].picture(0, "text"), kind
        back = states_of(other)
        restore(parts, back)
        np.testing.assert_array_equal(states_of(parts), states, err_msg=kind)
    if into != "a pool":
        other[0].step(other[0].sample_actions(np.random.default_rng(1)))
