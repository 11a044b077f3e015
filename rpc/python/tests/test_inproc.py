"""The server as a library in this process: the same bytes as over other roads, and no harm to the process."""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import shutil
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import programs
import pytest
from conftest import ROOT, begun, pairs, random_actions

import blockyard
from blockyard.errors import ServerNotFoundError
from blockyard.single import ENV_IDS
from blockyard.transport import server as binary

pytestmark = pytest.mark.skipif(shutil.which("cc") is None, reason="no C compiler builds the library")


@pytest.fixture(scope="module", autouse=True)
def library(tmp_path_factory) -> Path:
    """The library that an installation has, or one that is built now."""
    try:
        found = binary.find_library()
    except ServerNotFoundError:
        found = tmp_path_factory.mktemp("lib") / binary.LIBRARY
        command = ["go", "build", "-buildmode=c-shared", "-ldflags", "-s -w", "-o", found, "./rpc/library"]
        subprocess.run(command, cwd=ROOT, env=os.environ | {"CGO_ENABLED": "1"}, check=True)
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BLOCKYARD_LIBRARY", str(found))
        yield found


def digest(env, steps: int, rng: np.random.Generator) -> str:
    """Play random legal actions from the position of the env's last step, and hash everything that is returned."""
    found, infos = hashlib.sha256(), env.engine.batch.infos(env.engine.batch.current)
    for _ in range(steps):
        obs, rewards, terminated, truncated, infos = env.step(random_actions(infos["action_mask"], rng))
        for array in (*obs.values(), rewards, terminated, truncated, *infos.values()):
            if isinstance(array, np.ndarray) and array.dtype != object:
                found.update(np.ascontiguousarray(array))
        for last in infos.get("final_obs", ()):
            if last is not None:
                found.update(last["planes"])
    return found.hexdigest()


def opponents(game: str):
    seats = blockyard.make(game, transport="inproc").game_spec.min_seats
    return {"hand": 1, "random": 3} if seats > 1 else "random"


@pytest.mark.parametrize("game", ENV_IDS)
def test_same_bytes(game, tmp_path):
    """Steps, mixtures, snapshots, rollouts, records and checkpoints are those of a process of its own."""
    said, checkpoints, against = {}, {}, opponents(game)
    for road in ("inproc", "process"):
        path = tmp_path / f"{road}.jsonl"
        record = {"path": path, "every": 2}
        with blockyard.make_vec(game, 7, opponents=against, transport=road, record=record, max_episode_steps=40) as env:
            assert (env.transport == "inproc") == (road == "inproc")
            env.reset(seed=11)
            played = [digest(env, 150, np.random.default_rng(1))]
            states = env.snapshot()
            played += [
                digest(env, 20, np.random.default_rng(2)),
                states.tobytes(),
                env.legal_actions().actions.tobytes(),
            ]
            env.restore(states)
            played += [env.rollout(30).buffer.arrays["planes"].tobytes(), env.afterstates(seed=3).planes.tobytes()]
            checkpoints[road] = env.checkpoint()
            played += [str(env.opponent_stats()), env.observation_texts()]
        played += [[json.loads(line) for line in path.read_text().splitlines()]]
        for record in played[-1]:
            record.pop("id", None)
        said[road] = played
    for one, other in zip(said["inproc"], said["process"], strict=True):
        assert one == other
    went = {}
    for road, before in (("inproc", "process"), ("process", "inproc"), ("socket", "inproc")):
        with begun(
            game, 7, opponents=against, transport=road, checkpoint=checkpoints[before], max_episode_steps=40
        ) as env:
            went[road, before] = digest(env, 50, np.random.default_rng(4))
    assert len(set(went.values())) == 1


@pytest.mark.slow
@pytest.mark.parametrize("game", ENV_IDS)
def test_same_bytes_for_a_million_steps(game):
    against = opponents(game)
    if against != "random":
        against = {"hand:ply=1": 1, "random": 3}
    said = set()
    for road in ("inproc", "shm", "socket"):
        with blockyard.make_vec(game, 1000, opponents=against, transport=road) as env:
            env.reset(seed=5)
            said.add(digest(env, 1000, np.random.default_rng(6)))
    assert len(said) == 1


