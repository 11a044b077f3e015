"""Mistakes that would go unnoticed, and calls after which an environment could not be used any more."""

from __future__ import annotations

import copy
import gc
import json
import os
import pickle
import shutil
import signal
import subprocess
import sys
import threading
import time

import gymnasium
import numpy as np
import pytest
from conftest import GAME, Server

import blockyard


def test_what_is_written_to_infos_is_read(server: Server):
    with blockyard.make_vec(GAME, 2, address=server.unix, seed=1, max_episode_steps=2) as env:
        mine = np.zeros((2, env.game_spec.actions), np.int8)
        rng = np.random.default_rng(0)

        def infos():
            env.reset()
            env.step(env.sample_actions(rng))
            return env.step(env.sample_actions(rng))[4]

        for write in (
            lambda i: i.update(action_mask=mine),
            lambda i: i.update({"action_mask": mine}),
            lambda i: i.update([("action_mask", mine)]),
            lambda i: i.__ior__({"action_mask": mine}),
            lambda i: i.__setitem__("action_mask", mine),
        ):
            for got in ((i := infos()), i["final_info"], copy.copy(infos())):
                write(got)
                assert got["action_mask"] is mine
                assert dict(got)["action_mask"] is mine
                assert pickle.loads(pickle.dumps(got))["action_mask"].sum() == 0
        got = infos()
        got |= {"final_obs": "mine"}
        assert got["final_obs"] == "mine"
        assert type(got) is type(infos())
        assert infos().setdefault("action_mask", mine).sum() > 0
        assert infos()["final_info"].setdefault("action_mask").sum() > 0
        got = infos()
        assert all(value is not None for _, value in (got.popitem() for _ in range(len(got))))
        got = infos()
        got.clear()
        assert not got
        assert got.setdefault("action_mask", mine) is mine


@pytest.mark.parametrize("mode", ["penalty", "random", "error"])
@pytest.mark.parametrize("dtype", [np.int64, np.uint16, np.int32, ">i4"])
def test_actions_outside_of_the_space(server: Server, mode, dtype):
    """They are refused in every mode, and no game is stepped; rows that wait may be given anything."""
    with blockyard.make_vec("TetrisDuel-v0", 3, address=server.unix, illegal=mode, seed=1) as env:
        env.reset()
        before = env.snapshot()
        for wrong in (env.game_spec.actions, 65535, -1 if np.dtype(dtype).kind == "i" else 60_000):
            actions = env.sample_actions(np.random.default_rng(0)).astype(dtype)
            actions[1] = wrong
            for step in (env.step, env.step_async):
                with pytest.raises(blockyard.IllegalActionError, match=rf"actions\[1\]: {wrong} is not an action"):
                    step(actions)
            np.testing.assert_array_equal(env.snapshot(), before)
        env.step(env.sample_actions(np.random.default_rng(0)))
    with blockyard.BlockPool("TetrisDuel-v0", 3, 3, address=server.unix, illegal=mode, seed=1) as pool:
        pool.async_reset()
        pool.recv()
        with pytest.raises(blockyard.IllegalActionError, match="65535 is not an action"):
            pool.send([0, 65535, 0])
        pool.send([0, 0, 0] if mode != "error" else pool.envs[0].sample_actions(np.random.default_rng(0)))
    with blockyard.make_vec("BlockBattle-v0", 2, address=server.unix, opponents=None, seed=1, illegal=mode) as env:
        env.reset()
        actions = env.sample_actions(np.random.default_rng(0))
        env.step(np.where(env.acting, actions, -1))


FAILING = {
    "illegal": lambda env: env.step((~env.action_masks).argmax(1)),
    "floats": lambda env: env.step(np.zeros(4)),
    "async": lambda env: (env.step_async((~env.action_masks).argmax(1)), env.step_wait()),
    "restore": lambda env: env.restore(np.zeros_like(env.snapshot())),
    "clone": lambda env: env.clone([0], [99]),
    "reset": lambda env: env.reset(seed=-1),
}


@pytest.mark.parametrize("transport", ["shm", "socket"])
@pytest.mark.parametrize("fail", FAILING.values(), ids=FAILING)
def test_a_call_that_fails_uses_no_memory(server: Server, transport, fail):
    """With copy=False the arrays of the last two steps stay as they are."""
    how = {"copy": False, "slots": 2, "illegal": "error", "seed": 1, "transport": transport}
    with blockyard.make_vec(GAME, 4, address=server.unix, **how) as env:
        rng = np.random.default_rng(0)
        env.reset()
        older = env.step(env.sample_actions(rng))
        last = env.step(env.sample_actions(rng))
        kept = [{k: v.copy() for k, v in obs.items()} for obs in (older[0], last[0])]
        for _ in range(3):
            with pytest.raises((blockyard.BlockyardError, TypeError, ValueError)):
                fail(env)
        assert older[4]["action_mask"].any()
        np.testing.assert_array_equal(last[4]["action_mask"], env.action_masks)
        assert env.acting.all()
        for obs, copies in zip((older[0], last[0]), kept, strict=True):
            for name, array in copies.items():
                np.testing.assert_array_equal(obs[name], array)
        following = env.step(env.sample_actions(rng))[0]
        assert not np.shares_memory(last[0]["planes"], following["planes"])
        np.testing.assert_array_equal(last[0]["planes"], kept[1]["planes"])


