"""The command line: ``blockyard serve|games|bench|demo|onnx|reverify``, also as ``python -m blockyard``.

Exit status: 0 done, 1 failed, 2 bad usage, 130 interrupted.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections.abc import Sequence

from .. import BlockyardError, __version__
from . import bench, demo, games, onnx, reverify, serve

ABOUT = "Block-placement games of programming contests as fast environments for reinforcement learning."


def main(argv: Sequence[str] | None = None) -> int:
    """Run a command line, by default that of this process; return the exit status."""
    given = list(sys.argv[1:] if argv is None else argv)
    parser = argparse.ArgumentParser(prog="blockyard", description=ABOUT)
    parser.add_argument("--version", action="version", version=f"blockyard {__version__}")
    commands = parser.add_subparsers(title="commands", metavar="COMMAND", required=True)
    for module in (serve, games, bench, demo, onnx, reverify):
        module.add(commands)
    try:
        if given[:1] == ["serve"]:  # the server reads its own arguments
            return serve.run(given[1:])
        args = parser.parse_args(given)
        return int(args.run(args))
    except BrokenPipeError:  # such as `blockyard games | head`
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 1
    except KeyboardInterrupt:
        return 130
    except (BlockyardError, ValueError) as error:
        print(f"blockyard: {error}", file=sys.stderr)
        return 1
