"""Recording from Python: what is in the file, that it is whole whatever happens, and that nothing else changes."""

from __future__ import annotations

import gc
import gzip
import json
import subprocess
import warnings
from functools import partial
from pathlib import Path

import gymnasium
import numpy as np
import pytest
from conftest import GAME, MODES, assert_same, copied, pairs, play, serving

import blockyard
from blockyard.pettingzoo import aec_env


def check(datasets, path, *more):
    """Let ``datasets check`` replay every game; return how many there are."""
    done = subprocess.run([*datasets, "check", *more, path], capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.endswith(" games, 0 differ\n")
    return int(done.stdout.split(": ")[1].split(" ")[0])


def records(path):
    data = Path(path).read_bytes()
    text = gzip.decompress(data) if data[:2] == b"\x1f\x8b" else data
    return [json.loads(line) for line in text.splitlines()]


def random_steps(env, steps, seed=1):
    rng = np.random.default_rng(seed)
    env.reset(seed=3)
    ended = 0
    for _ in range(steps):
        _, _, terminated, truncated, _ = env.step(env.sample_actions(rng))
        ended += int((terminated | truncated).sum()) // env.rows_per_game
        if env.metadata["autoreset_mode"].value == "Disabled" and (terminated | truncated).any():
            env.reset(options={"reset_mask": terminated | truncated})
    return ended


def test_the_first_script(server, tmp_path, datasets):
    path = tmp_path / "games.jsonl.gz"
    with blockyard.make_vec(GAME, 64, address=server.unix, record=path) as env:
        random_steps(env, 300)
    assert env.recording.state == "stopped"
    assert env.recording.games == check(datasets, path) > 0
    assert env.recording.size == path.stat().st_size
    for game in records(path):
        assert game["agents"] == ["policy", "random"]
        assert (int(game["meta"]["env"]) + int(game["meta"]["episode"])) % 100 == 0


@pytest.mark.parametrize("game", blockyard.ENV_IDS)
def test_every_game(server, tmp_path, datasets, game):
    path = tmp_path / "games.jsonl"
    with blockyard.make_vec(game, 3, address=server.unix, max_episode_steps=9) as env:
        env.record(path, every=1, players="me")
        ended = random_steps(env, 100)
        assert env.stop_recording().games == ended == check(datasets, path)
    assert all(record["agents"][0] == "me" for record in records(path))
    assert any(record.get("stopped") for record in records(path))


@pytest.mark.parametrize(("mode", "transport"), pairs(MODES, ["shm", "socket"]))
def test_recording_changes_nothing(server, tmp_path, datasets, mode, transport):
    def trace(record):
        with blockyard.make_vec(
            "Blocking-v0", 5, address=server.unix, autoreset_mode=mode, transport=transport, seats=3,
            opponents={1: "random"}, max_episode_steps=25, record=record,
        ) as env:  # fmt: skip
            out = play(env, 120)
            out.append(env.rollout(50).actions.copy())
            out.append(copied(env.snapshot()))
            return out

    path = tmp_path / "games.jsonl.gz"
    assert_same(trace(None), trace({"path": path, "every": 1}))
    assert check(datasets, path) > 10


@pytest.mark.parametrize("rows", ["seat", "acting"])
def test_rows_of_either_kind(server, tmp_path, datasets, rows):
    path = tmp_path / "games.jsonl.gz"
    with blockyard.make_vec("TetrisDuel-v0", 4, address=server.unix, opponents=None, rows=rows) as env:
        env.record(path, every=1, players={0: "left", 1: "right"})
        random_steps(env, 400)
    assert check(datasets, path) > 2
    assert records(path)[0]["agents"] == ["left", "right"]


def test_several_servers_record_what_one_does(program, server, tmp_path, datasets):
    def games(address, name):
        path = tmp_path / name
        with blockyard.make_vec("TetrisDuel-v0", 10, address=address, seed=1) as env:
            env.record(path, 3, envs=[0, 2, 3, 5, 6, 9])
            random_steps(env, 200)
            env.rollout(200, keep="last")
        check(datasets, path)
        return sorted(map(json.dumps, records(path)))

    folder = tmp_path / "second"
    folder.mkdir()
    with serving(program, folder) as other:
        whole, parts = games(server.unix, "one"), games([server.unix, other.unix, other.tcp], "three")
    assert whole == parts
    assert len(whole) > 5
    assert {json.loads(line)["meta"]["env"] for line in whole} <= set("023569")


def test_pool(server, tmp_path, datasets):
    path = tmp_path / "games.jsonl.gz"
    options = {"seed": 4, "address": server.unix, "record": {"path": path, "every": 2, "players": "pool"}}
    with blockyard.BlockPool(GAME, 8, 2, **options) as pool:
        rng = np.random.default_rng(0)
        pool.async_reset()
        for _ in range(900):
            batch = pool.recv()
            pool.send((batch.action_masks * rng.random(batch.action_masks.shape)).argmax(1), batch.env_ids)
        assert pool.recording.state == "recording"
        done = pool.stop_recording()
        assert done is pool.recording
    assert done.games == check(datasets, path) > 0
    for record in records(path):
        assert (int(record["meta"]["env"]) + int(record["meta"]["episode"])) % 2 == 0
    assert {int(record["meta"]["env"]) // 2 for record in records(path)} == {0, 1, 2, 3}


def test_single_environment(server, tmp_path, datasets):
    path = tmp_path / "games.jsonl.gz"
    with blockyard.connect(server.unix) as client:
        env = client.make(GAME, record={"path": path, "every": 1}, max_episode_steps=5)
        for seed in range(3):
            env.reset(seed=seed)
            over = False
            while not over:
                *_, over, cut, _ = env.step(env.legal_actions()[0])
                over = over or cut
        env.recording.flush()
        assert env.recording.games == 3
        env.close()
    assert check(datasets, path) == 3
    with pytest.raises(ValueError, match="drives one seat"):
        blockyard.make(GAME, address=server.unix, opponents=None, record=tmp_path / "none.jsonl")
    assert not (tmp_path / "none.jsonl").exists()


@pytest.mark.parametrize("own", [True, False])
def test_an_environment_that_is_dropped(server, tmp_path, datasets, own):
    path = tmp_path / "games.jsonl"
    with blockyard.connect(server.unix) as client:
        env = (partial(blockyard.make_vec, address=server.unix) if own else client.make_vec)(GAME, 8, max_episode_steps=5)
        env.record(path, every=1)
        ended = random_steps(env, 30)
        del env
        gc.collect()
        client.connection.call("describe", GAME)  # on which others ask, what is left to do is done first
        assert check(datasets, path) == ended > 0


def test_other_interfaces(server, tmp_path, datasets):
    pz = aec_env(
        "TetrisDuel-v0",
        address=server.unix,
        record={"path": tmp_path / "pz.jsonl", "every": 1, "players": {0: "a", 1: "b"}},
    )
    for seed in range(3):
        pz.reset(seed=seed)
        for agent in pz.agent_iter():
            *_, over, cut, info = pz.last()
            pz.step(None if over or cut else pz.action_space(agent).sample(info["action_mask"]))
    pz.close()
    assert check(datasets, tmp_path / "pz.jsonl") == 3
    assert records(tmp_path / "pz.jsonl")[0]["agents"] == ["a", "b"]
    options = {"address": server.unix, "max_episode_steps": 4}
    env = gymnasium.make_vec(f"blockyard/{GAME}", 2, record={"path": tmp_path / "gym.jsonl", "every": 1}, **options)
    ended = random_steps(env.unwrapped, 12)
    env.close()
    assert check(datasets, tmp_path / "gym.jsonl") == ended > 0


def test_who_sat_where(server, tmp_path):
    path = tmp_path / "games.jsonl"
    with blockyard.make_vec(GAME, 2, address=server.unix, opponents={0: "hand"}, max_episode_steps=4) as env:
        env.record(path, every=1, players={1: "my ppo"})
        random_steps(env, 6)
        env.set_opponents({0: "random"})
        random_steps(env, 6)
        done = env.stop_recording()
    assert done.interrupted == 2
    assert [record["agents"] for record in records(path)] == [["hand", "my ppo"]] * 2 + [["random", "my ppo"]] * 2


# -- bounds -----------------------------------------------------------------------------------


def test_bounds(server, tmp_path, datasets):
    def run(**bounds):
        path = tmp_path / f"{len(list(tmp_path.iterdir()))}.jsonl.gz"
        with blockyard.make_vec(GAME, 16, address=server.unix, max_episode_steps=10) as env:
            recording = env.record(path, every=1, **bounds)
            for _ in range(3):
                random_steps(env, 40)
                recording.flush()
            assert recording.state != "recording"
            with pytest.raises(blockyard.RequestError, match="not being recorded"):
                env.engine.transport.call("records", {})  # the server has forgotten the rest
            assert env.stop_recording() is recording
        assert check(datasets, path) == recording.games
        return recording

    assert run(max_games=7).games == 7
    assert run(max_games=7).state == "max_games"
    full = run(max_bytes=5000)
    assert full.state == "max_bytes"
    assert 4000 < full.size <= 5000
    assert "max_bytes" in repr(full)
    assert run(max_bytes=1).games == 0


def test_a_full_server_tells(server, tmp_path, datasets):
    path = tmp_path / "games.jsonl.gz"
    with blockyard.make_vec("Blocking-v0", 64, address=server.unix) as env:
        env.reset(seed=1)
        recording = env.record(path, every=1, memory=1 << 16)
        env.engine.fetch = None  # a client that does not fetch in time
        env.rollout(500, keep="last")
        with pytest.warns(RuntimeWarning, match="games are lost because the server's memory") as caught:
            recording.flush()
        assert caught[0].filename == __file__
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            recording.flush()
        lost = recording.dropped
        assert lost > 100
        env.stop_recording()
    assert check(datasets, path) == recording.games > 10


def test_long_rollouts_fetch_on_the_way(server, tmp_path, datasets):
    path = tmp_path / "games.jsonl.gz"
    with blockyard.make_vec("Blocking-v0", 16, address=server.unix) as env:
        env.reset(seed=1)
        recording = env.record(path, every=1, memory=1 << 28)  # room for all of them, however busy the machine is
        while recording.games <= 50:  # none is fetched at the end only
            env.rollout(300, keep="last")
        assert env.stop_recording().dropped == 0
    assert check(datasets, path) == recording.games


def test_many_games_fit_by_default(server, tmp_path, datasets):
    path = tmp_path / "games.jsonl.gz"
    with blockyard.make_vec("Blocking-v0", 4_000, address=server.unix, mask=False) as env:
        env.record(path, every=1)
        env.reset(seed=1)
        env.rollout(60, keep="last")
        done = env.stop_recording()
    assert done.dropped == 0
    assert done.games == check(datasets, path) > 16_000


def test_a_checkpoint_interrupts(server, tmp_path):
    with blockyard.make_vec(GAME, 3, address=server.unix) as env:
        env.record(tmp_path / "games.jsonl", every=1)
        env.reset(seed=1)
        env.restore_checkpoint(env.checkpoint())
        assert env.stop_recording().interrupted == 3
