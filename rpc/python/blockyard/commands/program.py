"""``blockyard serve``: the server of this package, for other machines."""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from ..transport.server.binary import find_server

HELP = "serve games to other processes or machines (`blockyard serve --help` lists the options)"
LISTEN = "tcp:127.0.0.1:7777"


def add(commands: Any) -> None:
    """Add the command to the parser, for the list of commands; :func:`run` gets its arguments as they are."""
    parser = commands.add_parser("serve", help=HELP, add_help=False)
    parser.add_argument("arguments", nargs=argparse.REMAINDER)


def run(arguments: Sequence[str]) -> int:
    """Become the server, with these arguments; without an address it listens on this machine, at LISTEN."""
    given = list(arguments)
    if not any(a in ("-h", "--help") or a.partition("=")[0] in ("--listen", "--openenv") for a in given):
        given = [f"--listen={LISTEN}", *given]
    program = str(find_server())
    if sys.platform == "win32":  # where exec would return to the shell at once
        return subprocess.call([program, "serve", *given])
    os.execv(program, ["blockyard", "serve", *given])
