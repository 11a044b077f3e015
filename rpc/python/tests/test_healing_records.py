"""Recordings go on when servers are killed: no game is lost, and none is recorded twice."""

from __future__ import annotations

import json

import numpy as np
import pytest
from conftest import Server, begun, random_actions
from test_recording import check, records

import blockyard


def lines(path):
    """The games of a file in any order: those that are replayed come in the order of their games."""
    return sorted(json.dumps(record) for record in records(path))


def record(path, address, hurt, mode, steps=120, **more):
    """Play and record; hurt before every seventh step, before fetching, and before the end."""
    rng = np.random.default_rng(1)
    options = {"autoreset_mode": mode, "opponents": {"random": 1, "first": 1}, "max_episode_steps": 11, "seed": 3}
    with begun("TetrisDuel-v0", 7, address=address, **options, **more) as env:
        for t in range(steps):
            if t == 10:
                hurt()
                env.record(path, every=2, players="me")
            if t % 7 == 0:
                hurt()
            _, _, terminated, truncated, _ = env.step(random_actions(env.action_masks, rng))
            if t % 25 == 24:
                env.recording.flush()
            if mode == "Disabled" and (ended := terminated | truncated).any():
                env.reset(options={"reset_mask": ended})
            if t == 60:
                env.reset(seed=3)
            if t == 80:
                env.rollout(20)
        hurt()
        done = env.stop_recording()
        assert done.state == "stopped"
        assert done.dropped == 0
        return done.games, done.interrupted


@pytest.mark.parametrize("mode", ["SameStep", "NextStep", "Disabled"])
def test_each_game_is_recorded_once(server: Server, two, tmp_path, datasets, mode):
    a, b = two
    want = record(tmp_path / "want", server.unix, lambda: None, mode)
    assert want[0] == check(datasets, tmp_path / "want") > 20
    assert record(tmp_path / "one", a.address, a.restart, mode, heal=True, snapshot_every=7) == want
    assert lines(tmp_path / "one") == lines(tmp_path / "want")
    both = [a.address, b.address]
    hurt = iter([a.kill, a.start, b.restart] * 100)
    assert record(tmp_path / "two", both, lambda: next(hurt)(), mode, heal=True, snapshot_every=7) == want
    assert lines(tmp_path / "two") == lines(tmp_path / "want")


def test_pools(server: Server, two, tmp_path):
    a, _ = two

    def play(path, address, hurt, **more):
        options = {"opponents": "random", "max_episode_steps": 8, "seed": 3, "address": address}
        with blockyard.BlockPool("TetrisDuel-v0", 6, 6, record={"path": path, "every": 1}, **options, **more) as pool:
            pool.async_reset()
            for t in range(60):
                batch = pool.recv(6, 6)
                if t % 7 == 0:
                    hurt()
                if t == 30:
                    pool.recording.flush()
                pool.send(batch.action_masks.argmax(1)[:3], batch.env_ids[:3])
                if t % 5 == 0:
                    hurt()
                pool.send(batch.action_masks.argmax(1)[3:], batch.env_ids[3:])
            pool.recv(6, 6)
            return pool.stop_recording().games

    want = play(tmp_path / "want", server.unix, lambda: None)
    assert play(tmp_path / "got", a.address, a.restart, heal=True, snapshot_every=5) == want > 20
    assert lines(tmp_path / "got") == lines(tmp_path / "want")
