"""Every transport gives the same results: socket, shared memory, TCP, the caller's arrays, several servers."""

from __future__ import annotations

import contextlib
import gc
import os
import signal
import socket
import sys
import threading
import time
from pathlib import Path

import numpy as np
import programs
import pytest
from conftest import GAME, MODES, advance, assert_same, begun, copied, pairs, play, random_actions

import blockyard
from blockyard.errors import LimitError
from blockyard.transport.shared_memory import SharedMemoryTransport

LINUX = sys.platform.startswith("linux")


def roads(server):
    yield "auto", {"address": server.unix}
    yield "socket", {"address": server.unix, "transport": "socket"}
    yield "ring", {"address": server.unix, "copy": False, "slots": 3}
    yield "tcp", {"address": server.tcp}
    yield "split", {"address": [server.unix, server.tcp, server.unix]}
    yield "split, sockets", {"address": [server.unix] * 2, "transport": "socket"}


@pytest.mark.parametrize(("mode", "opponents"), pairs(MODES, ["random", None]))
def test_same_bytes(server, mode, opponents):
    traces = {}
    for name, kwargs in roads(server):
        with blockyard.make_vec(
            GAME, 5, autoreset_mode=mode, opponents=opponents, max_episode_steps=30, **kwargs
        ) as env:
            traces[name] = play(env, 90)
    for name, trace in traces.items():
        assert_same(trace, traces["socket"], name)


def test_transport_is_chosen(server):
    for transport, address, kind in (
        ("auto", server.unix, "shm" if LINUX else "socket"),
        ("socket", server.unix, "socket"),
        ("auto", server.tcp, "socket"),
        ("auto", [server.unix, server.tcp], "split"),
    ):
        with blockyard.make_vec(GAME, 2, address=address, transport=transport) as env:
            assert env.transport == kind
    with pytest.raises(blockyard.RequestError, match="not over tcp"):
        blockyard.make_vec(GAME, 2, address=server.tcp, transport="shm")
    with pytest.raises(blockyard.RequestError, match="not over tcp"):
        blockyard.make_vec(GAME, 2, address=[server.unix, server.tcp], transport="shm")
    with pytest.raises(ValueError, match="want one of"):
        blockyard.make_vec(GAME, 2, address=server.unix, transport="smoke")
    with pytest.raises(ValueError, match="3 servers for 2 games"):
        blockyard.make_vec(GAME, 2, address=[server.unix] * 3)


def test_no_memory_to_share(server, monkeypatch):
    def refuse(self, slots):
        raise LimitError("no memory")

    monkeypatch.setattr(SharedMemoryTransport, "_share", refuse)
    with blockyard.make_vec(GAME, 2, address=server.unix) as env:
        assert env.transport == "socket"
    with pytest.raises(LimitError):
        blockyard.make_vec(GAME, 2, address=server.unix, transport="shm")


def test_what_is_held_is_never_touched(server):
    """More steps than there are slots, all of them kept."""
    with blockyard.make_vec(GAME, 3, address=server.unix) as env:
        rng = np.random.default_rng(0)
        obs, infos = env.reset(seed=5)
        kept, copies = [(obs, infos["action_mask"])], [copied((obs, infos["action_mask"]))]
        for _ in range(700):
            obs, _, _, _, infos = env.step(random_actions(infos["action_mask"], rng))
            kept.append((obs, infos["action_mask"]))
            copies.append(copied(kept[-1]))
        for a, b in zip(kept, copies, strict=True):
            assert_same(copied(a), b)
        view = kept[3][0]["planes"][1:]
        content = view.copy()
        del kept, obs, infos
        gc.collect()
        advance(env, 50, rng)
        np.testing.assert_array_equal(view, content)