def test_few_games_are_in_process():
    """By default, as far as nothing else is asked for, and not in a fork of a process that has loaded the library."""
    for games, options, road in (
        (64, {}, "inproc"),
        (65, {}, "shm"),
        (2, {"timeout": 20}, "shm"),
        (2, {"heal": True}, "shm"),
        (2, {"transport": "process"}, "shm"),
    ):
        with blockyard.make_vec("WinTetris-v0", games, **options) as env:
            assert env.transport == road or (road == "shm" and env.transport == "socket"), options
    said = run("""
        for _ in range(2):
            with blockyard.make("WinTetris-v0") as env:
                env.reset(seed=1)
                print(env.vector.transport == "inproc")
    """)
    assert said == "True\nTrue\n"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("BLOCKYARD_LIBRARY", "/nowhere")
        with blockyard.make("WinTetris-v0") as env:
            assert env.vector.transport != "inproc"


def test_forms_of_memory():
    """Arrays of one's own, slots, buffers, asynchronous steps and packed boards hold what the default returns."""
    rng = np.random.default_rng(0)
    trace = [rng.integers(0, 30, 5) for _ in range(60)]

    def play(step, **options):
        with begun("WinTetris-v0", 5, transport="inproc", seed=2, illegal="random", **options) as env:
            return [(o["globals"].copy(), r.copy()) for o, r, *_ in (step(env, actions) for actions in trace)]

    def posted(env, actions):
        env.step_async(actions)
        return env.step_wait()

    def given(env, actions):
        return env.step(actions, out={"globals": np.empty((5, len(env.game_spec.global_names)), np.float32)})

    want = play(lambda env, actions: env.step(actions))
    np.testing.assert_equal(play(lambda env, actions: env.step(actions), copy=False, slots=2), want)
    np.testing.assert_equal(play(lambda env, actions: env.step(actions), packed=True), want)
    np.testing.assert_equal(play(lambda env, actions: env.step(actions, out=env.buffer(1)[0])), want)
    np.testing.assert_equal(play(posted), want)
    np.testing.assert_equal(play(given), want)


@pytest.mark.parametrize("road", ["inproc", "process"])
def test_step_into(road):
    """A step into a buffer is the step whose result the buffer has."""
    with (
        blockyard.make_vec("BlockBattle-v0", 3, transport=road, seed=1) as env,
        blockyard.make_vec("BlockBattle-v0", 3, transport=road, seed=1) as other,
    ):
        buffer, (_, infos) = env.buffer(4), other.reset()
        env.reset()
        for t in range(80):
            buffer.actions[t % 4] = actions = random_actions(infos["action_mask"], np.random.default_rng(t))
            env.step_into(buffer, t % 4)
            obs, rewards, _, _, infos = other.step(actions)
            np.testing.assert_array_equal(buffer.planes[t % 4], obs["planes"])
            np.testing.assert_array_equal(buffer.reward[t % 4, :, 0], rewards)
            np.testing.assert_array_equal(env.action_masks, other.action_masks)
        env.step_async(actions)
        with pytest.raises(RuntimeError, match="step_into"):
            env.step_into(buffer)