@pytest.mark.parametrize("road", ["shm", "socket"])
def test_many_kept_steps(server: Server, road):
    """What is kept of a step keeps nothing else of it, and no mapping of the process for each."""
    with blockyard.make_vec(GAME, 64, address=server.unix, transport=road, seed=1, illegal="random") as env:
        env.reset()
        actions, flags, numbers = np.zeros(64, np.int64), [], []
        for _ in range(120):
            obs, _, terminated, truncated, infos = env.step(actions)
            flags += [terminated, truncated, infos["score"], infos["illegal"], infos["opponent"], env.scores]
            numbers.append(obs["globals"])
        for flag in flags:
            assert owner(flag).nbytes == flag.nbytes
        for array in numbers[64:]:
            assert owner(array).nbytes == array.nbytes
        with open("/proc/self/maps") as maps:
            before = sum(1 for _ in maps)
        for _ in range(300):
            numbers.append(env.step(actions)[0]["globals"])
        with open("/proc/self/maps") as maps:
            assert sum(1 for _ in maps) < before + 60


def owner(array):
    """Return what holds the memory of an array."""
    while isinstance(array.base, np.ndarray):
        array = array.base
    return array if array.base is None else memoryview(array.base)


def test_slow_steps_do_not_look_like_lost_servers(program, caplog):
    """With heal=True, a second time-out in a row of the same request ends it."""
    server = subprocess.Popen(
        [program, "serve", "--listen", "tcp:127.0.0.1:0"], stdin=subprocess.PIPE, stdout=subprocess.PIPE
    )
    try:
        address = json.loads(server.stdout.readline())["ready"][0]
        with blockyard.make_vec("WinTetris-v0", 2, address=address, seed=1, heal=True, heal_timeout=60) as env:
            env.reset()
            inner = env._transport.inner
            silent = blockyard.ServerTimeoutError("step: the server did nothing")

            def slow(*_):
                raise silent

            type(inner).step, plain = slow, type(inner).step
            try:
                with pytest.raises(blockyard.ServerTimeoutError, match="longer timeout="):
                    env.step([0, 0])
            finally:
                type(inner).step = plain
            assert len([r for r in caplog.records if "games continue at" in r.getMessage()]) == 1
            env.step([0, 0])
    finally:
        server.terminate()
        server.communicate(timeout=30)


@pytest.mark.parametrize("transport", ["shm", "socket"])
def test_ctrl_c_in_a_step(server: Server, transport):
    """The next call of this environment, and of all others of its connection, works; the answer is dropped."""
    with blockyard.connect(server.unix) as client:
        env = client.make_vec("Blocking-v0", 256, opponents="hand:ply=1", seed=1, illegal="random", transport=transport)
        other = client.make_vec("WinTetris-v0", 2)
        other.reset()
        env.reset()
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        try:
            for k in range(12):
                actions = env.sample_actions(np.random.default_rng(k))
                killer = threading.Timer(0.004 * k, os.kill, (os.getpid(), signal.SIGINT))
                try:
                    killer.start()
                    for _ in range(10_000):
                        env.step(actions)
                except KeyboardInterrupt:
                    pass
                killer.join()
                other.reset()
                state = env.checkpoint()
                assert env.restore_checkpoint(state)[0]["planes"].any()
        finally:
            signal.signal(signal.SIGINT, before)
        a, b = env.restore_checkpoint(state), env.step(actions)
        env.restore_checkpoint(state)
        for name, array in env.step(actions)[0].items():
            np.testing.assert_array_equal(array, b[0][name])
        assert a[0]["planes"].shape == b[0]["planes"].shape


@pytest.mark.parametrize("size", [0, 1, 100])
def test_an_interruption_in_the_middle_of_an_answer(server: Server, size, monkeypatch):
    """However much of an answer was read, the next answer is recognised."""
    with blockyard.make_vec(GAME, 64, address=server.tcp, seed=1) as env, env.client as client:
        env.reset()
        connection = client.connection
        sock = connection._sock

        class Interrupted:
            def __getattr__(self, name):
                return getattr(sock, name)

            def recv_into(self, buffer, *_):
                if size:
                    sock.recv_into(memoryview(buffer)[:size])
                raise KeyboardInterrupt

        connection._sock = Interrupted()
        with pytest.raises(KeyboardInterrupt):
            env.step(np.zeros(64, np.int64))
        connection._sock = sock
        assert (env.snapshot() == env.snapshot()).all()
        env.step(env.sample_actions(np.random.default_rng(0)))


