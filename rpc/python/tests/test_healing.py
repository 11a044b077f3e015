"""Environments whose servers are killed continue as if nothing had happened."""

from __future__ import annotations

import os
import shutil
import signal
import socket
import threading
import time
from pathlib import Path

import numpy as np
import pytest
from conftest import GAME, MODES, Server, advance, begun, copied, pairs, random_actions, shorten
from mortal import dying
from test_checkpoint import go_on, same

import blockyard
from blockyard.transport.address import Address, look_up

N = 6
WEIGHTS = Path(__file__).parents[3] / "agents/bots/tetrisduelbot/weights/tetrisduel.safetensors"
# Every game, with opponents that forget, that remember, that search, and mixtures of them.
WAYS = {
    "BlockBattle-v0": {"opponents": {"random": 1, "hand:ply=1": 1, "learned:ply=1": 1}, "max_episode_steps": 20},
    "TetrisDuel-v0": {"opponents": {"first": 1, "random": 1}},
    "Blocking-v0": {"opponents": {1: {"random": 1, "first": 1}, 2: "hand:ply=1"}, "seats": 4, "illegal": "random"},
    "WinTetris-v0": {"max_episode_steps": 15},
    "Dropblox-v0": {"max_episode_steps": 15, "packed": True},
}


def losses(caplog):
    """The number of losses that were logged."""
    return sum("continue at" in record.getMessage() for record in caplog.records if record.name == "blockyard")


def played(env, steps, events=None):
    """Play; before some steps, something happens. Return a hash of each step, and the results against opponents."""
    env.reset()
    hashes = []
    for t in range(steps):
        (events or {}).get(t, lambda: None)()
        hashes += go_on(env, None, 1, t)
    return hashes, env.opponent_stats()


@pytest.fixture(scope="module")
def want(server: Server):
    """The hashes of 20 steps of games that begin with seed 1, without a loss."""
    with blockyard.make_vec(GAME, N, address=server.unix, seed=1) as env:
        return played(env, 20)[0]


@pytest.mark.parametrize(("game", "mode"), pairs(WAYS, MODES))
def test_nothing_changes(server: Server, two, caplog, game, mode):
    undisturbed(server, two, caplog, game, WAYS[game] | {"autoreset_mode": mode})


@pytest.mark.parametrize("game", ["BlockBattle-v0", "TetrisDuel-v0"])
def test_nothing_changes_in_afterstates(server: Server, two, caplog, game):
    undisturbed(server, two, caplog, game, WAYS[game] | {"actions": "afterstates"})


def undisturbed(server: Server, two, caplog, game, options):
    """Want the same steps while servers are killed as without, with one and with two of them."""
    a, b = two
    options |= {"seed": 4}
    with blockyard.make_vec(game, N, address=server.unix, **options) as env:
        want = played(env, 60 if options.get("autoreset_mode") in ("NextStep", "Disabled") else 120)
    steps, options = len(want[0]), options | {"heal": True, "snapshot_every": 9}
    kills = {7: a.restart, 30: a.restart, 31: a.restart}
    with blockyard.make_vec(game, N, address=a.address, **options) as env:
        assert played(env, steps, kills) == want
        assert env.transport == "shm"
    assert losses(caplog) == 3, "each loss is one line"
    # One of two servers takes the games of the other, and loses them in turn.
    kills = {7: a.kill, 20: a.start, 22: b.kill, 40: b.start, 45: a.kill}
    with blockyard.make_vec(game, N, address=[a.address, b.address], **options) as env:
        assert played(env, steps, kills) == want
    assert losses(caplog) == 3 + 1 + 2 + 2


@pytest.mark.parametrize("transport", ["shm", "socket"])
def test_a_server_that_dies_at_any_time(server: Server, two, transport):
    """Also in the middle of a request or of its answer."""
    options = {"seed": 4, "opponents": {"random": 1, "hand:ply=1": 1}, "transport": transport}
    with blockyard.make_vec(GAME, 32, address=server.unix, **options) as env:
        want = played(env, 200)
    with blockyard.make_vec(GAME, 32, address=two[0].address, heal=True, snapshot_every=16, **options) as env:
        with dying(two[0], seed=1, soon=True) as deaths:
            got = played(env, 200, {100: deaths.first.wait})
        assert got == want


@pytest.mark.slow
@pytest.mark.parametrize("mode", ["SameStep", "NextStep"])
@pytest.mark.parametrize("game", WAYS)
def test_nothing_changes_in_ten_thousand_steps(server: Server, two, caplog, game, mode):
    a, b = two
    options = WAYS[game] | {"seed": 4, "autoreset_mode": mode}
    with blockyard.make_vec(game, N, address=server.unix, **options) as env:
        want = played(env, 10_000)
    kills = {int(t): (a, b)[k % 2].restart for k, t in enumerate(np.random.default_rng(1).integers(0, 10_000, 100))}
    with blockyard.make_vec(game, N, address=[a.address, b.address], heal=True, **options) as env:
        assert played(env, 10_000, kills) == want
    assert losses(caplog) >= len(kills)