@pytest.mark.parametrize(
    ("game", "road", "illegal"),
    pairs(
        ["BlockBattle-v0", "Blocking-v0", "Dropblox-v0"],
        [("inproc", "random"), ("process", "penalty"), ("inproc", "penalty"), ("process", "random")],
    ),
)
def test_single_environment_is_a_row(game, illegal, road):
    """A single environment says what the only row of a vector environment says, and counts the same."""
    options = {"transport": road, "illegal": illegal, "max_episode_steps": 23}
    with (
        blockyard.make_vec(game, 1, autoreset_mode="Disabled", **options) as env,
        contextlib.closing(blockyard.make(game, **options)) as one,
    ):
        rng, ended = np.random.default_rng(0), 0
        (_, many), (_, infos) = env.reset(seed=3), one.reset(seed=3)
        for _ in range(200):
            action = int(random_actions(many["action_mask"], rng)[0]) if rng.random() < 0.9 else int(rng.integers(40))
            obs, *rest, infos = one.step(action)
            rows, *other, many = env.step([action])
            assert rest == [array[0] for array in other]
            first = {key: value[0] for key, value in many.items() if not key.startswith("_")}
            assert list(infos) == list(first)
            for key, value in (infos | obs).items():
                np.testing.assert_array_equal(value, (first | {k: v[0] for k, v in rows.items()})[key], key)
            if any(rest[1:]):
                ended += 1
                with pytest.raises(blockyard.NeedsResetError):
                    one.step(0)
                (_, many), _ = env.reset(), one.reset()
        assert ended > 1
        assert one.vector.stats()["env"] == env.stats()["env"]


def test_errors():
    with blockyard.make_vec("BlockBattle-v0", 2, transport="inproc", illegal="error") as env:
        _, infos = env.reset(seed=1)
        illegal = infos["action_mask"].argmin(1)
        with pytest.raises(blockyard.IllegalActionError, match="environment 0"):
            env.step(illegal)
        env.step_async(illegal)
        with pytest.raises(blockyard.IllegalActionError):
            env.step_wait()
        env.step(random_actions(infos["action_mask"], np.random.default_rng(0)))
        env.client.connection.close()
        with pytest.raises(blockyard.ServerGoneError, match="closed"):
            env.step(illegal)
    with pytest.raises(blockyard.BlockyardError, match=r"127\.0\.0\.1"):
        blockyard.make_vec("BlockBattle-v0", 2, transport="inproc", address="tcp:127.0.0.1:1")
    with pytest.raises(blockyard.RequestError, match="a pool"):
        blockyard.BlockPool("BlockBattle-v0", 2, 1, transport="inproc")
    with blockyard.connect("inproc:") as client, client.make("WinTetris-v0") as env:
        assert env.vector.transport == "inproc"
        with pytest.raises(blockyard.RequestError, match="not over inproc:"):
            client.make_vec("WinTetris-v0", 2, transport="shm")


def run(program: str, **env: str) -> str:
    """Run a program in a process of its own and return what it prints."""
    code = "import os, signal, time, blockyard\n" + textwrap.dedent(program)
    done = programs.run("-c", code, env=os.environ | env)
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_fork_is_noticed():
    """In a forked child an environment of the parent, and a new one in process, are errors; a process serves it."""
    said = run("""
        env = blockyard.make("WinTetris-v0", transport="inproc")
        env.reset(seed=1)
        if (child := os.fork()) == 0:
            for attempt in (lambda: env.step(0), lambda: blockyard.make("WinTetris-v0", transport="inproc")):
                try:
                    attempt()
                except blockyard.ForkError as error:
                    print("refused:", error)
            env.close()
            with blockyard.make("WinTetris-v0") as own:
                own.reset(seed=1)
                print("a process serves", own.vector.transport, flush=True)
            os._exit(0)
        assert os.waitpid(child, 0)[1] == 0
        env.step(0)
        print("the parent goes on")
    """)
    assert said.count("refused:") == 2
    assert "spawn" in said
    assert "a process serves shm" in said or "a process serves socket" in said
    assert "the parent goes on" in said


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="only Linux tells which signals have a handler")
def test_signals_stay_those_of_python():
    """Loading the library handles no signal that programs use, and Ctrl-C interrupts Python between two calls."""
    said = run("""
        signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with it ignored
        mine = [signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGCHLD, signal.SIGALRM]
        def caught():
            lines = dict(line.split(":") for line in open("/proc/self/status"))
            return [int(lines["SigCgt"], 16) >> number - 1 & 1 for number in mine]
        before = caught()
        env = blockyard.make_vec("WinTetris-v0", 4, transport="inproc")
        env.reset(seed=1)
        assert caught() == before, (caught(), before)
        closed, pipe = os.pipe()
        os.close(closed)
        try:
            os.write(pipe, b"x")
        except BrokenPipeError:
            print("no reader")
        signal.signal(signal.SIGALRM, lambda *_: os.kill(os.getpid(), signal.SIGINT))
        signal.setitimer(signal.ITIMER_REAL, 0.3)
        try:
            while True:
                env.rollout(200, keep="last")
        except KeyboardInterrupt:
            print("interrupted")
        env.reset(seed=1)
        env.step([0] * 4)
    """)
    assert said == "no reader\ninterrupted\n"


