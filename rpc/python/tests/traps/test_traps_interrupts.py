"""An environment can be used after Ctrl-C, after slow steps and after a pool was closed."""

from __future__ import annotations

import os
import signal
import threading
import time
from pathlib import Path

import numpy as np
import programs
import pytest
from conftest import GAME, Server, begun
from mortal import mortals

import blockyard


@pytest.mark.parametrize("played", [lambda env: env.step([0, 0]), lambda env: env.rollout(3)], ids=["step", "rollout"])
def test_slow_steps_do_not_look_like_lost_servers(program, caplog, played):
    """With heal=True, a second time-out in a row of the same request ends it."""
    with (
        mortals(program, "tcp:127.0.0.1:0") as (a,),
        begun("WinTetris-v0", 2, address=a.address, seed=1, heal=True, heal_timeout=60) as env,
    ):
        kind, plain = type(env.engine.transport.inner), type(env.engine.transport.inner).call

        def slow(*_):
            raise blockyard.ServerTimeoutError("the server did nothing")

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(kind, "step", slow)
            patch.setattr(kind, "call", lambda *how: slow() if "rollout" in how else plain(*how))
            with pytest.raises(blockyard.ServerTimeoutError, match="longer timeout="):
                played(env)
        assert len([r for r in caplog.records if "games continue at" in r.getMessage()]) == 1
        played(env)


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
    with begun(GAME, 64, address=server.tcp, seed=1) as env, env.client as client:
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


def test_interrupted_while_healing(program):
    """What an interrupted step did is not in the journal: the games are saved before the next request."""
    code = """
import blockyard, numpy as np, os
env = blockyard.make_vec("WinTetris-v0", 4, seed=3, heal=True)
env.reset()
inner = env.engine.transport.inner
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
    done = programs.run("-c", code, env=env)
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


@pytest.mark.parametrize("road", ["shm", "socket"])
def test_a_timeout_ends_while_signals_arrive(program, road):
    """A server that hangs is given up, however often the wait for it is interrupted."""
    code = f"""
import blockyard, os, signal, sys
sys.path.insert(0, {str(Path(__file__).parents[1])!r})
from test_lifetime import stop
arrived, timeout = [], 0.2
signal.signal(signal.SIGALRM, lambda *_: arrived.append(1))
while len(arrived) < 2:  # of those that come while this process is held up, one arrives
    env = blockyard.make_vec("WinTetris-v0", 8, seed=1, transport="{road}")
    env.reset()
    env.client.connection.timeout, arrived = timeout, []
    stop(env.client.server_pid)
    signal.setitimer(signal.ITIMER_REAL, 0.02, 0.02)
    try:
        env.step([0] * 8)
    except blockyard.ServerTimeoutError:
        timeout *= 2
    signal.setitimer(signal.ITIMER_REAL, 0)
    os.kill(env.client.server_pid, signal.SIGKILL)
    env.close()
print(timeout > 0.2)
"""
    env = {**os.environ, "BLOCKYARD_SERVER": str(program)}
    done = programs.run("-c", code, env=env)
    assert done.stdout == "True\n", done.stderr
