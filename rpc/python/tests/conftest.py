"""A real server for the tests, and helpers to play and compare."""

from __future__ import annotations

import importlib.util
import json
import os
import random
import subprocess
from collections.abc import Callable, Iterable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from importlib.machinery import SourceFileLoader
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mortal import Mortal, mortals

import blockyard
from blockyard.transport.connection import Connection
from blockyard.transport.server import find_server

# Ray gives a node half a minute to come up, which a busy machine exceeds.
os.environ.setdefault("RAY_raylet_start_wait_time_s", "240")

ROOT = Path(__file__).resolve().parents[3]
GAME = "BlockBattle-v0"
MODES = ["NextStep", "SameStep", "Disabled"]


def pairs(first: Iterable[Any], second: Iterable[Any]) -> list[Any]:
    """Return every pair as parameters of a test. Those marked slow are not needed to see each value once."""
    second = list(second)

    def parts(value: Any) -> tuple[Any, ...]:
        return value if isinstance(value, tuple) else (value,)

    return [
        pytest.param(*parts(a), *parts(b), marks=[pytest.mark.slow] if (i + j) % len(second) else [])
        for i, a in enumerate(first)
        for j, b in enumerate(second)
    ]


def script(path: Path) -> Any:
    """Return a Python script of the repository, which is no module of the package, as a module."""
    loader = SourceFileLoader(path.name, str(path))
    spec = importlib.util.spec_from_loader(path.name, loader)
    assert spec is not None
    module = importlib.util.module_from_spec(spec)
    loader.exec_module(module)
    return module


@dataclass
class Server:
    process: subprocess.Popen[bytes]
    unix: str
    tcp: str
    program: Path


@pytest.fixture(scope="session")
def program() -> Path:
    return find_server()


@pytest.fixture(scope="session")
def datasets(program: Path) -> list[Path | str]:
    """The command ``datasets``, which knows the format of records best."""
    return [program, "datasets"]


@contextmanager
def serving(program: Path, folder: Path) -> Iterator[Server]:
    """Run a server on a Unix socket in folder and on TCP; it must exit without an error."""
    path = folder / "s.sock"
    command = [program, "serve", "--listen", f"unix:{path}", "--listen", "tcp:127.0.0.1:0", "--parent-death"]
    process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert process.stdout is not None
    unix, tcp = json.loads(process.stdout.readline())["ready"]
    try:
        yield Server(process, unix, tcp, program)
    finally:
        process.terminate()
        log = process.communicate(timeout=30)[1].decode()
    assert process.returncode == 0, log
    assert "internal" not in log, log
    assert not path.exists()


@pytest.fixture(scope="session")
def server(program: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Server]:
    """A server that all tests of a process share."""
    with serving(program, tmp_path_factory.mktemp("s")) as running:
        yield running


@pytest.fixture
def two(program: Path, tmp_path: Path) -> Iterator[list[Mortal]]:
    """Two servers of a test, which kills them and starts them again."""
    with mortals(program, f"unix:{tmp_path}/a", "tcp:127.0.0.1:0") as servers:
        yield servers


def shorten(connection: Connection, seconds: float) -> None:
    """Let a connection wait only this long for bytes from now on.

    A test of silence opens with a time-out that no slow machine exceeds, and shortens it when the other side has
    gone silent.
    """
    connection.timeout = seconds
    connection._sock.settimeout(seconds)


@contextmanager
def begun(*args: Any, kind: Any = blockyard.make_vec, **how: Any) -> Iterator[Any]:
    """An environment of this kind after its first reset."""
    with kind(*args, **how) as env:
        env.reset()
        yield env


@pytest.fixture
def closing() -> Iterator[Callable[[Any], Any]]:
    """What returns an environment, and closes it when the test ends."""
    with ExitStack() as stack:

        def closed_at_the_end(env: Any) -> Any:
            stack.callback(env.close)
            return env

        yield closed_at_the_end


