"""Finding, building and starting the server program."""

from __future__ import annotations

import os
import stat
from pathlib import Path

import pytest

import blockyard
from blockyard.transport import server as binary
from blockyard.transport.server import LocalServer


@pytest.fixture
def nowhere(monkeypatch, tmp_path):
    """A package outside a checkout, with nothing bundled and nothing on PATH."""
    package = tmp_path / "site-packages" / "blockyard"
    package.mkdir(parents=True)
    monkeypatch.setattr(binary, "_PACKAGE", package)
    monkeypatch.setenv("PATH", str(tmp_path / "bin"))
    monkeypatch.delenv("BLOCKYARD_SERVER", raising=False)
    return tmp_path


def program(path: Path, text: str = "#!/bin/sh\nexit 3\n") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


FAKE_GO = """#!/bin/sh
while [ "$1" != -o ]; do shift; done
echo built > "$2"
/bin/chmod +x "$2"
"""


def test_order(nowhere, monkeypatch):
    with pytest.raises(blockyard.ServerNotFoundError, match=r"BLOCKYARD_SERVER.*PATH.*no `go`|not a checkout"):
        binary.find_server()
    on_path = program(nowhere / "bin" / binary.NAME)
    assert binary.find_server() == on_path
    bundled = program(nowhere / "site-packages" / "blockyard" / "_bin" / binary.NAME)
    assert binary.find_server() == bundled
    named = program(nowhere / "mine")
    monkeypatch.setenv("BLOCKYARD_SERVER", str(named))
    assert binary.find_server() == named
    monkeypatch.setenv("BLOCKYARD_SERVER", str(nowhere / "gone"))
    with pytest.raises(blockyard.ServerNotFoundError, match="gone"):
        binary.find_server()


@pytest.fixture
def checkout(nowhere, monkeypatch):
    """A package in its checkout."""
    root = nowhere / "checkout"
    source, package = program(root / "rpc" / "main.go"), root / "rpc" / "python" / "blockyard"
    package.mkdir(parents=True)
    monkeypatch.setattr(binary, "_PACKAGE", package)
    (root / "go.mod").write_text("module x\n")
    (root / "go.sum").write_text("")
    return source


def test_an_installed_program_stays(checkout, nowhere, monkeypatch):
    """Also in a virtual environment in a checkout, with Go, where it cannot be started."""
    package = nowhere / "checkout" / ".venv" / "lib" / "blockyard"
    monkeypatch.setattr(binary, "_PACKAGE", package)
    program(nowhere / "bin" / "go", FAKE_GO)
    program(package / "_bin" / binary.NAME, "mine").chmod(0o644)
    (package / "_bin" / binary.LIBRARY).write_text("mine")
    os.utime(checkout)
    with pytest.raises(blockyard.ServerStartError, match="is not executable"):
        binary.find_server()
    assert binary.find_library(build=True).read_text() == (package / "_bin" / binary.NAME).read_text() == "mine"


def test_built_in_a_checkout(checkout, nowhere):
    go = program(nowhere / "bin" / "go", FAKE_GO)
    built = binary.find_server()
    assert built == nowhere / "checkout" / "rpc" / "python" / "blockyard" / "_bin" / binary.NAME
    assert built.read_text() == "built\n"
    assert os.listdir(built.parent) == [binary.NAME]
    built.unlink()
    program(go, "#!/bin/sh\necho 'main.go:1: no such thing' >&2\nexit 1\n")
    with pytest.raises(blockyard.ServerNotFoundError, match="no such thing"):
        binary.find_server()
    assert os.listdir(built.parent) == []


def test_built_again_when_a_source_is_newer(checkout, nowhere):
    program(nowhere / "bin" / "go", FAKE_GO)
    built = binary.find_server()
    built.write_text("kept\n")
    assert binary.find_server().read_text() == "kept\n"
    later = built.stat().st_mtime + 10
    os.utime(checkout, (later, later))
    assert binary.find_server().read_text() == "built\n"
    (nowhere / "bin" / "go").unlink()
    assert binary.find_server().read_text() == "built\n"  # without Go, what is there is used


@pytest.mark.parametrize(
    ("text", "timeout", "what"),
    [
        ("echo cannot listen >&2; exit 3", 60, "(?s)exit status 3.*cannot listen"),
        ("echo hello", 60, "hello"),
        ("echo '{\"ready\": []}'", 60, "unknown way"),
        ("exec sleep 600", 0.5, "in time"),
    ],
)
def test_programs_that_are_no_server(nowhere, monkeypatch, text, timeout, what):
    monkeypatch.setenv("PATH", os.defpath)
    monkeypatch.setenv("BLOCKYARD_SERVER", str(program(nowhere / "odd", f"#!/bin/sh\n{text}\n")))
    with pytest.raises(blockyard.ServerStartError, match=what):
        LocalServer(timeout)
    monkeypatch.setenv("BLOCKYARD_SERVER", str(program(nowhere / "odd", "not a program")))
    with pytest.raises(blockyard.ServerStartError, match="cannot be started"):
        LocalServer(timeout)


def test_a_local_server_warns_of_nothing():
    server = LocalServer()
    try:
        with blockyard.make_vec("BlockBattle-v0", 2, address=server.address, token=server.token) as env:
            env.reset()
        assert server._log_end() == ""
    finally:
        server.stop()
