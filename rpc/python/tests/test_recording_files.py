"""Files of recordings: existing and damaged ones, wrong arguments, a full disk, and processes that are killed."""

from __future__ import annotations

import gzip
import os
import signal
import subprocess
import sys
import time

import pytest
from conftest import GAME
from test_recording import check, random_steps

import blockyard


def some_games(server, path, **options):
    with blockyard.make_vec(GAME, 4, address=server.unix, max_episode_steps=5) as env:
        env.record(path, every=1, **options)
        random_steps(env, 30)
        return env.stop_recording()


@pytest.mark.parametrize("name", ["games.jsonl", "games.jsonl.gz"])
def test_existing_files(server, tmp_path, datasets, name):
    path = tmp_path / name
    first = some_games(server, path)
    before = path.read_bytes()
    with pytest.raises(FileExistsError, match=r"exists: pass append=True .* or choose another name"):
        some_games(server, path)
    assert path.read_bytes() == before
    second = some_games(server, str(path), append=True)
    assert path.read_bytes().startswith(before)
    assert check(datasets, path) == first.games + second.games
    some_games(server, tmp_path / ("new" + name), append=True)


@pytest.mark.parametrize("name", ["games.jsonl", "games.jsonl.gz"])
def test_incomplete_files_are_mended(server, tmp_path, datasets, name):
    path = tmp_path / name
    some_games(server, path)
    whole = path.read_bytes()
    once = gzip.compress(gzip.decompress(whole)) if name.endswith(".gz") else whole
    for data in (whole, once):
        for cut in (len(data) - 1, len(data) // 2 + 1, 40):
            path.write_bytes(data[:cut])
            left = check(datasets, path, "--allow-partial")
            added = some_games(server, path, append=True)
            assert check(datasets, path) == left + added.games
    assert not list(tmp_path.glob(".*"))


@pytest.mark.parametrize(
    "data", [b"hello\n", b"hello", b'{"a":1}\n', b"\x1f\x8bnonsense", gzip.compress(b"hello\n") + b"\0\0\0", b"\0" * 9]
)
def test_other_files_are_refused(server, tmp_path, data):
    path = tmp_path / "file"
    path.write_bytes(data)
    with pytest.raises(ValueError, match="cannot append"):
        some_games(server, path, append=True)
    assert path.read_bytes() == data


def test_one_writer_at_a_time(server, tmp_path):
    path = tmp_path / "games.jsonl"
    env = blockyard.make_vec(GAME, 1, address=server.unix, record=path)
    with env, pytest.raises(BlockingIOError, match="being written by another recording"):
        some_games(server, path, append=True)
    some_games(server, path, append=True)


def test_wrong_arguments(server, tmp_path):
    path = tmp_path / "games.jsonl"
    with blockyard.make_vec(GAME, 2, address=server.unix) as env:
        with pytest.raises(RuntimeError, match="nothing is being recorded"):
            env.stop_recording()
        for wrong, error, said in [
            ({"every": 0}, ValueError, "every: want at least 1"),
            ({"every": "all"}, TypeError, "every: want an integer, got 'all'"),
            ({"envs": [2]}, ValueError, "envs: want indices from 0 to 1"),
            ({"envs": []}, ValueError, "envs: got an empty list"),
            ({"max_games": 0}, ValueError, "max_games: want at least 1"),
            ({"max_bytes": -1}, ValueError, "max_bytes: want at least 1"),
            ({"memory": 5}, blockyard.RequestError, "memory is 5, want 65536 to"),
            ({"players": {1: "x"}}, blockyard.RequestError, "seat 1, which the server plays"),
            ({"players": {7: "x"}}, blockyard.RequestError, "seat 7, want 0 to 1"),
            ({"players": ""}, blockyard.RequestError, "1 to 200 bytes of text"),
        ]:
            with pytest.raises(error, match=said):
                env.record(path, **wrong)
            assert not path.exists()
            assert env.recording is None
        with pytest.raises(FileNotFoundError):
            env.record(tmp_path / "no" / "folder.jsonl")
        env.record(path)
        with pytest.raises(RuntimeError, match=r"already recording to .*stop_recording first"):
            env.record(tmp_path / "other.jsonl")
        assert not (tmp_path / "other.jsonl").exists()
        env.stop_recording()
        env.record(path, append=True)
    for record, said in [
        (7, "want a path"),
        ({"every": 3}, "'path'"),
        ({"path": "x", "all": 1}, "keyword argument 'all'"),
    ]:
        with pytest.raises(TypeError, match=said):
            blockyard.make_vec(GAME, address=server.unix, record=record)


def test_a_full_disk_ends_the_recording_only(server):
    if not os.path.exists("/dev/full"):
        pytest.skip("no /dev/full here")
    with blockyard.make_vec(GAME, 8, address=server.unix, max_episode_steps=5) as env:
        env.record(os.devnull, every=1, append=True)
        env.recording._file._file.close()
        env.recording._file._file = open("/dev/full", "r+b", buffering=0)
        random_steps(env, 20)
        with pytest.warns(RuntimeWarning, match="recording to /dev/null has ended after 0 games: .*No space"):
            env.recording.flush()
        assert env.recording.state == "failed"
        assert isinstance(env.recording.error, OSError)
        random_steps(env, 20)


# -- ends of processes ------------------------------------------------------------------------

SCRIPT = """
import sys
import numpy as np
import blockyard
import blockyard.vector.recording
blockyard.vector.recording._SECONDS = float(sys.argv[3])
rng = np.random.default_rng(0)
env = blockyard.make_vec("Blocking-v0", 64, seed=1, record={"path": sys.argv[1], "every": 1, "append": True})
env.reset()
for k in range(int(sys.argv[2])):
    env.step(env.sample_actions(rng))
    if k % 50 == 0:
        print(env.recording.games, flush=True)
"""


def run_script(path, steps, seconds, **options):
    command = [sys.executable, "-c", SCRIPT, str(path), str(steps), str(seconds)]
    return subprocess.Popen(command, stdout=subprocess.PIPE, text=True, **options)


def test_a_script_that_closes_nothing(tmp_path, datasets):
    path = tmp_path / "games.jsonl.gz"
    process = run_script(path, 200, 1000, stderr=subprocess.PIPE)
    _, log = process.communicate(timeout=120)
    assert (process.returncode, log) == (0, "")
    assert check(datasets, path) > 64


def test_a_killed_client_leaves_whole_games(tmp_path, datasets):
    path = tmp_path / "games.jsonl.gz"
    before = 0
    for delay in (0.0, 0.013, 0.037, 0.11):
        process = run_script(path, 10**9, 0.001)
        while int(process.stdout.readline()) < 40:
            pass
        time.sleep(delay)
        process.send_signal(signal.SIGKILL)
        process.wait()
        process.stdout.close()
        games = check(datasets, path)
        assert games >= before + 40
        before = games
