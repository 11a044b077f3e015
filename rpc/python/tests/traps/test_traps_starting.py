"""Why a server cannot be started is said, and starting one forks nothing; a picture for each row."""

from __future__ import annotations

import glob
import json
import os
import shutil
import subprocess
import sys
from types import SimpleNamespace

import numpy as np
import programs
import pytest
from conftest import GAME, Server, begun

import blockyard
from blockyard.transport import server as process


def test_places_are_named(program, tmp_path):
    """Why a server cannot be started: its program, or the folder of its socket."""
    package = os.path.dirname(blockyard.__file__)
    shutil.copytree(package, tmp_path / "blockyard", ignore=shutil.ignore_patterns("__pycache__", "_bin"))
    (tmp_path / "blockyard" / "_bin").mkdir()
    target = tmp_path / "blockyard" / "_bin" / "blockyard-server"
    target.write_bytes(b"")
    target.chmod(0o644)
    code = "import blockyard; blockyard.make_vec('WinTetris-v0', transport='process')"
    clean = {k: v for k, v in os.environ.items() if k != "BLOCKYARD_SERVER"}
    clean |= {"PYTHONPATH": str(tmp_path), "PATH": os.path.dirname(sys.executable)}

    def fails(**env):
        command = [sys.executable, "-c", code]
        done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, env=clean | env)
        assert done.returncode == 1
        return done.stderr.splitlines()[-1] if "Start" in done.stderr else done.stderr

    assert "the program in this installation is not executable" in fails()
    code = """
import os, tempfile, blockyard
tempfile.tempdir, os.access = "/" + "x" * 120, lambda path, mode: path != "/tmp"
blockyard.transport.server.find_server = lambda: "/bin/true"
blockyard.make_vec("WinTetris-v0", transport="process")
"""
    assert "too long for a Unix socket, and /tmp cannot be written to; set TMPDIR to another" in fails()


def test_nothing_runs_between_fork_and_exec(program):
    """Starting the server forks no process with threads in Python."""
    code = """
import os, blockyard
seen = []
os.register_at_fork(before=lambda: seen.append(1))
blockyard.make_vec("WinTetris-v0", transport="process").close()
print(seen)
"""
    env = {**os.environ, "BLOCKYARD_SERVER": str(program)}
    done = programs.run("-c", code, env=env)
    assert done.stdout == "[]\n", done.stderr


@pytest.mark.parametrize("moment", ["while it is created", "when it listens"])
def test_ctrl_c_while_starting(program, moment, monkeypatch):
    """Neither a server nor its socket is left."""
    monkeypatch.setenv("BLOCKYARD_SERVER", str(program))

    def then_interrupted(call):
        def both(*args):
            call(*args)
            raise KeyboardInterrupt

        return both

    if moment == "when it listens":
        monkeypatch.setattr(process, "json", SimpleNamespace(loads=then_interrupted(json.loads)))
    else:
        begin = then_interrupted(process._thread.start_new_thread)
        monkeypatch.setattr(process, "_thread", SimpleNamespace(start_new_thread=begin))
    server = process.LocalServer.__new__(process.LocalServer)
    with pytest.raises(KeyboardInterrupt):
        server.__init__()
    assert server.process.returncode is not None
    assert not glob.glob(f"{server._path}*")


def test_a_short_timeout_is_for_answers(program):
    """A server may take longer to start than to answer."""
    code = "import blockyard; print(blockyard.make_vec('WinTetris-v0', timeout=1e-3).client.server_pid is not None)"
    env = {**os.environ, "BLOCKYARD_SERVER": str(program)}
    done = programs.run("-c", code, env=env)
    assert done.stdout == "True\n" or "ServerTimeoutError" in done.stderr, done.stderr


def test_a_picture_for_each_row(server: Server):
    how = {"opponents": None, "render_mode": "rgb_array", "address": server.unix}
    with begun(GAME, 2, **how) as env:
        frames = env.render()
        assert len(frames) == env.num_envs == 4
        assert [f.shape for f in frames] == [frames[0].shape] * 4
        np.testing.assert_array_equal(frames[0], frames[1])
        np.testing.assert_array_equal(frames[2], env.picture(1))