def test_dropped_environments_are_freed(server: Server):
    with blockyard.connect(server.tcp) as client:
        for k in range(150):
            env = client.make_vec("WinTetris-v0", 2, seed=k)
            env.reset()
        del env
        gc.collect()
        stats = client.stats()
        assert (stats["handles"], stats["envs"]) == (0, 0)
        kept = []
        with pytest.raises(blockyard.LimitError, match="close"):
            for _ in range(5000):
                kept.append(client.make_vec("WinTetris-v0"))
        for env in kept:
            env.close()
            env.close()
        del kept, env
        gc.collect()
        client.make_vec("WinTetris-v0").reset()


def test_time_limit_of_gymnasium(server: Server, tmp_path):
    """Games that gymnasium.make's max_episode_steps truncates are recorded and counted, and do not act any more."""
    env = gymnasium.make(
        "blockyard/BlockBattle-v0",
        max_episode_steps=5,
        address=server.unix,
        record={"path": tmp_path / "g", "every": 1},
    )
    for seed in (1, None, None):
        env.reset(seed=seed)
        for k in range(5):
            *_, terminated, truncated, info = env.step(int(env.unwrapped.action_masks().argmax()))
            assert (terminated, truncated) == (False, k == 4)
            assert info["acting"] == (k < 4)
    assert env.unwrapped.opponent_stats()["random"].truncated == 3
    assert env.unwrapped.stop_recording().games == 3
    again = gymnasium.make(gymnasium.envs.registration.EnvSpec.from_json(plain(env.spec).to_json()))
    again.reset()
    for _ in range(5):
        *_, info = again.step(int(again.unwrapped.action_masks().argmax()))
    assert not info["acting"]
    env.close()
    again.close()


def plain(spec):
    """Return a spec without what JSON cannot hold."""
    kept = copy.deepcopy(spec)
    del kept.kwargs["record"]
    return kept


def test_interrupted_while_healing(program):
    """What an interrupted step did is not in the journal: the games are saved before the next request."""
    code = """
import blockyard, numpy as np, os
env = blockyard.make_vec("WinTetris-v0", 4, seed=3, heal=True)
env.reset()
inner = env._transport.inner
def interrupted(*args):
    plain(*args)
    raise KeyboardInterrupt
plain, inner.step = inner.step, interrupted
try:
    env.step(np.zeros(4, int))
except KeyboardInterrupt:
    inner.step = plain
state = env.snapshot()
os.kill(env.client.server_pid, 9)
print((env.snapshot() == state).all())
"""
    env = {**os.environ, "BLOCKYARD_SERVER": str(program)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=env)
    assert done.stdout == "True\n", done.stderr


def test_waits_end(server: Server):
    """A closed pool says so at once."""
    pool = blockyard.BlockPool("WinTetris-v0", 2, 1, address=server.unix)
    pool.async_reset()
    pool.recv()
    pool.close()
    begun = time.monotonic()
    for call in (pool.recv, lambda: pool.send([0], [0]), pool.async_reset, pool.checkpoint):
        with pytest.raises(blockyard.BlockyardError, match="the pool is closed"):
            call()
    assert time.monotonic() - begun < 30


def test_specs_survive_json(server: Server, tmp_path):
    """Seats are numbers, of which JSON makes text."""
    how = {"opponents": {1: {"random": 1, "first": 1}}, "address": server.unix, "seed": 1}
    record = {"path": str(tmp_path / "g.jsonl"), "every": 1, "players": {0: "mine"}}
    env = gymnasium.make("blockyard/BlockBattle-v0", record=record, **how)
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
    env.close()
    assert json.loads((tmp_path / "h.jsonl").read_text().splitlines()[0])["agents"][0] == "mine"


def test_commas_in_paths(server: Server, program, tmp_path):
    folder = tmp_path / "a,b"
    folder.mkdir()
    path = folder / "w.safetensors"
    with blockyard.make_vec(GAME, 1, address=server.unix) as env:
        facts = blockyard.feature_facts(env)
        blockyard.save_weights(path, [(np.zeros((1, len(facts))), np.zeros(1))], facts)
        with pytest.raises(ValueError, match="in quotes"):
            env.set_opponents(f"learned:weights={path}")
        env.set_opponents(f'learned:weights="{path}",ply=1')
        env.reset()
        env.step(env.action_masks.argmax(1))
    code = "import blockyard; blockyard.make_vec('WinTetris-v0').close(); print('ok')"
    env = {**os.environ, "TMPDIR": str(folder), "BLOCKYARD_SERVER": str(program)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=env)
    assert done.stdout == "ok\n", done.stderr
    with blockyard.connect(server.tcp.replace("tcp:", "tcp://")) as client:
        client.ping()


