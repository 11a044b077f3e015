"""The life of servers and connections; nothing is left when they end."""

from __future__ import annotations

import gc
import glob
import os
import signal
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import numpy as np
import programs
import pytest
from conftest import GAME, Server, begun, processes_of, shorten

import blockyard


def alive(pid: int) -> bool:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rsplit(")", 1)[1].split()[0] != "Z"
    except OSError:
        return False


def wait_for(condition, seconds: float = 60.0) -> bool:
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if condition():
            return True
        time.sleep(0.01)
    return bool(condition())


def stop(pid: int) -> None:
    """Stop a process, and wait until none of its threads runs any more."""
    os.kill(pid, signal.SIGSTOP)
    stats = Path(f"/proc/{pid}/task").glob("*/stat")
    states = [stat.read_text().rsplit(")", 1)[1].split()[0] for stat in stats]
    if set(states) != {"T"}:
        time.sleep(0.001)
        stop(pid)


def sockets(pid: int | str = "") -> list[str]:
    return glob.glob(f"{tempfile.gettempdir()}/blockyard-{pid or os.getpid()}-*.sock")


def test_own_server_comes_and_goes():
    a = blockyard.make_vec(GAME, 2, transport="process")
    pid = a.client.server_pid
    b = blockyard.make(GAME, transport="process")
    assert b.vector.client.server_pid == pid
    assert alive(pid)
    assert len(sockets()) == 1
    a.close()
    b.reset()
    assert alive(pid)
    b.close()
    assert not alive(pid)
    assert not sockets()


def test_collected_environments_end_it_too():
    env = blockyard.make_vec(GAME, 2, transport="process")
    pid = env.client.server_pid
    env.reset()
    del env
    gc.collect()
    assert not alive(pid)
    assert not sockets()


def test_a_process_that_forgets_to_close_leaves_nothing():
    make = f"e = blockyard.make_vec({GAME!r}, 2, transport='process')"
    code = f"import blockyard; {make}; e.reset(); print(e.client.server_pid)"
    done = subprocess.run([sys.executable, "-W", "error", "-c", code], capture_output=True, text=True, check=True)
    assert not alive(int(done.stdout))
    assert done.stderr == ""
    assert not glob.glob(f"{tempfile.gettempdir()}/blockyard-*{done.stdout.strip()}*")


@pytest.mark.parametrize("thread", [False, True])
def test_a_killed_process_leaves_nothing(thread):
    make = f"e = blockyard.make_vec({GAME!r}, 2, transport='process'); e.reset()"
    show = "print(os.getpid(), e.client.server_pid, flush=True)"
    code = f"import blockyard, os, time\ndef go():\n  global e\n  {make}; {show}\n"
    code += "import threading; t = threading.Thread(target=go); t.start(); t.join()\n" if thread else "go()\n"
    code += "e.step(e.sample_actions(__import__('numpy').random.default_rng(0)))\n"
    code += "print('stepped', flush=True)\ntime.sleep(60)"
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE, text=True) as process:
        parent, pid = map(int, process.stdout.readline().split())
        assert process.stdout.readline() == "stepped\n"
        assert alive(pid)
        process.kill()
    assert wait_for(lambda: not alive(pid))
    assert not sockets(parent)


def test_killed_server_is_gone_at_once():
    with begun(GAME, 64, transport="process") as env:
        rng = np.random.default_rng(0)
        env.step(env.sample_actions(rng))
        os.kill(env.client.server_pid, signal.SIGKILL)
        with pytest.raises(blockyard.ServerGoneError, match=r"(?s)SIGKILL") as caught:
            env.step(np.zeros(64, int))
        assert caught.type is blockyard.ServerGoneError, "it waited for the time-out"
        for use in (lambda: env.step(np.zeros(64, int)), env.reset, env.ping, env.snapshot):
            with pytest.raises(blockyard.ServerGoneError):
                use()
    with blockyard.make_vec(GAME, 2, transport="process") as env:  # a new one comes
        env.reset()


class Waiting:
    """The socket of a connection, which says when it is about to wait for an answer."""

    def __init__(self, connection) -> None:
        self._sock, self.waits = connection._sock, threading.Event()
        connection._sock = self

    def __getattr__(self, name):
        return getattr(self._sock, name)

    def recv_into(self, buffer) -> int:
        self.waits.set()
        return self._sock.recv_into(buffer)


def test_killed_while_waiting():
    with begun(GAME, 2, opponents=None, transport="process") as env:
        pid = env.client.server_pid
        stop(pid)
        polled = Waiting(env.client.connection)
        killer = threading.Thread(target=lambda: (polled.waits.wait(60), os.kill(pid, signal.SIGKILL)))
        killer.start()
        with pytest.raises(blockyard.ServerGoneError, match="after 0 of") as caught:
            env.step([env.action_masks[i].argmax() for i in range(4)])
        killer.join()
        assert caught.type is blockyard.ServerGoneError, "it waited for the time-out"


def test_silent_server_times_out():
    with begun(GAME, 2, transport="process") as env:
        stop(env.client.server_pid)
        shorten(env.client.connection, 0.3)
        with pytest.raises(blockyard.ServerTimeoutError, match=r"step: after 0 of \d+ bytes of the answer.*0\.3 s"):
            env.step(np.zeros(2, int))
        with pytest.raises(blockyard.ServerGoneError):
            env.reset()
        os.kill(env.client.server_pid, signal.SIGCONT)


