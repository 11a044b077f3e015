"""Training with default arguments learns these games: after a short run it is clearly better than a random policy."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
import torch
from sb3_contrib import MaskablePPO

from blockyard.sb3 import SB3VecEnv

EXAMPLES = Path(__file__).resolve().parents[2] / "examples"


@pytest.mark.parametrize(
    ("script", "args"),
    [
        pytest.param("ppo_selfplay.py", ["--updates", "16"], marks=pytest.mark.slow),
        pytest.param("sb3_selfplay.py", [], marks=pytest.mark.slow),
        pytest.param("pettingzoo_selfplay.py", [], marks=pytest.mark.slow),
    ],
)
def test_self_play_learns_the_duel(script, args, tmp_path):
    """Of self-play alone, in a game in turns, and without a line about turns but in the first script."""
    done = subprocess.run(
        [sys.executable, EXAMPLES / script, *args],
        env=os.environ | {"OMP_NUM_THREADS": "1"},
        capture_output=True,
        text=True,
        timeout=1800,
        cwd=tmp_path,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    print(done.stdout)
    score = float(re.search(r"score +([\d.]+) %", done.stdout)[1])
    assert score >= 95


def mean_return(game: str, reward: str, model: MaskablePPO | None, games: int = 200) -> tuple[float, float]:
    """Play this many games with seeds of their own; return the mean of their returns and its standard error."""
    env = SB3VecEnv(game, games, seed=1_000_000, reward=reward, max_episode_steps=200)
    rng, returns = np.random.default_rng(0), np.full(games, np.nan)
    obs = env.reset()
    while np.isnan(returns).any():
        masks = env.env.action_masks
        actions = env.env.sample_actions(rng) if model is None else model.predict(obs, action_masks=masks)[0]
        obs, _, done, infos = env.step(actions)
        for i in np.flatnonzero(done & np.isnan(returns)):
            returns[i] = infos[i]["episode"]["r"]
    env.close()
    return float(returns.mean()), float(returns.std() / np.sqrt(games))


@pytest.mark.slow
@pytest.mark.parametrize(
    ("game", "reward", "games", "steps", "want"),
    [("BlockBattle-v0", "result", 64, 25_000, 0.5), ("WinTetris-v0", "score", 128, 320_000, 0.4)],
)
def test_beats_random(game, reward, games, steps, want):
    """Against a random opponent it wins three of four games; alone it clears lines, which random play hardly does."""
    torch.set_num_threads(1)
    env = SB3VecEnv(game, games, seed=1, reward=reward, max_episode_steps=200)
    how = {"n_steps": 32, "batch_size": 1024, "n_epochs": 4, "learning_rate": 1e-3, "ent_coef": 0.01}
    model = MaskablePPO("MultiInputPolicy", env, policy_kwargs={"net_arch": [128]}, seed=1, device="cpu", **how)
    model.learn(steps)
    env.close()
    (trained, spread), (random, noise) = (mean_return(game, reward, m) for m in (model, None))
    print(f"{game}, {steps} steps: {trained:.2f} ± {2 * spread:.2f}, a random policy {random:.2f} ± {2 * noise:.2f}")
    assert trained > want
    assert trained - random > 5 * (spread + noise)