@pytest.mark.parametrize("name", ["auto", "socket", "tcp", "split"])
def test_buffers(server, name):
    kwargs = dict(roads(server))[name]
    with (
        begun(GAME, 6, seed=2, opponents=None, **kwargs) as env,
        begun(GAME, 6, seed=2, opponents=None, address=server.unix, transport="socket") as twin,
    ):
        rng, buffer = np.random.default_rng(1), env.buffer(20)
        assert (buffer.first_slot is not None) == (env.transport == "shm")
        for t in range(20):
            buffer.actions[t] = env.sample_actions(rng) if t % 2 else rng.permutation(env.sample_actions(rng))
            if not t % 2:
                buffer.actions[t] = env.sample_actions(rng)
            obs, rewards, *_ = env.step(buffer.actions[t], out=buffer[t])
            assert np.shares_memory(obs["planes"], buffer.planes)
            want, other, *_ = twin.step(buffer.actions[t])
            assert_same(copied(obs), copied(want))
            np.testing.assert_array_equal(rewards, other)
        np.testing.assert_array_equal(buffer.planes[-1], want["planes"])
        r = env.rollout(buffer, "hand:ply=1")
        assert r.buffer is buffer
        q = twin.rollout(20, "hand:ply=1")
        for field, array in buffer.arrays.items():
            np.testing.assert_array_equal(array, q.buffer.arrays[field], field)
        np.testing.assert_array_equal(buffer.actions, q.actions)
        with pytest.raises(ValueError, match="at least 1"):
            env.buffer(0)
        with (
            begun("WinTetris-v0", 6, seed=2, **kwargs) as theirs,
            begun(GAME, 6, seed=2, opponents=None, **kwargs) as third,  # whose buffers have the same numbers
        ):
            third.buffer(20)
            actions, out = env.sample_actions(rng), third.buffer(20)[19]
            env.step(actions, out=out)
            np.testing.assert_array_equal(out.planes, twin.step(actions)[0]["planes"])
            env.buffer(40)
            for use in (lambda b: env.step(actions, out=b[0]), env.step_into, env.rollout):
                with pytest.raises(ValueError, match="with other arrays; use this one's buffer"):
                    use(theirs.buffer(2))
        with pytest.raises(TypeError, match=r"out: want buffer\[t\], or a dict"):
            env.step(actions, out=buffer)
        with pytest.raises(ValueError, match="keep 'first': want one of"):
            env.rollout(3, keep="first")


@pytest.mark.parametrize("name", ["auto", "socket", "tcp", "split"])
def test_arrays_of_ones_own(server, name):
    kwargs = dict(roads(server))[name]
    with (
        begun(GAME, 4, seed=2, **kwargs) as env,
        begun(GAME, 4, seed=2, address=server.unix, transport="socket") as twin,
    ):
        rng = np.random.default_rng(1)
        planes = np.zeros((4, *env.game_spec.planes_shape), np.uint8)
        done = np.zeros(4, np.bool_)
        for _ in range(40):
            actions = env.sample_actions(rng)
            obs, _, terminated, _, infos = env.step(actions, out={"planes": planes, "terminated": done})
            want, _, ended, _, other = twin.step(actions)
            assert np.shares_memory(obs["planes"], planes)
            assert np.shares_memory(terminated, done)
            assert_same(copied((obs, terminated, infos)), copied((want, ended, other)))
            np.testing.assert_array_equal(env.action_masks, twin.action_masks)
        for bad, text in (
            ({"planes": planes[:2]}, r"out\['planes'\]: want uint8"),
            ({"planes": planes[:, :, ::-1]}, "contiguous"),
            ({"globals": np.zeros(env.observation_space["globals"].shape)}, "float32"),
            ({"plains": planes}, r"unknown fields \['plains'\]"),
        ):
            with pytest.raises(ValueError, match=text):
                env.step(actions, out=bad)


@pytest.mark.parametrize("name", ["auto", "split"])
def test_lookahead_everywhere(server, name):
    """Ids in any order, over several servers too."""
    kwargs = dict(roads(server))[name]
    with (
        blockyard.make_vec(GAME, 7, seed=2, opponents=None, max_episode_steps=9, **kwargs) as env,
        blockyard.make_vec(GAME, 7, seed=2, opponents=None, max_episode_steps=9, address=server.tcp) as twin,
    ):
        rng, ids = np.random.default_rng(1), [6, 0, 3, 5]
        for e in (env, twin):
            e.reset()
        for k in range(9):
            actions = twin.sample_actions(rng)
            for e in (env, twin):
                e.step(actions)
            if k == 5:
                states = twin.snapshot(ids)
        assert_same(vars(env.final()), vars(twin.final()))
        assert len(env.final().games) == 7
        assert env.final().mask is not None
        assert env.final().mask.any()
        for ask in (
            lambda e: vars(e.legal_actions(ids)),
            lambda e: vars(e.afterstates(ids, seed=3)),
            lambda e: vars(e.afterstates()),
            lambda e: e.snapshot(ids),
            lambda e: copied(e.restore(states, ids, reseed=9)),
            lambda e: copied(e.clone([0, 0, 6], [6, 1, 2], reseed=4)),
            lambda e: copied(e.clone([5], [0])),
            lambda e: e.picture(6, "ansi"),
            lambda e: e.snapshot(),
            lambda e: copied(e.reset(options={"reset_mask": np.repeat(np.arange(7) == 4, 2)})),
            lambda e: copied(e.reset(seed=[None, 1, 2, 3, None, 5, 6])),
            lambda e: e.rollout(30, keep="last").actions,
        ):
            assert_same(ask(env), ask(twin))


