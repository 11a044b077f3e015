"""``blockyard games``: the environments of a server."""

import argparse
import json
from collections.abc import Sequence
from typing import Any

from .. import connect
from ..errors import plain
from ..formats.spec import GameSpec

ABOUT = "list the environments: ids, seats, actions, opponents"
TURNS = {"simultaneous": "at once", "alternating": "in turn", "single": "alone"}
HEAD = ("id", "name", "seats", "planes", "actions", "an action")


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``blockyard games``."""
    add_connection(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object per line, as the method describe gives it")


def add_connection(parser: argparse.ArgumentParser) -> None:
    """Add the options that say where the server is."""
    running = "unix:PATH, tcp:HOST:PORT or tls:HOST:PORT of a running server; by default a local one is started"
    parser.add_argument("--address", metavar="ADDRESS", help=running)
    parser.add_argument("--ca", metavar="FILE", help="certificates to trust over tls:; by default the system's")
    parser.add_argument("--token", metavar="TEXT", help="token that the server requires; by default BLOCKYARD_TOKEN")


def connection(args: argparse.Namespace) -> dict[str, Any]:
    """Return what :func:`add_connection` read, as arguments of make_vec or connect."""
    if not args.address:
        refuse(args, ["ca", "token"], "without --address: the server is a local one")
    elif not args.address.startswith("tls:"):
        refuse(args, ["ca"], f"with --address {args.address}, which is not encrypted")
    return {"address": args.address, "tls": args.ca, "token": args.token}


def refuse(args: argparse.Namespace, names: Sequence[str], why: str) -> None:
    """Refuse options that were given, which have no effect beside the others."""
    for name in names:
        if getattr(args, name) is not None:
            raise argparse.ArgumentError(None, f"--{name} has no effect {why}: leave it out")


def run(args: argparse.Namespace) -> int:
    """Print a table of the server's games, or a line of JSON for each; return the exit status."""
    with connect(**connection(args)) as client:
        specs = [client.describe(game["name"]) for game in client.games()]
        if args.json:
            for spec in specs:
                print(json.dumps(spec.raw))
            return 0
        rows = [HEAD, *(_row(spec, client.text(spec.name, [spec.actions // 3])[0]) for spec in specs)]
        widths = [max(map(len, column)) for column in zip(*rows, strict=True)]
        for row, below in zip(rows, [["opponents"], *(spec.opponents for spec in specs)], strict=True):
            print(plain(" ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True))).rstrip())
            print(plain(f"  {', '.join(below)}"))
        where = plain(f"{client.server} at {client.connection.address}")
        print(f"\n{where}\nblockyard.make_vec(id, num_envs) creates an environment")
    return 0


def _row(spec: GameSpec, action: str) -> tuple[str, ...]:
    seats = str(spec.min_seats) if spec.min_seats == spec.max_seats else f"{spec.min_seats}-{spec.max_seats}"
    planes = "x".join(map(str, spec.planes_shape))
    return (spec.id, spec.name, f"{seats} {TURNS[spec.turn]}", planes, f"{spec.actions:,}", action)