def test_idle_threads_sleep():
    said = run("""
        env = blockyard.make_vec("WinTetris-v0", 64, transport="inproc")
        env.reset(seed=1)
        env.rollout(100, keep="last")
        begun = time.process_time()
        time.sleep(2)
        print(time.process_time() - begun)
        assert not {"GOGC", "GOMAXPROCS", "GOMEMLIMIT"} & set(os.environ)
    """)
    assert float(said) < 1, "a spinning thread would have taken 2 seconds"


@pytest.mark.parametrize("context", ["fork", "forkserver", "spawn"])
def test_async_vector_env(context):
    """Workers that are forks of a process with the library start servers; others load the library themselves."""
    said = run(f"""
        import gymnasium
        def make():
            import gymnasium, multiprocessing, blockyard
            env, worker = gymnasium.make("blockyard/WinTetris-v0"), multiprocessing.parent_process() is not None
            assert (env.unwrapped.vector.transport != "inproc") == (worker and {context!r} == "fork")
            return env
        first = blockyard.make("WinTetris-v0", transport="inproc")
        envs = gymnasium.vector.AsyncVectorEnv([make, make], context={context!r})
        seen = [envs.reset(seed=1)[0]["planes"], envs.step([0, 0])[0]["planes"]]
        envs.close()
        for planes in (first.reset(seed=1)[0]["planes"], first.step(0)[0]["planes"]):
            assert (seen.pop(0)[0] == planes).all()
        print("both")
    """)
    assert said == "both\n"


def test_another_library_of_go_is_refused(library, tmp_path):
    """Such a library is recognised by a symbol in it; it may be loaded later, when nobody can refuse it."""
    other, gone = tmp_path / "libother.so", tmp_path / "libgone.so"
    shutil.copy(library, other)
    said = run(f"""
        import _ctypes, ctypes, shutil
        ctypes.CDLL(shutil.copy(_ctypes.__file__, {str(gone)!r}))
        os.remove({str(gone)!r})
        ctypes.CDLL({str(other)!r})
        try:
            blockyard.make("WinTetris-v0", transport="inproc")
        except blockyard.ServerStartError as error:
            print(error)
        os._exit(0)
    """)
    assert str(other) in said


def test_library_that_cannot_be_loaded(tmp_path):
    (tmp_path / "libodd.so").write_bytes(b"no library")
    program = """
        try:
            blockyard.make("WinTetris-v0", transport="inproc")
        except blockyard.BlockyardError as error:
            print(type(error).__name__, error)
    """
    assert "ServerStartError" in run(program, BLOCKYARD_LIBRARY=str(tmp_path / "libodd.so"))
    assert "ServerNotFoundError" in run(program, BLOCKYARD_LIBRARY=str(tmp_path / "gone"))


def test_memory_of_closed_environments_is_given_back():
    """Environments that come and go, and arrays that outlive them."""
    kept = []
    for _ in range(30):
        with blockyard.make_vec("BlockBattle-v0", 8, transport="inproc") as env:
            obs, infos = env.reset(seed=1)
            obs, *_, infos = env.step(random_actions(infos["action_mask"], np.random.default_rng(0)))
            kept.append(obs["planes"])
    assert all(np.array_equal(kept[0], planes) for planes in kept)
    with blockyard.connect("inproc:") as client:
        stats = client.stats()
        assert (stats["handles"], stats["envs"], stats["memory"]) == (0, 0, 0)
