"""Exported games can be read by libraries for offline training."""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import datasets
import minari
import numpy as np
import pandas as pd
import pyarrow.parquet as pq
import pytest
from huggingface_hub import DatasetCard

import blockyard

ROOT = Path(__file__).resolve().parents[4]
RECORDED = {"blockbattle": 126, "tetrisduel": 560, "blocking": 30, "wintetris:tick": None}


@pytest.fixture(scope="session")
def program(tmp_path_factory):
    """The program datasets of this checkout."""
    go = shutil.which("go")
    assert go, "the exporter is a Go program"
    path = tmp_path_factory.mktemp("bin") / "datasets"
    subprocess.run([go, "build", "-o", str(path), "./datasets"], cwd=ROOT, check=True, timeout=600)
    return path


def export(program, game, *args):
    file = ROOT / "datasets" / "games" / f"{game.partition(':')[0]}.jsonl"
    command = [str(program), "export", "--game", game, *map(str, args), str(file)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr
    return file


def facts_of(game):
    with blockyard.connect() as client:
        return client.describe(game)


@pytest.mark.parametrize("game", RECORDED)
def test_pandas(program, tmp_path, game):
    file = export(program, game, "--parquet", tmp_path / "out")
    rows, facts = pd.read_parquet(tmp_path / "out" / "data"), facts_of(game)
    record = next(r for r in map(json.loads, file.read_text().splitlines()) if r["game"] == game)
    assert len(rows) == len(record["choices"]) == (RECORDED[game] or len(rows))
    in_order = rows.sort_values(["step", "seat"])
    assert in_order.action.tolist() == record["choices"]
    assert set(rows.seed) == {int(record["seed"])}
    for seat, of in rows.groupby("seat"):
        assert of.step.is_monotonic_increasing
        assert of.reward.sum() == record["results"][seat]
        assert of.points.sum() == record["scores"][seat]
        assert of.terminated.tolist() == [False] * (len(of) - 1) + [True]
        assert set(of.policy_id) == {record["agents"][seat]}
    bits = np.stack([np.frombuffer(b, "u1") for b in rows.obs])
    planes = blockyard.unpack(bits, facts)
    assert planes.shape == (len(rows), *facts.planes_shape)
    assert planes.max() <= facts.planes_high
    masks = np.unpackbits(np.stack([np.frombuffer(m, "u1") for m in rows["mask"]]), 1, facts.actions, "little")
    assert masks[np.arange(len(rows)), rows.action].all()
    assert np.stack(rows["globals"]).shape == (len(rows), len(facts.global_names))


def test_parquet_is_as_the_server_shows_the_games(program, tmp_path):
    """The rows of an exported game are the observations of an environment in which it is played again."""
    export(program, "blockbattle", "--parquet", tmp_path / "out")
    rows = pd.read_parquet(tmp_path / "out" / "data").sort_values(["step", "seat"])
    with blockyard.make_vec("blockbattle", 1, opponents=None, packed=True, autoreset_mode="Disabled") as env:
        obs, _ = env.reset(seed=[int(rows.seed.iloc[0])])
        for _, step in rows.groupby("step"):
            np.testing.assert_array_equal(obs["bits"], np.stack([np.frombuffer(b, "u1") for b in step.obs]))
            np.testing.assert_array_equal(obs["globals"], np.stack(step["globals"]))
            np.testing.assert_array_equal(env.packed_masks, np.stack([np.frombuffer(m, "u1") for m in step["mask"]]))
            obs, rewards, ended, _, _ = env.step(step.action.to_numpy())
            np.testing.assert_array_equal(rewards, step.reward)
            assert ended.tolist() == step.terminated.tolist()


def test_compression_and_row_groups(program, tmp_path):
    export(program, "tetrisduel", "--parquet", tmp_path / "out")
    file = pq.ParquetFile(next((tmp_path / "out" / "data").iterdir()))
    column = file.metadata.row_group(0).column(0)
    assert column.compression == "ZSTD"
    about = json.loads(file.schema_arrow.metadata[b"blockyard"])
    assert (about["game"], about["rules"]) == ("tetrisduel", facts_of("tetrisduel").rules)
    assert about["globals"] == list(facts_of("tetrisduel").global_names)


def test_datasets(program, tmp_path):
    export(program, "blocking", "--parquet", tmp_path / "out")
    loaded = datasets.load_dataset(str(tmp_path / "out"), split="train", cache_dir=str(tmp_path / "cache"))
    assert loaded.num_rows == RECORDED["blocking"]
    assert loaded.features["action"].dtype == "uint16"
    assert len(loaded[0]["mask"]) == facts_of("blocking").mask_len
    streamed = datasets.load_dataset(
        "parquet", data_files=str(tmp_path / "out/data/*.parquet"), split="train", streaming=True
    )
    assert next(iter(streamed))["episode"] == 0


def test_dataset_card(program, tmp_path):
    """The card is in the form of the Hugging Face hub, and names the shards and no other file."""
    export(program, "wintetris:tick", "--parquet", tmp_path / "out", "--rows", 1)
    (tmp_path / "out" / "other.parquet").write_bytes(b"no parquet")
    card = DatasetCard.load(tmp_path / "out" / "README.md").data
    assert card.pretty_name.endswith(", recorded games")
    assert card.task_categories == ["reinforcement-learning"]
    about = json.loads((tmp_path / "out" / "meta" / "info.json").read_text())
    loaded = datasets.load_dataset(str(tmp_path / "out"), cache_dir=str(tmp_path / "cache"))
    assert list(loaded) == ["train"]
    assert loaded["train"].num_rows == about["rows"]


@pytest.mark.slow
def test_behaviour_cloning(program, tmp_path, monkeypatch):
    """With default arguments, a network that learns from games of hand beats random on other seeds."""
    monkeypatch.setenv("HF_HOME", str(tmp_path / "cache"))
    agents = tmp_path / "agents"
    subprocess.run([shutil.which("go"), "build", "-o", agents, "./agents"], cwd=ROOT, check=True, timeout=600)
    arena = [agents, "arena", "blockbattle", "--a", "hand:ply=1", "--b", "hand:ply=1", "--games", "400", "--seed", "1"]
    subprocess.run([*arena, "--record", "games.jsonl.gz"], cwd=tmp_path, check=True, timeout=300)
    command = [program, "export", "--parquet", "games", "games.jsonl.gz"]
    subprocess.run(command, cwd=tmp_path, check=True, timeout=300)
    example = ROOT / "rpc" / "python" / "examples" / "behaviour_cloning.py"
    done = subprocess.run(
        [sys.executable, example], cwd=tmp_path, capture_output=True, text=True, timeout=1200, check=False
    )
    assert done.returncode == 0, done.stderr
    low = re.search(r"interval (\d+\.\d+) to", done.stdout)
    assert low, done.stdout
    assert float(low[1]) > 80
    assert json.loads((tmp_path / "cloned.pt.run.json").read_text())["seed"] == "1"


@pytest.mark.parametrize("game", RECORDED)
def test_minari(program, tmp_path, monkeypatch, game):
    file = export(program, game, "--minari", tmp_path, "--id", "blockyard/test-v0")
    monkeypatch.setenv("MINARI_DATASETS_PATH", str(tmp_path))
    assert list(minari.list_local_datasets()) == ["blockyard/test-v0"]
    loaded, facts = minari.load_dataset("blockyard/test-v0"), facts_of(game)
    record = next(r for r in map(json.loads, file.read_text().splitlines()) if r["game"] == game)
    assert (loaded.total_episodes, loaded.total_steps) == (record["seats"], len(record["choices"]))
    assert loaded.action_space == facts.action_space()
    assert loaded.observation_space["planes"] == facts.observation_space()["planes"]
    for seat, episode in enumerate(loaded.iterate_episodes()):
        steps = len(episode.actions)
        assert episode.observations["planes"].shape == (steps + 1, *facts.planes_shape)
        assert episode.observations["globals"].dtype == np.float32
        assert episode.infos["action_mask"][np.arange(steps), episode.actions].all()
        assert episode.rewards.sum() == record["results"][seat]
        assert episode.terminations.tolist() == [False] * (steps - 1) + [True]
        assert all(
            loaded.observation_space.contains({k: v[t] for k, v in episode.observations.items()}) for t in (0, steps)
        )
    if facts.max_seats == 1:
        env = loaded.recover_environment()
        assert env.observation_space["planes"] == loaded.observation_space["planes"]
        env.close()
