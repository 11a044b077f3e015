"""Other versions: servers of another protocol are refused by name, and bytes of older versions go on as they did."""

from __future__ import annotations

import contextlib
import dataclasses
import hashlib
import socket
import threading
from pathlib import Path

import msgpack
import pytest
from conftest import GAME, Server
from test_checkpoint import go_on

import blockyard
from blockyard.transport.session import PROTOCOL, Session

FROZEN = Path(__file__).resolve().parents[2] / "commands" / "testdata"


@contextlib.contextmanager
def answering(path, answer):
    """A server that answers every request with the same bytes, which have the id of the first."""
    with socket.socket(socket.AF_UNIX) as listener:
        listener.bind(str(path))
        listener.listen()

        def serve():
            with listener.accept()[0] as sock:
                while sock.recv(65536):
                    sock.sendall(answer)

        thread = threading.Thread(target=serve)
        thread.start()
        yield f"unix:{path}"
        thread.join(60)
        assert not thread.is_alive()


def test_a_server_of_1_1_refuses(tmp_path):
    """The bytes with which blockyard 0.1.0 with protocol 1.1 answers this client."""
    with answering(tmp_path / "s", (FROZEN / "1.1" / "hello_refusal.bin").read_bytes()) as address:
        says = r"this client speaks protocol 2\.\d, the server at .* 1\.1: install a client and a server of the same"
        with pytest.raises(blockyard.ProtocolError, match=says) as error:
            blockyard.make_vec(GAME, 2, address=address)
        assert error.value.name == "version"
        assert error.value.data["proto"] == [1, 1]


def test_a_server_of_1_1_that_does_not_refuse_is_refused(tmp_path):
    answer, says = (FROZEN / "1.1" / "hello_answer.bin").read_bytes(), r"protocol 2\.\d, the server at .* 1\.1: install"
    with answering(tmp_path / "s", answer) as address, pytest.raises(blockyard.ProtocolError, match=says):
        blockyard.connect(address)


def test_servers_of_the_same_protocol_differ_in_features(tmp_path):
    """A later minor version is fine; what it does not list is not asked for."""
    hello = {"proto": [PROTOCOL[0], 99], "server": "blockyard 9", "features": ["sing"], "limits": {}, "more": 1}
    with answering(tmp_path / "s", msgpack.packb([1, 1, None, hello])) as address, blockyard.connect(address) as client:
        assert client.protocol == (2, 99)
        with pytest.raises(
            blockyard.RequestError, match="lacks the feature 'checkpoint', it has sing; install a newer"
        ):
            client.require("checkpoint", "checkpoint()")


def test_servers_must_play_the_same_game(server: Server, monkeypatch):
    describe = Session.describe

    def other_rules(self, game):
        spec = describe(self, game)
        return dataclasses.replace(spec, rules=2) if "tcp" in str(self.connection.address) else spec

    monkeypatch.setattr(Session, "describe", other_rules)
    says = "the server at tcp.* plays another version of blockbattle than the first one: rules is 2, not 1"
    with pytest.raises(blockyard.ProtocolError, match=says):
        blockyard.make_vec(GAME, 4, address=[server.unix, server.tcp])
    with pytest.raises(blockyard.ProtocolError, match=says):
        blockyard.BlockPool(GAME, 4, 2, address=[server.unix, server.tcp])


def test_checkpoints_of_2_0_go_on(server: Server):
    """As they did when they were written: mixtures, memories, policy, counters; a solver in the middle of a piece."""
    data = (FROZEN / "2.0" / "checkpoint-tetrisduel.bin").read_bytes()
    with blockyard.make_vec("TetrisDuel-v0", 3, checkpoint=data, address=[server.unix, server.tcp]) as env:
        assert env.opponent_specs == ("random", "first", "hand:ply=1")
        go_on(env, None, 60, 2)
        env.rollout(30, "hand:ply=1")
        states = hashlib.sha256(env.snapshot().tobytes()).hexdigest()
        assert states == "dcf54167debd4e4d9cbc4d8b9cd9b04a59d5dabc2f7ed763c53afa7d0bf5f1de"
        stats = env.opponent_stats()
        assert [(s.wins, s.draws, s.losses) for s in stats.values()] == [(8, 0, 4), (1, 0, 2), (0, 0, 2)]
    data = (FROZEN / "2.0" / "checkpoint-wintetris-tick.bin").read_bytes()
    with blockyard.make_vec("wintetris:tick", 2, checkpoint=data, max_episode_steps=500, address=server.unix) as env:
        env.rollout(100, "hand", keep="last")
        states = hashlib.sha256(env.snapshot().tobytes()).hexdigest()
        assert states == "ba9fdc31fc900a1893f722f52cce1692fb218d79d21e7736d7e98cd4f8c1ea18"
