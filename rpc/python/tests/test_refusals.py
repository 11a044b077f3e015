"""Which features refuse each other: a list that may only get shorter."""

from __future__ import annotations

from contextlib import ExitStack
from itertools import combinations
from pathlib import Path

from conftest import Server

import blockyard
from blockyard.pettingzoo import aec_env

GAME = "TetrisDuel-v0"
KNOWN = Path(__file__).with_name("refusals.txt")


def lowest(obs, mask):
    return mask.argmax(1)


# Options of make_vec; those without any are other forms of an environment, or methods.
FEATURES = {
    "policies": {"opponents": lowest},
    "curriculum": {"opponents": "curriculum"},
    "acting rows": {"rows": "acting"},
    "heal": {"heal": True},
    "inproc": {"transport": "inproc"},
    "shaped": {"reward": "shaped"},
    "connect": {},
    "pool": {},
    "rollout": {},
    "checkpoint": {},
}
PAIRS = [
    pair
    for pair in combinations(FEATURES, 2)
    if pair not in (("policies", "curriculum"), ("inproc", "connect"), ("connect", "pool"), ("pool", "rollout"))
]


def play(server: Server, pair: tuple[str, str]) -> None:
    """Play a little with both; raise what refuses them."""
    options = {**FEATURES[pair[0]], **FEATURES[pair[1]]}
    with ExitStack() as stack:
        if "inproc" not in pair and "connect" not in pair:
            options["address"] = server.unix
        if "pool" in pair:
            pool = stack.enter_context(blockyard.BlockPool(GAME, 4, 2, **options))
            pool.async_reset()
            batch = pool.recv(min_envs=4)
            pool.send(batch.action_masks.argmax(1), batch.env_ids)
            pool.recv(min_envs=4)
            env = pool
        else:
            make = blockyard.make_vec
            if "connect" in pair:
                make = stack.enter_context(blockyard.connect(server.unix)).make_vec
            env = stack.enter_context(make(GAME, 4, **options))
            env.reset(seed=1)
            env.step(env.action_masks.argmax(1))
        if "rollout" in pair:
            env.rollout(2)
        if "checkpoint" in pair:
            env.restore_checkpoint(env.checkpoint())


def refusal(server: Server, pair: tuple[str, str]) -> str | None:
    try:
        play(server, pair)
    except (blockyard.BlockyardError, ValueError, TypeError) as error:
        return f"{' with '.join(pair)}: {type(error).__name__}"
    return None


def test_refusals(server: Server):
    found = [line for pair in PAIRS if (line := refusal(server, pair)) is not None]
    assert sorted(found) == KNOWN.read_text(encoding="utf-8").splitlines()
    aec_env(GAME, seats=2, opponents={1: lowest}, address=server.unix).close()
