"""The command line: ``blockyard COMMAND``, also as ``python -m blockyard``.

Commands that are not listed here are those of the program inside the package, which has all that is written in Go:
``serve``, ``arena``, ``host``, ``selfplay``, ``view``, ``export`` and so on.

Exit status: 0 done, 1 failed, 2 bad usage, 130 interrupted.
"""

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
from . import bench, demo, docs, example, games, onnx

COMMANDS = {"games": games, "bench": bench, "demo": demo, "docs": docs, "example": example, "onnx": onnx}


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process; return the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    if given == ["--version"]:
        print(f"blockyard {__version__} (commit {commit() or 'unknown'}, Python {platform.python_version()})")
        return 0
    try:
        if given[:1] == ["help"] and given[1:] and given[1] in COMMANDS:
            given = [given[1], "--help"]
        if not given or given[0] not in COMMANDS:
            return run_program(given)
        module = COMMANDS[given[0]]
        about, form = module.ABOUT[0].upper() + module.ABOUT[1:], argparse.RawDescriptionHelpFormatter
        parser = argparse.ArgumentParser(prog=f"blockyard {given[0]}", description=about, formatter_class=form)
        module.add_options(parser)
        try:
            return int(module.run(parser.parse_args(given[1:])))
        except argparse.ArgumentError as error:
            parser.error(str(error))
    except BrokenPipeError:  # such as `blockyard games | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except (BlockyardError, ValueError, ImportError) as error:  # of a library that is optional
        print(f"blockyard: {plain(str(error))}", file=sys.stderr)
        return 1


def run_program(given: list[str]) -> int:
    """Become the program, with these arguments."""
    about = {name: module.ABOUT[0].upper() + module.ABOUT[1:].splitlines()[0] for name, module in COMMANDS.items()}
    os.environ["BLOCKYARD_COMMANDS"] = "\n".join(map("\t".join, about.items()))  # which its help lists too
    plays = [sys.executable, sys.prefix, sys.base_prefix]  # policies of Python
    os.environ["BLOCKYARD_PYTHON"] = os.pathsep.join(plays)
    file = str(find_server())
    if sys.platform == "win32":  # where exec would return to the shell at once
        return subprocess.call([file, *given])
    os.execv(file, ["blockyard", *given])
