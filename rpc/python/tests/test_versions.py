"""Other versions: servers of another protocol, or of other rules, are refused by name."""

from __future__ import annotations

import contextlib
import dataclasses
import re
import socket
import threading

import msgpack
import pytest
from conftest import GAME, Server

import blockyard
from blockyard.transport.session import PROTOCOL, Session


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


@pytest.mark.parametrize(("older", "theirs"), [("server", [2, 1]), ("client", [PROTOCOL[0] + 1, 0])])
def test_other_protocols_are_refused(tmp_path, older, theirs):
    """Whichever side refuses, the error says which of them is older."""
    says = rf" client speaks protocol 3\.\d, .* server .* {theirs[0]}\.{theirs[1]}: the {older} is older"
    words = f"the client speaks protocol 3.0, this server (blockyard 9) {theirs[0]}.{theirs[1]}: the {older} is older"
    refusal = {"code": 102, "name": "version", "msg": words, "data": {"proto": theirs}}
    hello = {"proto": theirs, "server": "blockyard 9", "features": [], "limits": {}}
    for k, answer in enumerate(([1, 1, refusal, None], [1, 1, None, hello])):
        with answering(tmp_path / str(k), msgpack.packb(answer)) as address:
            with pytest.raises(blockyard.ProtocolError, match=says) as error:
                blockyard.make_vec(GAME, 2, address=address)
            assert k or (error.value.name, error.value.data["proto"]) == ("version", theirs)


def test_servers_of_the_same_protocol_may_differ(tmp_path):
    """A later minor version is fine."""
    hello = {"proto": [PROTOCOL[0], 99], "server": "blockyard 9", "features": ["sing"], "limits": {}, "more": 1}
    with answering(tmp_path / "s", msgpack.packb([1, 1, None, hello])) as address, blockyard.connect(address) as client:
        assert client.protocol == (PROTOCOL[0], 99)


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


def test_server_and_client_have_one(server):
    """The version of both is that of the file VERSION."""
    with blockyard.connect(server.unix) as client:
        assert client.server == f"blockyard {blockyard.__version__}"
    assert re.fullmatch(r"\d+\.\d+\.\d+", blockyard.__version__)