def test_interrupt_leaves_no_confusion():
    code = f"""
import blockyard, os, signal, sys, threading
sys.path.insert(0, {str(Path(__file__).parent)!r})
from test_lifetime import Waiting, stop
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with it ignored
env = blockyard.make_vec({GAME!r}, 2, transport='process')
env.reset()
pid = env.client.server_pid
stop(pid)
polled = Waiting(env.client.connection)
sys.setswitchinterval(60)  # the thread runs when this one has begun to wait
threading.Thread(target=lambda: (polled.waits.wait(60), os.kill(os.getpid(), signal.SIGINT)), daemon=True).start()
try:
    env.ping()
except KeyboardInterrupt:
    os.kill(pid, signal.SIGCONT)
    env.ping()
    print("interrupted", len(env.reset()[0]["planes"]))
"""
    done = programs.run("-c", code)
    assert done.stdout.split() == ["interrupted", "2"], "the answer that nobody waits for is dropped"


def test_ctrl_c_at_the_terminal_reaches_only_the_trainer():
    code = f"""
import blockyard, os, signal, time
signal.signal(signal.SIGINT, signal.default_int_handler)  # a background job starts with it ignored
os.setpgrp()
env = blockyard.make_vec({GAME!r}, 2, transport='process')
env.reset()
try:
    os.killpg(0, signal.SIGINT)
    time.sleep(5)
except KeyboardInterrupt:
    time.sleep(0.3)
    print(len(env.snapshot()))
"""
    done = programs.run("-c", code)
    assert done.stdout == "2\n"


@pytest.mark.filterwarnings("ignore:.*fork.*:DeprecationWarning")
def test_forked_processes_have_to_make_their_own():
    with begun(GAME, 2, transport="process") as env:
        child = os.fork()
        if child == 0:
            status = 1
            try:
                try:
                    env.step([0, 0])
                except blockyard.ForkError:
                    with begun(GAME, 2, transport="process") as own:
                        status = 0 if own.client.server_pid != env.client.server_pid else 2
                    env.close()
            finally:
                os._exit(status)
        assert os.waitpid(child, 0)[1] == 0
        env.step(env.sample_actions(np.random.default_rng(0)))
        assert len(sockets()) == 1


def test_environments_share_a_connection(server: Server):
    with blockyard.connect(server.unix) as client:
        a = client.make_vec(GAME, 3, seed=1)
        b = client.make_vec(GAME, 5, seed=2, opponents=None)
        c = client.make(GAME, seed=3)
        with begun(GAME, 3, address=server.unix, seed=1) as alone:
            a.reset()
            b.reset()
            c.reset()
            rng = np.random.default_rng(0)
            for _ in range(6):
                actions = a.sample_actions(rng)
                more = b.sample_actions(rng)
                a.step_async(actions)
                b.step_async(more)
                c.step(c.legal_actions()[0])
                second = b.step_wait()
                first = a.step_wait()
                np.testing.assert_array_equal(first[0]["planes"], alone.step(actions)[0]["planes"])
                assert second[0]["planes"].shape[0] == 10
        with pytest.raises(blockyard.RequestError, match="the client is connected already"):
            client.make_vec(GAME, 2, address="unix:/x")
        assert client.stats()["session"]["handles"] == 3
        a.close()
        assert client.stats()["session"]["handles"] == 2
        b.step(b.sample_actions(rng))
        assert client.describe(GAME) is client.describe(GAME)
        assert client.describe("blockbattle:classic").name == "blockbattle:classic"
        assert "BlockBattle-v0" in [g["id"] for g in client.games()]
        assert len(client.text(GAME, [0, 1600])) == 2
        assert "blockyard" in repr(client)
    with pytest.raises(blockyard.ServerGoneError, match="closed"):
        b.reset()


def test_threads_share_a_connection(server: Server):
    with blockyard.connect(server.unix) as client:
        envs = [client.make_vec(GAME, 4, seed=i) for i in range(4)]
        results: dict[int, bytes] = {}

        def work(i: int) -> None:
            rng = np.random.default_rng(i)
            envs[i].reset()
            for _ in range(30):
                obs = envs[i].step(envs[i].sample_actions(rng))[0]
            results[i] = obs["planes"].tobytes()

        threads = [threading.Thread(target=work, args=(i,)) for i in range(4)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
        together = dict(results)
        for i in range(4):
            envs[i].reset(seed=i)
            rng = np.random.default_rng(i)
            for _ in range(30):
                obs = envs[i].step(envs[i].sample_actions(rng))[0]
            assert obs["planes"].tobytes() == together[i]


def test_two_clients_do_not_disturb_each_other(server: Server, closing):
    before = closing(blockyard.connect(server.unix))
    with begun(GAME, 4, address=server.unix, seed=1) as a:
        with begun(GAME, 4, address=server.tcp, seed=1) as b:
            rng = np.random.default_rng(0)
            for _ in range(10):
                actions = a.sample_actions(rng)
                np.testing.assert_array_equal(a.step(actions)[0]["planes"], b.step(actions)[0]["planes"])
        a.step(a.sample_actions(rng))
    assert wait_for(lambda: (before.stats()["envs"], before.stats()["sessions"]) == (0, 1))


def test_many_singles_of_one_process():
    """More environments than a server allows other clients by default."""
    envs = [blockyard.make(GAME, transport="process") for _ in range(80)]
    assert len({e.vector.client.server_pid for e in envs}) == 1
    for e in envs:
        e.reset(seed=0)
    for e in envs:
        e.close()


def test_nothing_is_left():
    gc.collect()
    assert not sockets()
    assert not processes_of(f"blockyard-{os.getpid()}-")
