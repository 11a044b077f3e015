"""TLS: certificates that are trusted or not, and the same results. The certificates in tls/ are only for tests."""

from __future__ import annotations

import ssl
import subprocess
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from conftest import GAME, assert_same, play, shorten
from mortal import mortals

import blockyard
from blockyard.transport.connection import Future

KEYS = Path(__file__).parent / "tls"


CERT = ["--cert", KEYS / "server.pem", "--key", KEYS / "server.key"]


@pytest.fixture(scope="module", params=[False, True], ids=["server", "mutual"])
def secure(request, program) -> Iterator[tuple[str, bool]]:
    flags = [*CERT, *(["--client-ca", KEYS / "ca.pem"] if request.param else [])]
    with mortals(program, "tls:127.0.0.1:0", flags=flags) as (a,):
        yield a.address, request.param


def trust(mutual: bool):
    if not mutual:
        return KEYS / "ca.pem"
    context = ssl.create_default_context(cafile=KEYS / "ca.pem")
    context.load_cert_chain(KEYS / "client.pem", KEYS / "client.key")
    return context


def test_same_bytes(secure, server):
    address, mutual = secure
    with (
        blockyard.make_vec(GAME, 700, address=address, tls=trust(mutual), opponents=None) as env,
        blockyard.make_vec(GAME, 700, address=server.tcp, opponents=None) as twin,
    ):
        assert env.transport == "socket"
        assert_same(play(env, 5), play(twin, 5))
        assert_same(env.afterstates([3], seed=1).planes, twin.afterstates([3], seed=1).planes)
        buffer = env.buffer(3)
        env.step(np.zeros(env.num_envs, int), out=buffer[1])
        twin.step(np.zeros(env.num_envs, int))
        np.testing.assert_array_equal(buffer.planes[1], twin.engine.batch.current.planes)


def test_who_is_not_trusted(secure):
    address, mutual = secure
    with pytest.raises(blockyard.ServerGoneError, match=r"is not trusted.*tls=PATH"):
        blockyard.connect(address)
    if mutual:
        with pytest.raises(blockyard.ServerGoneError):
            blockyard.connect(address, tls=KEYS / "ca.pem")
    else:
        blockyard.connect(address, tls=False).close()
    with pytest.raises(blockyard.ServerGoneError):
        blockyard.connect(address.replace("tls:", "tcp:"), timeout=2)
    with pytest.raises(ValueError, match="holds no certificates"):
        blockyard.connect(address, tls=__file__)


def test_silence_over_tls(secure):
    address, mutual = secure
    with blockyard.connect(address, tls=trust(mutual)) as client:
        env = client.make_vec(GAME, 2)
        env.reset()
        shorten(client.connection, 0.3)
        client.connection._waiting.append(Future(0, "ping"))
        with pytest.raises(blockyard.ServerTimeoutError, match=r"did nothing for 0\.3 s"):
            client.connection.wait(client.connection._waiting[-1])


def test_token_over_tls(program):
    with mortals(program, "tls:127.0.0.1:0", flags=[*CERT, "--token", "open sesame"]) as (a,):
        for token in (None, "guess"):
            with pytest.raises(blockyard.AuthError, match="token"):
                blockyard.connect(a.address, tls=KEYS / "ca.pem", token=token)
        blockyard.connect(a.address, tls=KEYS / "ca.pem", token="open sesame").close()


@pytest.mark.parametrize(
    ("flags", "says"),
    [
        (["--listen=tls:127.0.0.1:0"], "set --cert and --key"),
        (["--listen=tls:0.0.0.0:0", *CERT], "--client-ca"),
        (["--listen=tls:127.0.0.1:0", "--cert", KEYS / "server.pem", "--key", KEYS / "client.key"], "certificate"),
        (["--listen=tcp:0.0.0.0:0"], "token"),
    ],
)
def test_refused_flags(program, flags, says):
    done = subprocess.run([program, "serve", *flags], capture_output=True, text=True, check=False, timeout=60)
    assert done.returncode == 1
    assert says in done.stderr