def everything(env, hurt):
    """Call what changes games or reads them, with hurt() before each call, of steps in a row but twice; return all."""
    rng, seen = np.random.default_rng(5), []

    def note(x):
        seen.append(copied(x))
        hurt()

    def steps(n):
        for k in range(n):
            seen.append(copied(env.step(random_actions(env.action_masks, rng))[:4]))
            if k in (0, n - 1):
                hurt()

    hurt()
    note(env.reset(seed=8))
    steps(3)
    env.step_async(random_actions(env.action_masks, rng))
    hurt()
    note(env.step_wait()[:4])
    note([env.legal_actions().actions, env.afterstates(seed=1).planes, env.snapshot()])
    states = env.snapshot([2])
    steps(2)
    note(env.restore(states, [4])[0])
    note(env.clone([2], [0], reseed=7)[0])
    steps(2)
    env.set_opponents({"first": 1, "random": 1})
    hurt()
    note(env.reset(options={"reset_mask": np.arange(N) % 2 == 0})[0])
    steps(12)
    note(env.rollout(15, "hand:ply=1").buffer.arrays["globals"].copy())
    note(env.rollout(9, keep="last").buffer.arrays["globals"].copy())
    data = env.checkpoint()
    hurt()
    steps(3)
    note(env.restore_checkpoint(data)[0])
    steps(3)
    buffer = env.buffer(2)
    hurt()
    for t in range(2):
        note(env.step(random_actions(env.action_masks, rng), out=buffer[t])[0])
    note([env.final().scores, env.text(5), env.observation_texts([1]), env.picture(0), *env.opponent_specs])
    note(env.reset(seed=[None, 3, *[None] * (N - 2)])[0])
    steps(2)
    results = env.opponent_stats(reset=True)
    steps(20)
    note([[s.wins, s.draws, s.losses, s.truncated] for r in (results, env.opponent_stats()) for s in r.values()])
    env.ping()
    return seen


@pytest.mark.parametrize("way", ["shm", "socket", "ring", "two"])
def test_every_request_is_made_again(server: Server, two, way):
    """The server is killed before each single request."""
    a, b = two
    options = {"seed": 4, "opponents": {"random": 1, "hand:ply=1": 1}, "max_episode_steps": 8}
    options["transport"] = "socket" if way == "socket" else "auto"
    if way == "ring":
        options |= {"copy": False, "slots": 3}
    with blockyard.make_vec("TetrisDuel-v0", N, address=server.unix, **options) as env:
        want = everything(env, lambda: None)
    options |= {"heal": True, "snapshot_every": 5}
    where = [a.address, b.address] if way == "two" else a.address
    with blockyard.make_vec("TetrisDuel-v0", N, address=where, **options) as env:
        got = everything(env, a.restart)
    assert len(got) == len(want)
    for k, (x, y) in enumerate(zip(got, want, strict=True)):
        assert same(dict(enumerated(x)), dict(enumerated(y))), k


def enumerated(x, path=""):
    """All arrays in nested tuples, lists and dicts, by their path."""
    if isinstance(x, dict):
        x = list(x.items())
    if isinstance(x, (list, tuple)):
        for k, v in enumerate(x):
            yield from enumerated(v, f"{path}/{k}")
    else:
        yield path, np.array(str(x)) if isinstance(x, str) else np.asarray(x)


def test_last_observations(server: Server, two):
    """Those of games that ended in the last step before the loss are there again."""
    a, _ = two

    def play(address, hurt, **more):
        with begun("WinTetris-v0", N, seed=3, address=address, max_episode_steps=3, **more) as env:
            advance(env, 3)
            hurt()
            final = env.final()
            return {name: getattr(final, name) for name in ("games", "planes", "globals", "mask", "seat", "lengths")}

    got, want = play(a.address, a.restart, heal=True), play(server.unix, lambda: None)
    assert want["planes"].any()
    assert same(got, want)


def test_weights_move_too(server: Server, two, tmp_path):
    """Opponents loaded from a file of the client, which is gone when the server is lost."""
    path = tmp_path / "mine.safetensors"
    shutil.copy(WEIGHTS, path)
    options = {"seed": 5, "opponents": {f"learned:ply=1,weights={path}": 1, "random": 1}}

    def play(hurt, **more):
        with blockyard.make_vec("TetrisDuel-v0", N, **options, **more) as env:
            if hurt is not None:
                path.unlink()
                hurt()
            env.reset()
            seen = go_on(env, None, 9, 1)
            env.set_opponents("random")
            for t in range(30):
                if hurt is not None and t % 10 == 0:
                    hurt()
                seen += go_on(env, None, 1, t)
            return seen

    want = play(None, address=server.unix)
    assert play(two[0].restart, address=two[0].address, heal=True, snapshot_every=4) == want