@pytest.mark.skipif(not LINUX, reason="memory is shared on Linux only")
def test_killed_clients_leave_nothing(server):
    """After clients with shared memory are killed in the middle of a step, the server has freed all of it."""
    code = (
        "import blockyard, os, signal, sys, numpy as np\n"
        f"e = blockyard.make_vec({GAME!r}, 64, address={server.unix!r}, transport='shm'); e.reset(); e.buffer(16)\n"
        "e.step_async(e.sample_actions(np.random.default_rng(0)))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    pid = server.process.pid

    def in_use() -> tuple[int, int]:
        maps = Path(f"/proc/{pid}/maps").read_text().count("memfd:blockyard")
        return maps, len(os.listdir(f"/proc/{pid}/fd"))

    gc.collect()
    with blockyard.connect(server.unix) as c:
        c.ping()
        before = in_use()
        for _ in range(5):
            done = programs.run("-c", code)
            assert done.returncode == -signal.SIGKILL, done.stderr
        end = time.monotonic() + 60
        while time.monotonic() < end and in_use() > before:
            time.sleep(0.01)
        assert in_use() <= before


def test_memory_outlives_the_server(program, tmp_path):
    """Returned arrays can be read after the server is killed."""
    env = blockyard.make_vec(GAME, 4, transport="process")
    obs, _ = env.reset(seed=1)
    content = obs["planes"].copy()
    os.kill(env.client.server_pid, signal.SIGKILL)
    with pytest.raises(blockyard.ServerGoneError):
        env.step(np.zeros(4, int))
    np.testing.assert_array_equal(obs["planes"], content)
    env.close()
    np.testing.assert_array_equal(obs["planes"], content)


def test_an_error_names_the_environment_among_all(server):
    """Each server numbers its own games from 0; the error of a user has the index in the user's environment."""
    with begun("BlockBattle-v0", 5, address=[server.unix, server.tcp], seed=1, illegal="error") as env:
        actions = env.sample_actions(np.random.default_rng(0))
        actions[4] = 1600
        with pytest.raises(blockyard.IllegalActionError, match="in environment 4, seat 0:") as caught:
            env.step(actions)
        assert caught.value.env_ids == [4]


class Shrinker(threading.Thread):
    """A server that passes on what another one says, but shares memory of its own, which it shrinks soon after."""

    def __init__(self, path: Path, real: str) -> None:
        super().__init__(daemon=True)
        self.listener = socket.socket(socket.AF_UNIX)
        self.listener.bind(str(path))
        self.listener.listen()
        self.real, self.shared = real.removeprefix("unix:"), []
        self.start()

    def run(self) -> None:
        """Serve one client."""
        with self.listener, self.listener.accept()[0] as client, socket.socket(socket.AF_UNIX) as server:
            server.connect(self.real)
            answers = threading.Thread(target=self.answer, args=(client, server), daemon=True)
            answers.start()
            while request := client.recv(1 << 16):
                for fd in self.shared:
                    os.ftruncate(fd, 0)
                server.sendall(request)
            server.shutdown(socket.SHUT_RDWR)
            answers.join()
            for fd in self.shared:
                os.close(fd)

    def answer(self, client: socket.socket, server: socket.socket) -> None:
        """Pass on answers."""
        with contextlib.suppress(OSError):
            while True:
                answer, fds, _, _ = socket.recv_fds(server, 1 << 16, 4)
                if not answer:
                    return
                mine = [os.memfd_create("mine") for _ in fds]
                for fd, own in zip(fds, mine, strict=True):
                    os.ftruncate(own, os.fstat(fd).st_size)
                    os.close(fd)
                socket.send_fds(client, [answer], mine)
                self.shared += mine


@pytest.mark.skipif(not LINUX, reason="memory is shared on Linux only")
@pytest.mark.parametrize("transport", ["shm", "auto"])
def test_servers_cannot_shrink_memory(server, tmp_path, transport):
    """A hostile server does not get the client killed: memory that it could shrink is refused."""
    hostile = Shrinker(tmp_path / "s", server.unix)
    code = (
        "import blockyard\n"
        f"e = blockyard.make_vec({GAME!r}, 64, address='unix:{tmp_path / 's'}', transport={transport!r})\n"
        "e.reset(); print(e.transport); e.close()\n"
    )
    done = programs.run("-c", code)
    hostile.join()
    if transport == "auto":
        assert (done.returncode, done.stdout) == (0, "socket\n"), done.stderr
    else:
        assert done.returncode == 1, done.returncode
        assert "could shrink the memory" in done.stderr
