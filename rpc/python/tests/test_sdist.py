"""A source distribution builds without Go if a server is named, and otherwise says what to do."""

from __future__ import annotations

import os
import sys
import tarfile
import zipfile

import programs
import pytest
from conftest import ROOT

import blockyard


def hatchling(folder, target, **env):
    """Build a target in a folder; return the exit status, the output and the files in dist.

    With the PATH of an empty folder it is a machine without Go.
    """
    kept = {name: value for name, value in os.environ.items() if name != "BLOCKYARD_BUILD_SERVER"}
    command = ["-m", "hatchling", "build", "-t", target, "-d", folder / "dist"]
    done = programs.run(*command, cwd=folder, env={**kept, **env}, timeout=600)
    return done.returncode, done.stdout + done.stderr, sorted((folder / "dist").glob("*"))


@pytest.fixture(scope="module")
def sources(tmp_path_factory):
    """The unpacked source distribution of this checkout."""
    folder = tmp_path_factory.mktemp("sdist")
    programs.printed("-m", "hatchling", "build", "-t", "sdist", "-d", folder, cwd=ROOT / "rpc/python", timeout=600)
    with tarfile.open(next(folder.glob("*.tar.gz"))) as archive:
        archive.extractall(folder, filter="data")
    return next(path for path in folder.iterdir() if path.is_dir())


def test_a_server_is_named(sources, program, tmp_path):
    """Here it is a script that is the server: packing takes as long as the program is large."""
    server = tmp_path / "server"
    server.write_text(f'#!/bin/sh\nexec "{program}" "$@"\n')
    server.chmod(0o755)
    status, said, files = hatchling(sources, "wheel", BLOCKYARD_BUILD_SERVER=str(server), PATH=str(tmp_path))
    assert status == 0, said
    [wheel] = files
    assert wheel.name.startswith(f"blockyard-{blockyard.__version__}-py3-none-"), wheel.name
    assert not wheel.name.endswith("-any.whl")
    with zipfile.ZipFile(wheel) as archive:
        [info] = [file for file in archive.infolist() if file.filename.startswith("blockyard/_bin/")]
        assert archive.read(info) == server.read_bytes()
        assert info.external_attr >> 16 & 0o111
        for name, of in (("LICENSE", "LICENSE"), ("NOTICES", ".github/NOTICES")):
            text = archive.read(f"blockyard-{blockyard.__version__}.dist-info/licenses/{name}")
            assert text == (sources / "_go" / name).read_bytes() == (ROOT / of).read_bytes()
        for page in ("README.md", "agents/JSON.md", "env/blocking/RULES.md", "rpc/python/docs/first.md",
                     "agents/submit/starters/dropblox/README.md", ".github/SECURITY.md",
                     "rpc/python/examples/quickstart.py"):  # fmt: skip
            assert archive.read(f"blockyard/_docs/{page}") == (ROOT / page).read_bytes()
    wheel.unlink()


@pytest.mark.parametrize(
    ("named", "says"),
    [
        ("", "no `go` is on PATH: install Go (https://go.dev/dl), or set BLOCKYARD_BUILD_SERVER to the file"),
        ("/no/such/server", "BLOCKYARD_BUILD_SERVER=/no/such/server: not a program that runs on this machine"),
        (sys.executable, f"want a server of {blockyard.__version__}"),
    ],
)
def test_otherwise(sources, tmp_path, named, says):
    status, said, files = hatchling(sources, "wheel", BLOCKYARD_BUILD_SERVER=named, PATH=str(tmp_path))
    assert status != 0
    assert says in " ".join(said.split()), said
    assert files == []
