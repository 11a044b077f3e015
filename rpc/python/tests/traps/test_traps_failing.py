"""A call that fails changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import GAME, Server

import blockyard
from blockyard.transport import library

FAILING = {
    "illegal": lambda env: env.step((~env.action_masks).argmax(1)),
    "floats": lambda env: env.step(np.zeros(4)),
    "async": lambda env: (env.step_async((~env.action_masks).argmax(1)), env.step_wait()),
    "restore": lambda env: env.restore(np.zeros_like(env.snapshot())),
    "clone": lambda env: env.clone([0], [99]),
    "reset": lambda env: env.reset(seed=-1),
}


@pytest.mark.parametrize("transport", ["shm", "socket", "inproc"])
@pytest.mark.parametrize("fail", FAILING.values(), ids=FAILING)
def test_a_call_that_fails_uses_no_memory(server: Server, transport, fail):
    """With copy=False the arrays of the last two steps stay as they are."""
    how = {"copy": False, "slots": 2, "illegal": "error", "seed": 1, "transport": transport}
    if transport != "inproc":
        how["address"] = server.unix
    elif not library.available():
        pytest.skip("this installation has no library")
    with blockyard.make_vec(GAME, 4, **how) as env:
        rng = np.random.default_rng(0)
        env.reset()
        older = env.step(env.sample_actions(rng))
        last = env.step(env.sample_actions(rng))
        kept = [{k: v.copy() for k, v in obs.items()} for obs in (older[0], last[0])]
        for _ in range(3):
            with pytest.raises((blockyard.BlockyardError, TypeError, ValueError)):
                fail(env)
        assert older[4]["action_mask"].any()
        np.testing.assert_array_equal(last[4]["action_mask"], env.action_masks)
        assert env.acting.all()
        for obs, copies in zip((older[0], last[0]), kept, strict=True):
            for name, array in copies.items():
                np.testing.assert_array_equal(obs[name], array)
        following = env.step(env.sample_actions(rng))[0]
        assert not np.shares_memory(last[0]["planes"], following["planes"])
        np.testing.assert_array_equal(last[0]["planes"], kept[1]["planes"])
