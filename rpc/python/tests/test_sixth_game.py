"""A game that the package has never heard of: two lines on the server, and everything in Python works with it."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import xml.etree.ElementTree as ET
from collections.abc import Iterator
from pathlib import Path

import gymnasium
import numpy as np
import programs
import pytest
from conftest import Server, assert_same, copied, play, serving
from gymnasium.utils.env_checker import check_env

import blockyard
from blockyard import feature_facts, single

ROOT = Path(__file__).resolve().parents[3]
PICK, TURNS = "ToyPick-v0", "ToyTurns-v0"  # two seats at the same time; three seats in turn


@pytest.fixture(scope="module")
def toys(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server whose list of games has the two toy games of the Go tests as well."""
    games, go = ROOT / "env" / "games" / "games.go", shutil.which("go")
    if not games.is_file() or go is None:
        pytest.skip("needs Go and a checkout of the repository")
    text = games.read_text(encoding="utf-8")
    for before, line in (
        ("import (", '"blockyard/env/envtest/toy"'),
        ("var All = []*env.Game{", "toy.Pick, toy.Turns,"),
    ):
        assert text.count(before) == 1, f"{games}: want one {before!r}"
        text = text.replace(before, f"{before}\n\t{line}")
    folder = tmp_path_factory.mktemp("toys")
    (folder / "games.go").write_text(text, encoding="utf-8")
    (folder / "overlay.json").write_text(json.dumps({"Replace": {str(games): str(folder / "games.go")}}))
    program = folder / "server"
    flags = ["-trimpath", "-ldflags", "-s -w", "-overlay", folder / "overlay.json", "-o", program]
    command = [go, "build", *flags, "./rpc"]
    done = subprocess.run(command, cwd=ROOT, env=os.environ | {"CGO_ENABLED": "0"}, capture_output=True, check=False)
    assert done.returncode == 0, done.stderr.decode()
    with serving(program, folder) as server:
        yield server


def test_the_package_has_never_heard_of_it():
    assert not {PICK, TURNS} & set(blockyard.ENV_IDS)
    package = Path(blockyard.__file__).parent
    texts = [path.read_text(encoding="utf-8") for path in [*package.rglob("*.py"), *package.rglob("*.json")]]
    assert not any(re.search(r"\btoy", text, re.IGNORECASE) for text in texts)


def test_tables_and_ids_are_written_for_it(toys: Server):
    env = os.environ | {"BLOCKYARD_SERVER": str(toys.program)}
    done = programs.run(ROOT / "rpc" / "python" / "environments.py", env=env)
    assert done.returncode == 0, done.stderr
    assert f"| `{PICK}` | `toy:pick` | 2, at the same time | (2, 2, 3), 0 to 3 | (3,) | 9 |" in done.stdout
    assert f"| `{TURNS}` | offer, last |" in done.stdout


def test_spec(toys: Server):
    with blockyard.connect(toys.unix) as client:
        pick, turns = client.describe(PICK), client.describe(TURNS)
        assert (pick.turn, turns.turn) == ("simultaneous", "alternating")
        assert (pick.max_seats, turns.max_seats) == (2, 3)
        assert pick.action_space().n == 9
        assert client.text(PICK, [0, 4]) == ["card 1 take 1", "card 2 take 2"]
        with client.make_vec(PICK) as env, pytest.raises(blockyard.RequestError, match="defines no features"):
            feature_facts(env)


@pytest.mark.parametrize("game", [PICK, TURNS])
@pytest.mark.parametrize("mode", ["NextStep", "SameStep", "Disabled"])
def test_vector(toys: Server, game, mode):
    traces = []
    for transport in ("shm", "socket"):
        with blockyard.make_vec(
            game, 6, address=toys.unix, opponents=None, autoreset_mode=mode, transport=transport
        ) as env:
            assert env.transport == transport
            trace = play(env, 30)
            assert any((step[2] | step[3]).any() for step in trace if len(step) == 5), "no episode ended"
            traces.append(trace)
    assert_same(*traces)


@pytest.mark.parametrize("game", [PICK, TURNS])
def test_search(toys: Server, game):
    with blockyard.make_vec(game, 5, address=toys.unix, opponents=None, packed=True, seed=1) as env:
        obs, _ = env.reset()
        assert env.observation_space.contains(obs)
        state, after = env.snapshot(), env.afterstates()
        assert (after.indptr == env.legal_actions().indptr).all()
        env.step(after.actions[after.best(after.reward)].astype(int))
        again, _ = env.restore(state)
        assert_same(copied(again), copied(obs))
        env.clone([0] * 4, [1, 2, 3, 4])
        assert len({row.tobytes() for row in env.snapshot()}) == 1
        played = env.rollout(20)
        assert played.actions.shape == (20, env.num_envs)
        assert (played.buffer.terminated.sum(axis=0) > 0).all()


def test_single(toys: Server, monkeypatch, closing):
    for game in (PICK, TURNS):
        with blockyard.connect(toys.unix) as client:
            env = closing(client.make(game, illegal="random"))
            check_env(env, skip_render_check=True)
    monkeypatch.setattr(single, "ENV_IDS", (PICK,))  # as environments.py would write it
    single.register()
    try:
        with gymnasium.make_vec(f"blockyard/{PICK}", 3, address=toys.unix) as env:
            obs, _ = env.reset(seed=1)
            assert obs["planes"].shape == (3, 2, 2, 3)
    finally:
        del gymnasium.registry[f"blockyard/{PICK}"]


def test_pool_and_opponents(toys: Server):
    rng = np.random.default_rng(0)
    with blockyard.BlockPool(TURNS, 6, 2, address=toys.unix, seed=1, opponents={1: "first", 2: "random"}) as pool:
        pool.async_reset()
        for _ in range(20):
            batch = pool.recv()
            pool.send((batch.action_masks * rng.random(batch.action_masks.shape)).argmax(1), batch.env_ids)


@pytest.mark.parametrize("game", [PICK, TURNS])
def test_agents(toys: Server, game):
    pytest.importorskip("pettingzoo")
    from pettingzoo.test import api_test, parallel_api_test

    from blockyard.pettingzoo import aec_env, parallel_env

    api_test(aec_env(game, address=toys.unix, illegal="random"), num_cycles=20)
    parallel_api_test(parallel_env(game, address=toys.unix, illegal="random"), num_cycles=20)


@pytest.mark.parametrize("game", [PICK, TURNS])
def test_rendering(toys: Server, game):
    with blockyard.make_vec(game, 2, address=toys.unix, render_mode="rgb_array", opponents=None) as env:
        env.reset(seed=1)
        assert env.picture(1, "text").strip()
        assert env.picture(1, "ansi").strip()
        assert ET.fromstring(env.picture(1, "svg")).tag.endswith("svg")
        assert game in env._repr_html_()
        pixels = env.render()
        assert len(pixels) == env.num_envs
        assert pixels[0].dtype == np.uint8
        assert pixels[0].shape[2] == 3
