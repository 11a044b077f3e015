"""A short run of the chaos test, and its parts: clients that are killed, stopped, slowed and cut off."""

from __future__ import annotations

import random
import signal
import socket
import subprocess
import sys
import threading
from pathlib import Path

import numpy as np
import pytest

BENCH = Path(__file__).resolve().parents[2] / "bench"
sys.path.insert(0, str(BENCH))

import chaos  # noqa: E402
from faults.clients import choose  # noqa: E402
from faults.proxy import Proxy  # noqa: E402
from faults.resources import exceeding  # noqa: E402


def resources(**more: object) -> dict[str, object]:
    values = dict.fromkeys(("sessions", "handles", "envs", "memory", "goroutines", "files", "shared"), 1)
    return {**values, "mappings": 100, "threads": 5, "mebibytes": 50.0, "leftovers": [], **more}


def test_what_may_grow() -> None:
    before = resources(leftovers=["/tmp/a"])
    assert exceeding(resources(threads=50, mebibytes=100, mappings=160, leftovers=["/tmp/a"], files=0), before) == []
    assert exceeding(resources(files=2, goroutines=3), before) == ["files: 2, before 1", "goroutines: 3, before 1"]
    more = exceeding(resources(leftovers=["/tmp/b"], mebibytes=200), before)
    assert more == ["/tmp/b is left", "mebibytes: 200, before 50.0"]


def test_choices_are_legal() -> None:
    rng = np.random.default_rng(0)
    masks = rng.integers(0, 256, (40, 9), np.uint8) & rng.integers(0, 256, (40, 9), np.uint8)
    masks[3] = 0
    masks[3, 8] = 128
    for step in range(5):
        actions = choose(masks, step)
        assert np.all(np.unpackbits(masks, axis=1, bitorder="little")[np.arange(40), actions])
        assert actions[3] == 71


def ended(script: str, fate: str, want: dict[str, str]) -> str:
    process = subprocess.Popen(["sh", "-c", script], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    client = chaos.Client("socket", fate, process, 0.0, [])
    return chaos.verdict(client, want)


def test_verdicts() -> None:
    want = {game: f"{k}abc" for k, game in enumerate(chaos.ENV_IDS)}
    whole = "".join(f"echo {game} {digest};" for game, digest in want.items())
    one, digest = next(iter(want.items()))
    assert ended(whole, "alone", want) == ""
    assert ended(f"{whole} echo {one} 0abd", "alone", want) == f"{one} has another hash"
    assert "after 1 games" in ended(f"echo {one} {digest}", "stop", want)
    assert "exit status 3" in ended(f"{whole} exit 3", "delay", want)
    assert ended(f"echo {one} {digest}; exit 3", "cut", want) == ""
    assert "exit status 1" in ended("exit 1", "reset", want)
    assert ended(f"echo {one} {digest[:2]}; kill -9 $$", "kill", want) == ""
    assert ended(f"echo {one} x; kill -9 $$", "kill", want) == f"{one} has another hash"
    assert "exit status -15" in ended("kill $$", "kill", want)


def test_fates() -> None:
    for seed in range(20):
        chance = random.Random(seed)
        assert [s for _, s in chaos.signals("stop", 2.0, chance)] == 2 * [signal.SIGSTOP, signal.SIGCONT]
        assert [s for _, s in chaos.signals("stop and kill", 2.0, chance)] == [signal.SIGSTOP, signal.SIGKILL]
        assert [s for _, s in chaos.signals("kill", 2.0, chance)] == [signal.SIGKILL]
        assert chaos.signals("delay", 2.0, chance) == []


def test_the_proxy() -> None:
    """It passes on all bytes late, ends a connection in their middle, or resets it."""
    sent = random.Random(0).randbytes(8 << 20)
    with socket.create_server(("127.0.0.1", 0)) as listener:

        def answer() -> None:
            for _ in range(3):
                conn, _ = listener.accept()
                with conn:
                    try:
                        assert conn.recv(5) == b"hello"
                        conn.sendall(sent)
                    except OSError:
                        pass  # cut off, as two of the three are

        thread = threading.Thread(target=answer)
        thread.start()
        with Proxy(f"tcp:127.0.0.1:{listener.getsockname()[1]}", 1) as proxy:
            got = {way: received(proxy.ports[way]) for way in ("delay", "cut", "reset")}
        thread.join(60)
        assert not proxy.tasks
    assert got["delay"] == (sent, None)
    for way, error in (("cut", None), ("reset", ConnectionResetError)):
        assert sent.startswith(got[way][0])
        assert len(got[way][0]) < len(sent)
        assert got[way][1] is error


def received(port: int) -> tuple[bytes, type[OSError] | None]:
    """Return all that comes from a port, and how it ended."""
    parts = []
    with socket.create_connection(("127.0.0.1", port), 60) as conn:
        conn.sendall(b"hello")
        try:
            while part := conn.recv(1 << 16):
                parts.append(part)
        except ConnectionResetError as error:
            return b"".join(parts), type(error)
    return b"".join(parts), None


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
def test_nothing_else_is_affected(capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/tmp")  # it sets one of its own
    short = "--minutes=0.34 --clients=4 --envs=16 --steps=60 --patience=300 --tries=1 --stop-ms=20000 --games=10"
    passed = chaos.main(short.split())
    out = capsys.readouterr().out
    assert passed, out
    assert '"failures": []' in out
