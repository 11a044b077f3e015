"""Libraries that step games in their own process: they see what they see over other transports."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import torch
from conftest import assert_same
from ray.rllib.env.single_agent_env_runner import SingleAgentEnvRunner
from sb3_contrib import MaskablePPO
from torchrl.envs import ActionMask, TransformedEnv, check_env_specs

import blockyard
from blockyard.rllib import ppo_config
from blockyard.sb3 import SB3VecEnv
from blockyard.torchrl import BlockEnv

ROADS = ["inproc", "process"]


def test_stable_baselines3():
    """A training gives the same weights."""
    weights = []
    for road in ROADS:
        env = SB3VecEnv("BlockBattle-v0", 4, transport=road, seed=3, max_episode_steps=9)
        assert (env.env.transport == "inproc") == (road == "inproc")
        ppo = MaskablePPO("MultiInputPolicy", env, n_steps=16, batch_size=32, n_epochs=1, seed=1, device="cpu")
        weights.append(torch.cat([p.detach().flatten() for p in ppo.learn(128).policy.parameters()]))
        env.close()
    assert torch.equal(*weights)


def test_torchrl():
    played = []
    for road in ROADS:
        base = BlockEnv("BlockBattle-v0", 3, transport=road, seed=1, max_episode_steps=9)
        assert (base.env.transport == "inproc") == (road == "inproc")
        env = TransformedEnv(base, ActionMask())
        check_env_specs(env)
        torch.manual_seed(0)
        env.set_seed(5)
        played.append(env.rollout(40, break_when_any_done=False))
        env.close()
    assert (played[0] == played[1]).all()
    assert played[0]["next", "done"].sum() >= 12


def test_rllib():
    """What an env runner samples."""
    sampled = []
    for road in ROADS:
        options = {"transport": road, "num_envs_per_env_runner": 4, "max_episode_steps": 9, "seed": 5}
        runner = SingleAgentEnvRunner(config=ppo_config("BlockBattle-v0", **options).debugging(seed=1))
        assert (runner.env.unwrapped.transport == "inproc") == (road == "inproc")
        episodes = runner.sample(num_timesteps=80)
        sampled.append([(e.get_observations(), e.get_actions(), e.get_rewards()) for e in episodes])
        runner.stop()
    assert_same(*sampled)
    assert len(sampled[0]) >= 8


def test_pytest_xdist(tmp_path: Path):
    """Each worker has a library of its own."""
    (tmp_path / "test_games.py").write_text("""
import blockyard, pytest

@pytest.fixture(scope="module")
def env():
    with blockyard.make_vec("WinTetris-v0", 2, transport="inproc") as env:
        yield env

@pytest.mark.parametrize("seed", range(8))
def test_step(env, seed):
    env.reset(seed=seed)
    for _ in range(20):
        env.step([0, 0])
    assert env.transport == "inproc"
""")
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-n", "2", "-p", "no:cacheprovider", "test_games.py"],
        cwd=tmp_path, env=os.environ, capture_output=True, text=True, timeout=300, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout + done.stderr
    assert "8 passed" in done.stdout
    assert "2 workers" in done.stdout
    assert blockyard.connect("inproc:").stats()["envs"] == 0, "nor does this process have theirs"