def hang(server, env):
    """Stop the server of an environment, which waits for that one only briefly from now on."""
    server.process.send_signal(signal.SIGSTOP)
    shorten(env.client.connection, 1)


def test_a_server_that_hangs(want, two, caplog):
    """A server that is stopped is left for another one after the timeout."""
    a, b = two
    options = {"seed": 1, "heal": True, "transport": "socket"}
    with blockyard.make_vec(GAME, N, address=[a.address, b.address], **options) as env:
        assert played(env, 20, {7: lambda: hang(a, env)})[0] == want
    assert losses(caplog) == 1


def test_a_server_that_drains(want, two):
    a, b = two
    with blockyard.make_vec(GAME, N, address=[b.address, a.address], seed=1, heal=True) as env:
        assert played(env, 20, {7: lambda: (b.process.terminate(), b.process.wait(30))})[0] == want


def test_the_local_server(want, caplog):
    with blockyard.make_vec(GAME, N, seed=1, heal=True) as env:
        assert played(env, 20, {7: lambda: os.kill(env.client.server_pid, signal.SIGKILL)})[0] == want
    assert losses(caplog) == 1


def test_it_waits_for_the_server(want, two, caplog):
    a, _ = two

    def gone():
        a.kill()
        threading.Timer(2, a.start).start()

    with blockyard.make_vec(GAME, N, address=a.address, seed=1, heal=True) as env:
        begun = time.monotonic()
        assert played(env, 20, {7: gone})[0] == want
        assert time.monotonic() - begun > 2
    assert losses(caplog) == 1


def test_no_server_is_left(two):
    a, b = two
    with begun(GAME, N, address=[a.address, b.address], heal=True, heal_timeout=3) as env:
        a.kill()
        b.kill()
        says = "step: .* in 3 s none was found to continue with: no server answers at unix.*; no server answers at tcp"
        for _ in range(2):
            with pytest.raises(blockyard.ServerGoneError, match=says):
                env.step(np.zeros(N, int))
        a.start()
        assert len(go_on(env, None, 3, 1)) == 3, "it may be tried again"


def test_clocks_are_refused(server: Server):
    says = r'the opponent "hand:time=50ms" of seat 1 cannot be replayed elsewhere: its choices depend on the clock'
    with pytest.raises(blockyard.RequestError, match=says):
        blockyard.make_vec(GAME, N, address=server.unix, opponents="hand:time=50ms", heal=True)
    with begun(GAME, N, address=server.unix, heal=True) as env:
        with pytest.raises(blockyard.RequestError, match=says):
            env.set_opponents("hand:time=50ms")
        with pytest.raises(
            blockyard.RequestError,
            match='the policy "hand:time=50ms" cannot be replayed elsewhere: its choices depend on the clock',
        ):
            env.rollout(3, "hand:time=50ms")


@pytest.mark.parametrize(
    ("options", "error", "says"),
    [
        ({"heal": 1}, TypeError, "heal: want True or False, got 1"),
        ({"heal": True, "heal_timeout": 0}, ValueError, "heal_timeout: want a positive number of seconds, got 0"),
        ({"heal": True, "snapshot_every": 0}, ValueError, "snapshot_every: want at least 1, got 0"),
        ({"address": "dns:localhost"}, ValueError, "want 'unix:PATH'.*'dns:NAME:PORT'"),
        ({"address": "dns:no.such.host.invalid:7777"}, blockyard.ServerGoneError, "no.such.host.invalid cannot be"),
    ],
)
def test_bad_arguments(server: Server, options, error, says):
    with pytest.raises(error, match=says):
        blockyard.make_vec(GAME, N, **{"address": server.unix} | options)
    with blockyard.connect(server.unix) as client, pytest.raises(blockyard.RequestError, match="heal"):
        client.make_vec(GAME, N, heal=True)


def test_names(want, two, monkeypatch, caplog):
    """A name stands for all of its addresses, and is looked up again when a server is lost."""
    port = int(two[1].address.rpartition(":")[2])
    hosts = ["127.0.0.1"]

    def getaddrinfo(host, port, *args, **kwargs):
        found = hosts if host == "blockyard" else [host]
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (h, port)) for h in found for _ in range(2)]

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    name = f"dns:blockyard:{port}"
    here = Address("tcp", host="127.0.0.1", port=port, name="blockyard")
    assert look_up(name) == [here]
    assert look_up(name, "server.pem")[0].kind == "tls"
    assert look_up("unix:/x") == ["unix:/x"]

    def moved():
        two[1].address = f"tcp:127.0.0.2:{port}"
        two[1].restart()
        hosts[:] = ["127.0.0.2", "127.0.0.3"]

    with blockyard.make_vec(GAME, N, address=name, seed=1, heal=True) as env:
        assert played(env, 20, {7: moved})[0] == want
        assert str(env.client.connection.address) == f"tcp:127.0.0.2:{port}"
    assert losses(caplog) == 1
