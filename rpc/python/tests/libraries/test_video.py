"""Gymnasium's own wrappers record and display every form of vector environment."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import Server, first
from gymnasium.wrappers.vector import HumanRendering, RecordVideo

import blockyard


@pytest.mark.parametrize("opponents", ["random", None, first])
def test_wrappers(server: Server, tmp_path, opponents, monkeypatch):
    for library in ("moviepy", "pygame", "cv2"):
        pytest.importorskip(library)
    monkeypatch.setenv("SDL_VIDEODRIVER", "dummy")
    how = {"render_mode": "rgb_array", "seed": 1, "opponents": opponents, "address": server.unix}
    rng = np.random.default_rng(0)
    with blockyard.make_vec("BlockBattle-v0", 4, **how) as games:
        env = RecordVideo(games, str(tmp_path), episode_trigger=lambda k: k == 0)
        env.reset(seed=1)
        for _ in range(40):
            env.step(games.sample_actions(rng))
        env.close()
    assert [p.name for p in tmp_path.iterdir()] == ["rl-video-episode-0.mp4"]
    with blockyard.make_vec("BlockBattle-v0", 3, **how) as games:
        shown = HumanRendering(games)
        shown.reset(seed=1)
        shown.step(games.sample_actions(rng))
        shown.close()