def test_copies_continue(server: Server):
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
    single = blockyard.make(GAME, seed=1, **how)
    single.reset()
    twin = copy.deepcopy(single)
    np.testing.assert_array_equal(twin.step(0)[0]["planes"], single.step(0)[0]["planes"])
    single.close()
    twin.close()
    with blockyard.connect(server.unix) as client, client.make_vec(GAME) as shared:
        for copying in (copy.deepcopy, pickle.dumps):
            with pytest.raises(TypeError, match=r"checkpoint.*snapshot.*clone"):
                copying(shared)
    with blockyard.make_vec(GAME, opponents="hand:time=10ms", address=server.unix) as timed:
        timed.reset()
        with pytest.raises(TypeError, match=r"time=.*checkpoint.*snapshot.*clone"):
            copy.deepcopy(timed)
    with blockyard.BlockPool(GAME, 2, 1, address=server.unix) as pool, pytest.raises(TypeError, match="checkpoint"):
        pickle.dumps(pool)


def test_a_picture_for_each_row(server: Server):
    how = {"opponents": None, "render_mode": "rgb_array", "address": server.unix}
    with blockyard.make_vec(GAME, 2, **how) as env:
        env.reset()
        frames = env.render()
        assert len(frames) == env.num_envs == 4
        assert [f.shape for f in frames] == [frames[0].shape] * 4
        np.testing.assert_array_equal(frames[0], frames[1])
        np.testing.assert_array_equal(frames[2], env.picture(1))


def test_places_are_named(program, tmp_path):
    """Why a server cannot be started: its program, or the folder of its socket."""
    package = os.path.dirname(blockyard.__file__)
    shutil.copytree(package, tmp_path / "blockyard", ignore=shutil.ignore_patterns("__pycache__", "_bin"))
    (tmp_path / "blockyard" / "_bin").mkdir()
    target = tmp_path / "blockyard" / "_bin" / "blockyard-server"
    target.write_bytes(b"")
    target.chmod(0o644)
    code = "import blockyard; blockyard.make_vec('WinTetris-v0')"
    clean = {k: v for k, v in os.environ.items() if k != "BLOCKYARD_SERVER"}
    clean |= {"PYTHONPATH": str(tmp_path), "PATH": os.path.dirname(sys.executable)}

    def fails(**env):
        done = subprocess.run(
            [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=clean | env
        )
        assert done.returncode == 1
        return done.stderr.splitlines()[-1] if "Start" in done.stderr else done.stderr

    assert "the program in this installation is not executable" in fails()
    code = """
import os, tempfile, blockyard
tempfile.tempdir, os.access = "/" + "x" * 120, lambda path, mode: path != "/tmp"
blockyard.transport.server.process.find_server = lambda: "/bin/true"
blockyard.make_vec("WinTetris-v0")
"""
    assert "too long for a Unix socket, and /tmp cannot be written to; set TMPDIR to another" in fails()


def test_nothing_runs_between_fork_and_exec(program):
    """Starting the server forks no process with threads in Python."""
    code = """
import os, blockyard
seen = []
os.register_at_fork(before=lambda: seen.append(1))
blockyard.make_vec("WinTetris-v0").close()
print(seen)
"""
    env = {**os.environ, "BLOCKYARD_SERVER": str(program)}
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=120, env=env)
    assert done.stdout == "[]\n", done.stderr


def test_arguments_that_say_nothing(server: Server):
    with pytest.raises(ValueError, match=r"opponents: got \{\}"):
        blockyard.make_vec(GAME, address=server.unix, opponents={})
    with pytest.raises(ValueError, match="played by one seat"):
        blockyard.make_vec("WinTetris-v0", address=server.unix, opponents="hand")
    for opponents in (None, "random"):
        blockyard.make_vec("WinTetris-v0", address=server.unix, opponents=opponents).close()


def test_actions_are_counted_in_every_mode(server: Server):
    for mode in ("penalty", "random", "error"):
        with blockyard.make_vec("BlockBattle-v0", 4, address=server.unix, illegal=mode, seed=1) as env:
            env.reset()
            for _ in range(3):
                env.step(env.action_masks.argmax(1))
            assert env.stats()["env"] == {"actions": 12, "illegal": 0}


def test_values_that_choose_nothing(server: Server):
    with blockyard.make_vec(GAME, 2, address=server.unix) as env:
        env.reset()
        found = blockyard.features(env)
        values = np.zeros(len(found), np.float32)
        assert env.action_masks[[0, 1], found.actions[found.best(values)]].all()
        with pytest.raises(ValueError, match="shape"):
            found.best(values[:, None])
        values[3] = np.nan
        with pytest.raises(ValueError, match="entry 3 is nan"):
            found.best(values)
