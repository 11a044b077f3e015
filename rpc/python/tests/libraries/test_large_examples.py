"""The examples on large libraries run unchanged, to the end."""

from __future__ import annotations

import math
import re
import subprocess
import sys
from pathlib import Path

import pytest
import torch
from safetensors import safe_open
from safetensors.torch import save_file
from tensorboard.backend.event_processing.event_accumulator import EventAccumulator

import blockyard

HERE = Path(__file__).resolve()
EXAMPLES = HERE.parents[2] / "examples"
SCRIPTS = [
    "behaviour_cloning.py",
    "contest_bot.py",
    "grpo_branches.py",
    "gumbel_search.py",
    "league.py",
    "pettingzoo_selfplay.py",
    "ppo_afterstates.py",
    "ppo_masked.py",
    "ppo_resume.py",
    "ppo_selfplay.py",
    "ray_selfplay.py",
    "sb3_curriculum.py",
    "sb3_league.py",
    "td_afterstates.py",
]


def run(*command: object, cwd: Path, timeout: float = 900) -> str:
    done = subprocess.run(
        list(map(str, command)), capture_output=True, text=True, timeout=timeout, cwd=cwd, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def example(name: str, *args: object, cwd: Path) -> str:
    return run(sys.executable, EXAMPLES / name, *args, cwd=cwd)


@pytest.mark.parametrize("name", SCRIPTS)
def test_help(name, tmp_path):
    out = example(name, "--help", cwd=tmp_path)
    assert name in out
    assert "--seed" in out


@pytest.mark.parametrize("game", ["BlockBattle-v0", "TetrisDuel-v0"])
def test_ppo_afterstates(game, tmp_path):
    args = ["--timesteps", 1, "--games", 4, "--opponent", "random", "--out", "w.safetensors"]
    out = example("ppo_afterstates.py", "--game", game, *args, cwd=tmp_path)
    assert re.search(r"^4,096 actions, other seeds: won .* of 4 games against random$", out, re.MULTILINE)
    weights = blockyard.load_weights(tmp_path / "w.safetensors")
    assert len(weights.features) == len(blockyard.feature_facts(game))
    search = ["--actions", 2, "--copies", 4, "--num-envs", 2, "--games", 4]
    out = example("gumbel_search.py", "--game", game, "--weights", "w.safetensors", *search, cwd=tmp_path)
    assert re.search(
        r"^against the network without search: won .* of 4 games, 95 % interval .*, Elo [+-]", out, re.MULTILINE
    )


@pytest.mark.parametrize("game", ["BlockBattle-v0", "WinTetris-v0"])
def test_ppo_masked(game, tmp_path):
    args = ["--total-timesteps", 2048, "--num-envs", 16, "--eval-games", 8, "--max-episode-steps", 30]
    out = example("ppo_masked.py", "--game", game, "--hidden", 32, *args, cwd=tmp_path)
    assert "a random policy's:" in out
    assert sorted(p.name for p in tmp_path.iterdir()) == ["policy.pt", "policy.pt.run.json"]


def test_grpo_branches(tmp_path):
    """TRL trains a transformer by moves tried in branches of one position."""
    out = example("grpo_branches.py", "--game", "WinTetris-v0", "--steps", 4, "--branches", 8, cwd=tmp_path)
    assert re.search(r"^4 steps of 8 branches, mean reward -?\d\.\d\d at first, -?\d\.\d\d at last$", out, re.MULTILINE)


def test_tracking_in_tensorboard(tmp_path):
    """The figures of a training are in the file of events, at the numbers of actions."""
    args = ["--total-timesteps", 2048, "--num-envs", 16, "--eval-games", 8, "--max-episode-steps", 30, "--hidden", 32]
    example("ppo_masked.py", *args, "--track", "tensorboard:runs/one", cwd=tmp_path)
    events = EventAccumulator(str(tmp_path / "runs" / "one"))
    events.Reload()
    assert {"loss", "entropy"} <= set(events.Tags()["scalars"])
    assert [e.step for e in events.Scalars("loss")] == [1024, 2048]
    assert all(math.isfinite(e.value) for e in events.Scalars("entropy"))
    assert "settings/text_summary" in events.Tags()["tensors"]


def test_tracking_elsewhere(tmp_path, monkeypatch):
    """Weights & Biases gets the same callback, without a network; another place is refused before training."""
    monkeypatch.setenv("WANDB_MODE", "offline")
    monkeypatch.setenv("WANDB_DIR", str(tmp_path))
    monkeypatch.syspath_prepend(str(EXAMPLES))
    from tracking import tracking

    with tracking("wandb:blockyard", {"seed": 1}) as log:
        log(1, {"loss": 0.5})
    assert list(tmp_path.glob("wandb/offline-run-*/*.wandb"))
    with pytest.raises(ValueError, match=r"'paper': want 'tensorboard:FOLDER'"), tracking("paper", {}):
        pass


@pytest.mark.parametrize("game", ["TetrisDuel-v0", "BlockBattle-v0"])
def test_ppo_selfplay(game, tmp_path):
    out = example("ppo_selfplay.py", "--game", game, "--updates", 1, "--num-envs", 4, "--eval-games", 8, cwd=tmp_path)
    assert "play against random" in out


def test_pettingzoo_selfplay(tmp_path):
    out = example("pettingzoo_selfplay.py", "--games", 40, "--eval-games", 8, cwd=tmp_path)
    assert "play against random" in out


def test_td_afterstates(tmp_path):
    """The file is read by the safetensors library too; the network plays in the arena and becomes a contest bot."""
    args = ["--updates", 4, "--num-envs", 32, "--decisions", 64, "--stages", 1, "--eval-games", 20]
    out = example("td_afterstates.py", *args, cwd=tmp_path)
    assert re.findall(r"^(untrained|stage 1): won [\d.]+% of 20 games against hand:ply=1$", out, re.MULTILINE) == [
        "untrained",
        "stage 1",
    ]
    facts = blockyard.feature_facts("BlockBattle-v0")
    with safe_open(tmp_path / "mine.safetensors", "numpy") as file:
        assert file.metadata() == facts.metadata(made="td_afterstates.py")
        assert file.get_tensor("fc0.weight").shape == (64, len(facts))
    blockyard_command = (sys.executable, "-m", "blockyard")
    agent = "learned:weights=mine.safetensors"
    out = run(*blockyard_command, "arena", "blockbattle", "--a", agent, "--b", "random", "--games", 2, cwd=tmp_path)
    assert "games   2: 2 wins" in out
    out = run(*blockyard_command, "host", "blockbattle", "--bot", agent, "--bot", "random", "--games", 2, cwd=tmp_path)
    assert re.search(r"^learned:.* won \d, drew \d and lost \d of 2 games against random", out, re.MULTILINE)


def test_a_file_of_the_safetensors_library(tmp_path):
    """What the library writes is read, and plays on the server."""
    facts = blockyard.feature_facts("BlockBattle-v0")
    net = torch.nn.Sequential(torch.nn.Linear(len(facts), 4), torch.nn.LeakyReLU(0.01), torch.nn.Linear(4, 1))
    names = ("fc0.weight", "fc0.bias", "fc1.weight", "fc1.bias")
    tensors = dict(zip(names, (p.detach() for p in net.parameters()), strict=True))
    path = tmp_path / "net.safetensors"
    save_file(tensors, path, metadata=facts.metadata())
    assert torch.equal(torch.from_numpy(blockyard.load_weights(path).arrays["fc0.weight"].copy()), net[0].weight)
    got = blockyard.evaluate(f"learned:ply=1,weights={path}", "random", game="BlockBattle-v0", games=2)
    assert got.games == 2


def test_league(tmp_path):
    """Checkpoints are frozen, join the pool, and are rated in the arena."""
    args = ["--minutes", 0.05, "--checkpoints", 2, "--num-envs", 32, "--hidden", 8, "--games", 4, "--pool", 2]
    out = example("league.py", *args, cwd=tmp_path)
    assert "002.safetensors: pool of 2, " in out
    rated = out.partition("checkpoint ")[2].splitlines()[1:]
    assert [line.split()[0] for line in rated] == [f"00{k}.safetensors" for k in range(3)]
    assert rated[0].split()[1] == "0"
    assert sorted(p.name for p in (tmp_path / "league").iterdir()) == [f"00{k}.safetensors" for k in range(3)]


def test_league_of_checkpoints(tmp_path):
    args = ["--checkpoints", 2, "--timesteps", 512, "--num-envs", 8, "--games", 4]
    out = example("sb3_league.py", *args, cwd=tmp_path)
    assert "ppo-1 against ppo-0" in out
    assert sorted(p.name for p in (tmp_path / "league").iterdir()) == ["ppo-0.zip", "ppo-1.zip"]
    assert {"random", "ppo-0", "ppo-1"} <= set(out.split())


def test_curriculum(tmp_path):
    out = example("sb3_curriculum.py", "--timesteps", 1, "--games", 4, cwd=tmp_path)
    assert out.startswith("0 steps: won 0.0% of 4 games against hand:ply=1\n")
    assert blockyard.rungs("BlockBattle-v0")[0] + ": " in out
    assert "4,096 steps, other seeds: won " in out
    assert blockyard.load_weights(tmp_path / "mine.safetensors").game == "blockbattle"
    assert (tmp_path / "mine.safetensors.run.json").exists()


def test_ray_survives_the_loss_of_a_node(tmp_path):
    args = ["--nodes", 2, "--updates", 10, "--num-envs", 8, "--num-steps", 32, "--kill-node-at", 3, "--hidden", 32]
    out = example("ray_selfplay.py", *args, "--eval-games", 8, cwd=tmp_path)
    assert "is killed" in out
    assert "update 10/10" in out
    assert "won" in out
    assert (tmp_path / "selfplay.pt").exists()


def test_ppo_resume(tmp_path):
    """A run that is killed, in the middle of whatever it does, ends with the losses of one that was not."""
    args = ["--updates", 6, "--num-envs", 8, "--num-steps", 16]
    whole = example("ppo_resume.py", *args, "--file", "a.pt", cwd=tmp_path)
    command = [sys.executable, EXAMPLES / "ppo_resume.py", *map(str, args), "--file", "b.pt"]
    lines: list[str] = []
    for last in ("update   2", "update   4", "never"):
        with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, cwd=tmp_path) as process:
            assert process.stdout is not None
            for line in process.stdout:
                lines.append(line)
                if line.startswith(last):
                    process.kill()
    losses = {line for line in lines if "loss" in line}
    assert losses == {line for line in whole.splitlines(keepends=True) if "loss" in line}
    assert sum("resumed" in line for line in lines) == 2
    assert lines[-2:] == whole.splitlines(keepends=True)[-2:], "the results against each opponent"
