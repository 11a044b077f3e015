"""Actions and observations as text, in every game."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import GAME

import blockyard


@pytest.mark.parametrize("game", blockyard.ENV_IDS)
def test_parse_is_the_inverse_of_text(server, game):
    with blockyard.make_vec(game, 1, address=server.unix) as env:
        every = np.arange(env.single_action_space.n)
        texts = env.text(every)
        assert len(set(texts)) == len(every)
        np.testing.assert_array_equal(env.parse(texts), every)
        assert env.parse(texts).dtype == np.int64
        assert env.parse(env.text(7)) == 7
        assert env.text(np.int64(7)) == texts[7]
        with pytest.raises(
            blockyard.RequestError, match=r'"to the left" is no action of .*: want a text such as "'
        ) as no:
            env.parse(["to the left"])
        example = str(no.value).rpartition('such as "')[2].rstrip('"')
        assert example in texts


def test_what_is_no_text(server):
    with blockyard.connect(server.unix) as client, client.make(GAME) as env:
        assert client.text(GAME, []) == []
        assert client.parse(GAME, []).shape == (0,)
        assert client.parse(GAME, [env.text(5)] * 2500).tolist() == [5] * 2500
        assert env.parse(env.text(1600)) == 1600
        for wrong in (None, 3, ["r0 x0 y0", 3]):
            with pytest.raises(TypeError):
                client.parse(GAME, wrong)
        for wrong in ("r2", 0.5, [[1]], None):
            with pytest.raises(TypeError, match="want an integer or a list of integers"):
                client.text(GAME, wrong)
        for wrong in (-1, 1601, 1 << 40):
            with pytest.raises(blockyard.RequestError, match=str(wrong)):
                client.text(GAME, wrong)


@pytest.mark.parametrize("game", blockyard.ENV_IDS)
def test_a_policy_that_reads_and_writes_text(server, game):
    """Plays by text alone: what a text lists as legal is exactly what the mask allows, and can be played."""
    with blockyard.make(game, address=server.unix, illegal="error") as env:
        env.reset(seed=4)
        for _ in range(6):
            text = env.observation_text()
            assert "\x1b" not in text
            assert text.startswith(f"{game}: ")
            listed = text.rpartition(" legal actions: ")[2].strip().split("; ")
            assert np.flatnonzero(env.action_masks()).tolist() == [env.parse(t) for t in listed]
            assert "legal actions" not in env.observation_text(legal=False)
            _, _, terminated, truncated, _ = env.step(env.parse(listed[-1]))
            if terminated or truncated:
                assert "The game is over." in env.observation_text()
                break


def test_every_row_has_its_own(server):
    where = [server.unix, server.tcp]
    with blockyard.make_vec("TetrisDuel-v0", 3, opponents=None, address=where, seed=1) as env:
        with pytest.raises(blockyard.NeedsResetError):
            env.observation_texts()
        env.reset()
        texts = env.observation_texts()
        assert len(texts) == 6
        assert env.call("observation_text") == tuple(texts)
        for row, text in enumerate(texts):
            assert f"you are the {('first', 'second')[row % 2]} of 2 players" in text
            assert ("It is your turn." in text) == env.acting[row] == (" legal actions: " in text)
            assert "now and next:" in text
        assert env.observation_texts([2]) == texts[4:]
