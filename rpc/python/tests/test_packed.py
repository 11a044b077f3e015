"""Packed boards."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import MODES, assert_same, copied, pairs, play

import blockyard


@pytest.mark.parametrize(
    ("game", "mode", "transport"),
    pairs([(game, mode) for game in blockyard.ENV_IDS for mode in MODES], ["auto", "socket"]),
)
def test_packed_says_the_same(server, game, transport, mode):
    kwargs = {"autoreset_mode": mode, "max_episode_steps": 12, "address": server.unix, "transport": transport}
    with (
        blockyard.make_vec(game, 3, **kwargs) as plain,
        blockyard.make_vec(game, 3, packed=True, **kwargs) as packed,
    ):
        assert packed.single_observation_space["bits"].shape == (packed.game_spec.packed_len,)
        for a, b in zip(play(plain, 40), play(packed, 40), strict=True):
            infos = b[-1]
            assert packed.observation_space.contains(b[0])
            np.testing.assert_array_equal(packed.unpack(b[0]["bits"]), a[0]["planes"])
            np.testing.assert_array_equal(b[0]["globals"], a[0]["globals"])
            for x, y in zip(a[1:-1], b[1:-1], strict=True):
                assert_same(x, y)
            for one, other in zip(a[-1].get("final_obs", ()), infos.get("final_obs", ()), strict=True):
                assert (one is None) == (other is None)
                if one is not None:
                    np.testing.assert_array_equal(packed.unpack(other["bits"]), one["planes"])


@pytest.mark.parametrize("game", blockyard.ENV_IDS)
def test_pack_and_unpack(server, game):
    with blockyard.connect(server.unix) as client:
        facts = client.describe(game)
    planes = np.random.default_rng(0).integers(0, facts.planes_high + 1, (5, 2, *facts.planes_shape)).astype(np.uint8)
    bits = blockyard.pack(planes, facts)
    assert bits.shape == (5, 2, facts.packed_len)
    np.testing.assert_array_equal(blockyard.unpack(bits, facts), planes)
    assert_same(copied(bits[0]), copied(blockyard.pack(planes[0], facts)))


def test_a_server_that_cannot_share(server, monkeypatch):
    with blockyard.connect(server.unix) as client:
        monkeypatch.setattr(client, "features", ())
        with pytest.raises(blockyard.RequestError, match="cannot share memory; pass transport='socket'"):
            client.make_vec("BlockBattle-v0", 2, transport="shm")
        with client.make_vec("BlockBattle-v0", 2) as env:
            assert env.transport == "socket"
            env.reset()
            assert env.rollout(3, "hand").steps == 3
