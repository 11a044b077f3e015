"""The last observations of games that ended: more of them than fit into one message."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from conftest import Server

import blockyard

GAMES = 4096
OPTIONS: dict[str, Any] = {
    "seats": 4, "opponents": None, "max_episode_steps": 1, "illegal": "random", "seed": 3, "autoreset_mode": "SameStep",
}  # fmt: skip


def all_end(env: blockyard.BlockVectorEnv) -> Any:
    """Let all games end in one step; return the last observations of all rows."""
    env.reset()
    return env.step(np.zeros(env.num_envs, np.int64))[-1]["final_obs"]


def test_more_than_fits_into_one_message(server: Server):
    """4,096 games with boards as observations: over TCP, over shared memory and over two servers."""
    finals = []
    for address in server.tcp, server.unix, [server.tcp, server.unix]:
        with blockyard.make_vec("Blocking-v0", GAMES, address=address, **OPTIONS) as env:
            last = all_end(env)
            final = env.final()
        finals.append(final)
        np.testing.assert_array_equal(final.games, np.arange(GAMES))
        np.testing.assert_array_equal(np.stack([obs["planes"] for obs in last]), final.planes)
        np.testing.assert_array_equal(final.planes, finals[0].planes)
        np.testing.assert_array_equal(final.mask, finals[0].mask)
    assert finals[0].planes.nbytes + finals[0].mask.nbytes > 2 * (16 << 20)


def test_a_server_without_final_parts(server: Server, monkeypatch):
    """It responds with all games at once, or refuses if that exceeds one message."""
    with blockyard.connect(server.tcp) as client:
        monkeypatch.setattr(client, "features", tuple(f for f in client.features if f != "final_parts"))
        with client.make_vec("Blocking-v0", 8, **OPTIONS) as env:
            all_end(env)
            assert len(env.final().games) == 8
        with (
            client.make_vec("Blocking-v0", GAMES, **OPTIONS) as env,
            pytest.raises(blockyard.LimitError, match="max_reply"),
        ):
            all_end(env)
