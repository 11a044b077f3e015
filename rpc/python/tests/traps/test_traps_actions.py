"""Actions that are no actions, and arguments that say nothing, are refused; actions are counted."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import GAME, Server, advance, begun

import blockyard
from blockyard.pettingzoo import aec_env


@pytest.mark.parametrize("mode", ["penalty", "random", "error"])
@pytest.mark.parametrize("dtype", [np.int64, np.uint16, np.int32, ">i4"])
def test_actions_outside_of_the_space(server: Server, mode, dtype):
    """They are refused in every mode, and no game is stepped; rows that wait may be given anything."""
    with begun("TetrisDuel-v0", 3, address=server.unix, illegal=mode, seed=1) as env:
        before = env.snapshot()
        for wrong in (env.game_spec.actions, 65535, -1 if np.dtype(dtype).kind == "i" else 60_000):
            actions = env.sample_actions(np.random.default_rng(0)).astype(dtype)
            actions[1] = wrong
            for step in (env.step, env.step_async):
                with pytest.raises(blockyard.IllegalActionError, match=rf"actions\[1\]: {wrong} is not an action"):
                    step(actions)
            np.testing.assert_array_equal(env.snapshot(), before)
        env.step(env.sample_actions(np.random.default_rng(0)))
    with blockyard.BlockPool("TetrisDuel-v0", 3, 3, address=server.unix, illegal=mode, seed=1) as pool:
        pool.async_reset()
        pool.recv()
        with pytest.raises(blockyard.IllegalActionError, match="65535 is not an action"):
            pool.send([0, 65535, 0])
        pool.send([0, 0, 0] if mode != "error" else pool.envs[0].sample_actions(np.random.default_rng(0)))
    with begun("BlockBattle-v0", 2, address=server.unix, opponents=None, seed=1, illegal=mode) as env:
        actions = env.sample_actions(np.random.default_rng(0))
        env.step(np.where(env.acting, actions, -1))
    one = blockyard.make("TetrisDuel-v0", address=server.unix, illegal=mode, seed=1)
    zoo = aec_env("TetrisDuel-v0", address=server.unix, illegal=mode, seed=1)
    for env in (one, zoo):
        env.reset()
        for wrong in (600, 65535, -1):
            with pytest.raises(blockyard.IllegalActionError, match=rf"{wrong}.* is not an action, want 0 <= action"):
                env.step(wrong)
        env.close()


def test_actions_are_counted_in_every_mode(server: Server):
    for mode in ("penalty", "random", "error"):
        with begun("BlockBattle-v0", 4, address=server.unix, illegal=mode, seed=1) as env:
            advance(env, 3)
            assert env.stats()["env"] == {"actions": 12, "illegal": 0}


def test_arguments_that_say_nothing(server: Server):
    with pytest.raises(ValueError, match=r"opponents: got \{\}"):
        blockyard.make_vec(GAME, address=server.unix, opponents={})
    with pytest.raises(ValueError, match="played by one seat"):
        blockyard.make_vec("WinTetris-v0", address=server.unix, opponents="hand")
    for opponents in (None, "random"):
        blockyard.make_vec("WinTetris-v0", address=server.unix, opponents=opponents).close()
