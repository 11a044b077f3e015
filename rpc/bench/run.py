#!/usr/bin/env python3
"""Benchmarks of our environments and other libraries in one run, on the same cores, in interleaved bursts.

    python rpc/bench/run.py                     # everything; the first run installs the peers
    python rpc/bench/run.py --only ours,floors --envs 64 --rounds 2 --burst 0.02 --out /tmp/x

Results go to results.json and results.md. README.md explains them.
"""

from __future__ import annotations

import argparse
import os
import signal
import subprocess
import sys
import tempfile
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict
from importlib.metadata import version
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
PACKAGE = HERE.parent / "python"
sys.path[:0] = [str(HERE), str(PACKAGE)]

from sides import figures, golang, machine, plan, table  # noqa: E402
from sides.peers import PEERS, InstallError, python  # noqa: E402
from sides.race import Entrant, calibrate, open_all, race  # noqa: E402
from sides.workers import Worker  # noqa: E402

from blockyard.transport.progress import bar  # noqa: E402
from blockyard.transport.server import LIBRARY  # noqa: E402

PARTS = ("ours", "floors", "gymnasium", "peers")
WORKER = str(HERE / "sides" / "worker.py")
SEED = 1  # of the order of the bursts


def arguments(argv: Sequence[str]) -> argparse.Namespace:
    """Read the command line; a list has commas, or spaces, between its items."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--envs", type=positive, nargs="+", default=[1, 64, 1024, 4096], help="numbers of games")
    p.add_argument("--games", choices=plan.ENV_IDS, nargs="+", default=plan.ENV_IDS, help="games of ours (all)")
    p.add_argument("--only", choices=PARTS, nargs="+", default=PARTS, help="parts to run (all)")
    p.add_argument("--peers", choices=PEERS, nargs="+", default=list(PEERS), help="peers to run (all)")
    p.add_argument("--rounds", type=positive, default=7, help="bursts of each entrant (7)")
    p.add_argument("--burst", type=float, default=0.15, help="seconds per burst (0.15)")
    p.add_argument("--cores", type=positive, help="use only the first so many cores (all)")
    p.add_argument("--out", type=Path, default=HERE / "results", help="folder of the results (bench/results)")
    return p.parse_args([word for words in argv for word in words.split(",")])


def positive(text: str) -> int:
    """Read a positive number."""
    if not text.isdecimal() or not 0 < int(text) < 1e6:
        raise argparse.ArgumentTypeError(f"want a number above 0 and below a million, got {text!r}")
    return int(text)


def programs(folder: Path) -> dict[str, str]:
    """Build the server, its library and the in-process stepper of this checkout, and return variables that name them.

    A server or library that such a variable names already is used as it is.
    """
    server = os.environ.get("BLOCKYARD_SERVER") or str(golang.build(folder / "server", "build", "./rpc"))
    library = os.environ.get("BLOCKYARD_LIBRARY") or str(Path(server).with_name(LIBRARY))
    if not Path(library).is_file():
        library = str(folder / LIBRARY)
        try:
            golang.build(library, "build", "-buildmode=c-shared", "./rpc/library", cgo=True)
        except subprocess.CalledProcessError as error:
            print(f"no library: {error}", file=sys.stderr)  # its rows say so too
    stepper = str(golang.build(folder / "inprocess", "test", "-c", "./env/vec"))
    return {"BLOCKYARD_SERVER": server, "BLOCKYARD_LIBRARY": library, "BLOCKYARD_INPROCESS": stepper}


def entrants(args: argparse.Namespace) -> list[Entrant]:
    """Return the chosen entrants; floors take their lengths over from ours."""
    parts = {
        "ours": plan.ours(args.envs, args.games) if {"ours", "floors"} & {*args.only} else [],
        "floors": plan.floors(args.envs, args.games),
        "gymnasium": plan.gymnasium(),
        "peers": [e for e in plan.peers(args.envs) if e.side in args.peers],
    }
    return [e for part in parts if part in args.only or part == "ours" for e in parts[part]]


@contextmanager
def start_workers(chosen: list[Entrant], folder: Path, cores: int) -> Iterator[dict[str, Worker]]:
    """Start the workers that are needed; if one cannot be installed, its entrants keep the error."""
    own = programs(folder) | {"PYTHONPATH": str(PACKAGE), "GOMAXPROCS": str(cores)}
    workers: dict[str, Worker] = {}
    with (folder / "log").open("wb") as log:
        try:
            for side in dict.fromkeys(e.side for e in chosen):
                try:
                    if side in PEERS:
                        command = [*python(PEERS[side]), WORKER, PEERS[side].adapter]
                        workers[side] = Worker(command, {"PYTHONPATH": "", "JAX_PLATFORMS": "cpu"}, log, cwd=folder)
                    else:
                        workers[side] = Worker([sys.executable, WORKER, side], own, log)
                except InstallError as error:
                    for e in (e for e in chosen if e.side == side):
                        e.error = f"cannot be installed: {error}"
            yield workers
        finally:
            for worker in workers.values():
                worker.close()


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """Run everything and return the report."""
    cores = len(machine.pin(args.cores))
    about, chosen, complete = machine.describe(cores), entrants(args), True
    by_key = {e.key: e for e in chosen}
    with (
        tempfile.TemporaryDirectory(prefix="blockyard-bench-") as name,
        start_workers(chosen, Path(name), cores) as workers,
        bar("bursts", len(chosen) * (args.rounds + 2), "burst") as advance,
    ):
        try:
            for _ in open_all(chosen, workers, lambda e: plan.with_lengths(e, by_key)):
                advance(1)
            for _ in calibrate(chosen, workers, args.burst):
                advance(1)
            race(chosen, workers, args.rounds, SEED, lambda: advance(1))
        except KeyboardInterrupt:
            complete = False
    versions = {k: v for e in chosen for k, v in e.about.items() if isinstance(v, str)}
    given = {k: v if isinstance(v, (list, tuple)) else [v] for k, v in vars(args).items() if v and k != "out"}
    return {
        "command": " ".join(["python rpc/bench/run.py", *(f"--{k} {','.join(map(str, v))}" for k, v in given.items())]),
        "machine": about,
        "load_after": machine.load(),
        "rounds": args.rounds,
        "burst_s": args.burst,
        "complete": complete,
        "versions": versions | {package: version(package) for package in ("numpy", "gymnasium")},
        "aims": [asdict(v) for v in figures.verdicts(by_key, args.games, max(args.envs))],
        "rows": [figures.row(e) for e in chosen],
    }


def main() -> int:
    """Measure and write the results; return 0 unless nothing could be measured."""
    args = arguments(sys.argv[1:])
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # saves too
    report = measure(args)
    print(*table.save(report, args.out), sep="\n")
    return int(all("error" in r for r in report["rows"]))


if __name__ == "__main__":
    sys.exit(main())