def first(obs: Any, mask: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A policy that plays the first legal action, as the server's agent ``first``."""
    return mask.argmax(1)


def last(obs: Any, mask: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """A policy that plays the last legal action."""
    return mask.shape[1] - 1 - mask[:, ::-1].argmax(1)


def advance(env: Any, steps: int, rng: np.random.Generator | int | None = None) -> Any:
    """Play the first legal actions, or random ones of a generator or a seed; return what the last step returns."""
    rng = None if rng is None else np.random.default_rng(rng)
    for _ in range(steps):
        result = env.step(env.action_masks.argmax(1) if rng is None else env.sample_actions(rng))
    return result


def play(env: Any, steps: int, seed: int = 0) -> list[tuple[Any, ...]]:
    """Play random legal actions, with resets of ended games in DISABLED mode; return everything that was returned."""
    rng = np.random.default_rng(seed)
    obs, infos = env.reset(seed=100 + seed)
    trace: list[tuple[Any, ...]] = [(copied(obs), copied(infos))]
    for _ in range(steps):
        obs, rewards, terminated, truncated, infos = env.step(random_actions(infos["action_mask"], rng))
        trace.append((copied(obs), rewards.copy(), terminated.copy(), truncated.copy(), copied(infos)))
        ended = terminated | truncated
        if env.metadata["autoreset_mode"].value == "Disabled" and ended.any():
            obs, infos = env.reset(options={"reset_mask": ended})
            trace.append((copied(obs), copied(infos)))
            infos = infos | {"action_mask": env_masks(env, infos, trace)}
    return trace


def env_masks(env: Any, infos: dict[str, Any], trace: list[tuple[Any, ...]]) -> Any:
    """Return the masks of all rows after some were reset: the others kept theirs."""
    fresh = infos["_action_mask"]
    return np.where(fresh[:, None], infos["action_mask"], trace[-2][-1]["action_mask"])


def random_actions(masks: Any, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Return a random legal action for each row, 0 where it has none."""
    return (masks * rng.random(masks.shape)).argmax(1)


def copied(x: Any) -> Any:
    """Return a deep copy as plain dicts and arrays."""
    if isinstance(x, dict):
        return {k: copied(v) for k, v in x.items()}
    if isinstance(x, (list, tuple)):
        return [copied(v) for v in x]
    if isinstance(x, np.ndarray) and x.dtype == object:
        return np.array([None if v is None else copied(v) for v in x] + [None], object)[:-1]
    return np.array(x)


def assert_same(a: Any, b: Any, path: str = "") -> None:
    """Compare deeply, and say where the first difference is."""
    if isinstance(a, dict) or isinstance(b, dict):
        assert isinstance(a, dict), path
        assert isinstance(b, dict), path
        assert a.keys() == b.keys(), path
        for k in a:
            assert_same(a[k], b[k], f"{path}.{k}")
    elif isinstance(a, (list, tuple)):
        assert len(a) == len(b), path
        for i, (x, y) in enumerate(zip(a, b, strict=True)):
            assert_same(x, y, f"{path}[{i}]")
    elif isinstance(a, np.ndarray) and a.dtype == object:
        assert_same(list(a), list(b), path)
    else:
        assert type(a) is type(b), path
        if isinstance(a, np.ndarray):
            assert a.dtype == b.dtype, f"{path}: {a.dtype} {b.dtype}"
        np.testing.assert_array_equal(a, b, path)


def processes_of(marker: str) -> list[int]:
    """Return the processes whose command line has marker."""
    found = []
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit() and int(entry.name) != os.getpid():
            try:
                if marker in (entry / "cmdline").read_text():
                    found.append(int(entry.name))
            except OSError:
                continue
    return found


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption("--libraries", action="store_true", help="also run the tests on torch, Stable-Baselines3, Ray …")
    parser.addoption("--shuffle", type=int, metavar="SEED", help="run modules, and the tests of each, in random order")


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Exclude tests of large libraries by default; with --libraries a missing library is an error."""
    return True if collection_path.name == "libraries" and not config.getoption("--libraries") else None


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Shuffle modules, and the tests within each, which share fixtures; all workers get the same order."""
    if config.getoption("--shuffle") is not None:
        rng = random.Random(config.getoption("--shuffle"))
        places = {path: rng.random() for path in dict.fromkeys(item.path for item in items)}
        items.sort(key=lambda item: (places[item.path], rng.random()))
