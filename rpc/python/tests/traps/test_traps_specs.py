"""Limits, specs, paths and copies mean what they say."""

from __future__ import annotations

import copy
import json
import os
import pickle

import gymnasium
import numpy as np
import programs
import pytest
from conftest import GAME, Server, begun

import blockyard
from blockyard.pettingzoo import aec_env, parallel_env


def test_time_limit_of_gymnasium(server: Server, tmp_path, closing):
    """Games that gymnasium.make's max_episode_steps truncates are recorded and counted, and do not act any more."""
    env = closing(
        gymnasium.make(
            "blockyard/BlockBattle-v0",
            max_episode_steps=5,
            address=server.unix,
            record={"path": tmp_path / "g", "every": 1},
        )
    )
    for seed in (1, None, None):
        env.reset(seed=seed)
        for k in range(5):
            *_, terminated, truncated, info = env.step(int(env.unwrapped.action_masks().argmax()))
            assert (terminated, truncated) == (False, k == 4)
            assert info["acting"] == (k < 4)
    assert env.unwrapped.opponent_stats()["random"].truncated == 3
    assert env.unwrapped.stop_recording().games == 3
    again = closing(gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(plain(env.spec).to_json())))
    again.reset()
    for _ in range(5):
        *_, info = again.step(int(again.unwrapped.action_masks().argmax()))
    assert not info["acting"]


def plain(spec):
    """Return a spec without what JSON cannot hold."""
    kept = copy.deepcopy(spec)
    del kept.kwargs["record"]
    return kept


def test_specs_survive_json(server: Server, tmp_path, closing):
    """Seats are numbers, of which JSON makes text."""
    how = {"opponents": {1: {"random": 1, "first": 1}}, "address": server.unix, "seed": 1}
    record = {"path": str(tmp_path / "g.jsonl"), "every": 1, "players": {0: "mine"}}
    env = closing(gymnasium.make("blockyard/BlockBattle-v0", record=record, **how))
    spec = gymnasium.envs.registration.EnvSpec.from_json(env.spec.to_json())
    spec.kwargs["record"]["path"] = str(tmp_path / "h.jsonl")
    again = gymnasium.make(spec)
    assert again.unwrapped.opponent_specs == env.unwrapped.opponent_specs == ("random", "first")
    again.reset()
    done = False
    while not done:
        *_, terminated, truncated, _ = again.step(int(again.unwrapped.action_masks().argmax()))
        done = terminated or truncated
    again.close()
    assert json.loads((tmp_path / "h.jsonl").read_text().splitlines()[0])["agents"][0] == "mine"


def test_commas_in_paths(server: Server, program, tmp_path):
    folder = tmp_path / "a,b"
    folder.mkdir()
    path = folder / "w.safetensors"
    with blockyard.make_vec(GAME, 1, address=server.unix) as env:
        facts = blockyard.feature_facts(env)
        blockyard.save_weights(path, [(np.zeros((1, len(facts))), np.zeros(1))], facts)
        for spec in (f"learned:weights={path}", f'learned:weights="{path}",ply=1'):
            env.set_opponents(spec)
            assert env.opponent_specs[-1] == spec
        env.reset()
        env.step(env.action_masks.argmax(1))
    code = "import blockyard; blockyard.make_vec('WinTetris-v0', transport='process').close(); print('ok')"
    env = {**os.environ, "TMPDIR": str(folder), "BLOCKYARD_SERVER": str(program)}
    done = programs.run("-c", code, env=env)
    assert done.stdout == "ok\n", done.stderr
    with blockyard.connect(server.tcp.replace("tcp:", "tcp://")) as client:
        client.ping()


def test_copies_continue(server: Server, closing):
    how = {"address": server.unix, "opponents": {"random": 1, "first": 1}, "illegal": "random"}
    with blockyard.make_vec(GAME, 3, seed=1, **how) as env:
        for copied in (copy.deepcopy(env), pickle.loads(pickle.dumps(env))):
            with copied:
                np.testing.assert_array_equal(copied.reset()[0]["planes"], env.reset(seed=1)[0]["planes"])
        for _ in range(20):
            env.step(np.zeros(3, np.int64))
        with copy.deepcopy(env) as twin:
            np.testing.assert_array_equal(twin.action_masks, env.action_masks)
            for _ in range(60):
                for a, b in zip(twin.step(np.zeros(3, int))[:4], env.step(np.zeros(3, int))[:4], strict=True):
                    assert pickle.dumps(a) == pickle.dumps(b)
            np.testing.assert_array_equal(twin.reset()[0]["planes"], env.reset()[0]["planes"])
    single = closing(blockyard.make(GAME, seed=1, **how))
    single.reset()
    twin = closing(copy.deepcopy(single))
    np.testing.assert_array_equal(twin.step(0)[0]["planes"], single.step(0)[0]["planes"])
    parallel = parallel_env(GAME, address=server.unix)
    for zoo in (aec_env("Blocking-v0", address=server.unix), parallel):
        pickle.loads(pickle.dumps(zoo)).close()
        zoo.reset(seed=1)
    zoo.step(dict.fromkeys(zoo.agents, 0))
    twin = closing(copy.deepcopy(zoo))
    got, want = (env.step(dict.fromkeys(env.agents, 0)) for env in (twin, zoo))
    assert pickle.dumps(got) == pickle.dumps(want)
    zoo.close()
    with blockyard.connect(server.unix) as client, client.make_vec(GAME) as shared:
        for copying in (copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=r"checkpoint.*snapshot.*clone"):
                copying(shared)
            with pytest.raises(TypeError, match=r"rollout buffer cannot be copied or pickled: pass copies"):
                copying(shared.buffer(2))
    with begun(GAME, opponents="hand:time=10ms", address=server.unix) as timed:
        with pytest.raises(TypeError, match=r"time=.*checkpoint.*snapshot.*clone"):
            copy.deepcopy(timed)
    with blockyard.BlockPool(GAME, 2, 1, address=server.unix) as pool, pytest.raises(TypeError, match="checkpoint"):
        pickle.dumps(pool)
