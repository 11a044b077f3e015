"""The page "Train on another machine": its commands and its program, run against a server that they start."""

from __future__ import annotations

import contextlib
import json
import os
import random
import re
import socket
import subprocess
import sys

import programs
import pytest
from snippets import DOCS

PAGE = (DOCS / "machines.md").read_text(encoding="utf-8")


def free_port() -> int:
    """Return a port on which nothing listens, below those that a system gives to connections."""
    while True:
        port = random.SystemRandom().randrange(10_000, 30_000)
        with contextlib.suppress(OSError), socket.create_server(("127.0.0.1", port)):
            return port


@pytest.fixture
def listings(tmp_path):
    """The shell listings and the Python listing, with this machine and a free port for those of the page."""
    port = free_port()
    python = f"{sys.executable} -m blockyard "
    found = []
    for language, text in re.findall(r"^```(sh|py)\n(.*?)^```", PAGE, re.M | re.S):
        text = text.replace("10.0.0.5", "127.0.0.1").replace("0.0.0.0", "127.0.0.1").replace(":7777", f":{port}")
        found.append(text if language == "py" else re.sub(r"^blockyard ", python, text, flags=re.M))
    return found


def test_the_page_works(listings, tmp_path):
    start, use, program = listings
    kwargs = {"cwd": tmp_path, "text": True, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    start = start.rstrip().rpartition("\n")
    subprocess.run(["bash", "-euc", start[0]], check=True, timeout=120, cwd=tmp_path)
    with subprocess.Popen(["bash", "-euc", f"exec {start[2]}"], **kwargs) as serving:
        try:
            assert json.loads(serving.stdout.readline())["ready"][0].startswith("tls:127.0.0.1:")
            used = subprocess.run(["bash", "-euc", use], check=True, timeout=120, cwd=tmp_path, stdout=subprocess.PIPE)
            assert b"BlockBattle-v0" in used.stdout
            assert b"rollout" in used.stdout
            env = {**os.environ, "BLOCKYARD_TOKEN": (tmp_path / "token").read_text().strip()}
            said = programs.printed("-c", program, cwd=tmp_path, env=env)
            assert said.startswith("BlockVectorEnv(BlockBattle-v0, num_envs=1024")
            refused = programs.run("-c", program, cwd=tmp_path)
            assert "this server requires a token" in refused.stderr
        finally:
            serving.terminate()
            serving.communicate(timeout=30)
