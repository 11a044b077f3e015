"""The command line: ``blockyard COMMAND``, also as ``python -m blockyard``.

Commands that are not listed here are those of the program inside the package, which has all that is written in Go:
``serve``, ``arena``, ``host``, ``selfplay``, ``view``, ``export`` and so on.

Exit status: 0 done, 1 failed, 2 bad usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import platform
import subprocess
import sys
from collections.abc import Sequence

from .. import BlockyardError, __version__
from ..errors import plain
from ..provenance import commit
from ..transport.server import find_server
from . import bench, demo, games, onnx

LISTEN = "tcp:127.0.0.1:7777"
ABOUT = "Block-placement games of programming contests as fast environments for reinforcement learning."
OTHERS = (
    "The program inside the package has more commands, such as serve, arena, ladder, host, tournament, play, bundle, "
    "selfplay, view and export: `blockyard help` lists them, and each takes --help."
)


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process; return the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(prog="blockyard", description=ABOUT, epilog=OTHERS)
    parser.add_argument("--version", action="store_true", help="print the version and its commit, and exit")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for name, module in {"games": games, "bench": bench, "demo": demo, "onnx": onnx}.items():
        about, form = module.ABOUT[0].upper() + module.ABOUT[1:], argparse.RawDescriptionHelpFormatter
        command = commands.add_parser(name, help=module.ABOUT.split("\n")[0], description=about, formatter_class=form)
        module.add_options(command)
        command.set_defaults(run=module.run)
    if given == ["--version"]:
        print(f"blockyard {__version__} (commit {commit() or 'unknown'}, Python {platform.python_version()})")
        return 0
    try:
        if given and not given[0].startswith("-") and given[0] not in commands.choices:
            return run_program(["--help"] if given == ["help"] else given)
        args = parser.parse_args(given)
        return int(args.run(args))
    except BrokenPipeError:  # such as `blockyard games | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except (BlockyardError, ValueError) as error:
        print(f"blockyard: {plain(str(error))}", file=sys.stderr)
        return 1


def run_program(given: list[str]) -> int:
    """Become the program, with these arguments; ``serve`` without an address listens on this machine, at LISTEN."""
    said = {argument.partition("=")[0] for argument in given}
    if given[0] == "serve" and given[1:2] != ["dropblox"] and not said & {"-h", "--help", "--listen", "--openenv"}:
        given.insert(1, f"--listen={LISTEN}")
    file = str(find_server())
    if sys.platform == "win32":  # where exec would return to the shell at once
        return subprocess.call([file, *given])
    os.execv(file, ["blockyard", *given])
