"""Training with a library records the games of the training, while the environment belongs to the library."""

from __future__ import annotations

import gzip
import json

from sb3_contrib import MaskablePPO

from blockyard.sb3 import SB3VecEnv
from blockyard.torchrl import BlockEnv


def test_stable_baselines3(server, tmp_path):
    path = tmp_path / "games.jsonl.gz"
    record = {"path": path, "every": 5, "players": "my ppo"}
    env = SB3VecEnv("BlockBattle-v0", 16, address=server.unix, record=record)
    MaskablePPO("MultiInputPolicy", env, n_steps=32, batch_size=64, n_epochs=1).learn(16 * 64)
    env.close()
    games = [json.loads(line) for line in gzip.decompress(path.read_bytes()).splitlines()]
    assert len(games) == env.env.recording.games > 3
    assert games[0]["agents"] == ["my ppo", "random"]


def test_torchrl(server, tmp_path):
    path = tmp_path / "games.jsonl"
    env = BlockEnv("BlockBattle-v0", 4, address=server.unix, record={"path": path, "every": 2}, max_episode_steps=5)
    env.rollout(40, break_when_any_done=False)
    env.close()
    assert len(path.read_text().splitlines()) == env.env.recording.games > 5
