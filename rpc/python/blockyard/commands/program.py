"""The commands of the program inside the package: the server for other machines, and all that is written in Go."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Sequence

from ..transport.server.binary import find_server

LISTEN = "tcp:127.0.0.1:7777"


def run(arguments: Sequence[str]) -> int:
    """Become the program, with these arguments; ``serve`` without an address listens on this machine, at LISTEN."""
    given = list(arguments)
    said = {argument.partition("=")[0] for argument in given}
    if given[0] == "serve" and given[1:2] != ["dropblox"] and not said & {"-h", "--help", "--listen", "--openenv"}:
        given.insert(1, f"--listen={LISTEN}")
    file = str(find_server())
    if sys.platform == "win32":  # where exec would return to the shell at once
        return subprocess.call([file, *given])
    os.execv(file, ["blockyard", *given])
