#!/usr/bin/env python3
"""Benchmarks of our environments and other libraries in one run, on the same cores, in interleaved bursts.

    python rpc/bench/run.py                     # everything; the first run installs the peers
    python rpc/bench/run.py --only ours,floors --envs 64 --rounds 2 --burst 0.02 --out /tmp/x

Results go to results.json, results.md and results.png. README.md explains them.
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
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
PACKAGE = ROOT / "rpc" / "python"
sys.path[:0] = [str(HERE), str(PACKAGE)]

from sides import figures, machine, plan, plot, table, venvs  # noqa: E402
from sides.race import Entrant, calibrate, open_all, race  # noqa: E402
from sides.workers import Worker  # noqa: E402

from blockyard.transport import server as binary  # noqa: E402

PARTS = ("ours", "floors", "gymnasium", "peers")
FEW, MANY = 16, 64  # numbers of environments where opening or stepping is slow


def arguments(argv: Sequence[str] | None) -> argparse.Namespace:
    """Read the command line."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--envs", type=_sizes, default=[1, 64, 1024, 4096], help="numbers of games (1,64,1024,4096)")
    p.add_argument("--games", type=_names(plan.ENV_IDS), default=list(plan.ENV_IDS), help="games of ours (all five)")
    p.add_argument("--only", type=_names(PARTS), default=list(PARTS), help=f"parts to run, of {','.join(PARTS)} (all)")
    p.add_argument(
        "--peers",
        type=_names([x.side for x in plan.PEERS]),
        default=[x.side for x in plan.PEERS],
        help="peers to run (all)",
    )
    p.add_argument("--rounds", type=_positive(int), default=7, help="bursts of each entrant (7)")
    p.add_argument("--burst", type=_positive(float), default=0.15, help="seconds per burst (0.15)")
    p.add_argument("--cores", type=_positive(int), help="use only the first so many cores (all)")
    p.add_argument("--seed", type=int, default=1, help="seed of the games and of the order of the bursts (1)")
    p.add_argument("--out", type=Path, default=HERE / "results", help="folder of the results (bench/results)")
    p.add_argument(
        "--cache",
        type=Path,
        default=Path.home() / ".cache" / "blockyard-bench",
        help="folder of the peers' virtual environments",
    )
    p.add_argument("--python", default=sys.executable, help="interpreter for the peers' virtual environments")
    p.add_argument("--quiet", action="store_true", help="no progress bars")
    return p.parse_args(argv)


def _sizes(text: str) -> list[int]:
    sizes = sorted({_positive(int)(part) for part in text.split(",")})
    return [int(n) for n in sizes]


def _positive(kind: type) -> Any:
    def read(text: str) -> Any:
        try:
            value = kind(text)
        except ValueError:
            raise argparse.ArgumentTypeError(f"want a number, got {text!r}") from None
        if not 0 < value < 1e6:
            raise argparse.ArgumentTypeError(f"want a number above 0 and below a million, got {text!r}")
        return value

    return read


def _names(known: Sequence[str]) -> Any:
    def read(text: str) -> list[str]:
        some = [part for part in text.split(",") if part]
        if unknown := set(some) - set(known):
            raise argparse.ArgumentTypeError(f"unknown {sorted(unknown)}; there are {list(known)}")
        return some

    return read


def programs(folder: Path) -> tuple[dict[str, str], str | None]:
    """Build the server and the in-process stepper of this checkout; elsewhere use the server of the package.

    A server that ``BLOCKYARD_SERVER`` names is used as it is.

    Returns:
        Environment variables for the workers, and the path of the stepper or None.
    """
    if not (ROOT / "go.mod").is_file():
        return {}, None
    builds = {"server": ["build", "./rpc"], "inprocess": ["test", "-c", "./rpc/bench/inprocess"]}
    if named := os.environ.get("BLOCKYARD_SERVER"):
        del builds["server"]
    for name, (*verb, package) in builds.items():
        command = ["go", *verb, "-trimpath", "-ldflags", "-s -w", "-o", str(folder / name), package]
        build = os.environ | {"CGO_ENABLED": "0", "GOAMD64": "v2"}  # as releases are built
        done = subprocess.run(command, cwd=ROOT, env=build, capture_output=True, text=True, check=False)
        if done.returncode != 0:
            raise SystemExit(f"building {package} failed:\n{done.stderr}")
    found = {"BLOCKYARD_SERVER": named or str(folder / "server")}
    beside = Path(named or folder / "server").with_name(binary.LIBRARY)
    if not os.environ.get("BLOCKYARD_LIBRARY") and not beside.is_file():
        library = folder / binary.LIBRARY
        command = ["go", "build", "-trimpath", "-buildmode=c-shared", "-ldflags", "-s -w", "-o", str(library)]
        build = os.environ | {"CGO_ENABLED": "1", "GOAMD64": "v2"}
        subprocess.run([*command, "./rpc/library"], cwd=ROOT, env=build, check=False)  # without it, its rows say why
        found["BLOCKYARD_LIBRARY"] = str(library)
    return found, str(folder / "inprocess")


def entrants(args: argparse.Namespace, threads: int) -> list[Entrant]:
    """Return the chosen entrants."""
    chosen: list[Entrant] = []
    if {"ours", "floors"} & set(args.only):
        chosen += plan.ours(args.envs, args.games, threads, args.seed)
    if "floors" in args.only:
        chosen += plan.floors(args.envs, args.games, threads)
    if "gymnasium" in args.only:
        chosen += plan.gymnasium(threads, args.seed, FEW, MANY)
    if "peers" in args.only:
        chosen += [e for e in plan.peers(args.envs, threads, FEW) if e.side in args.peers]
    return chosen


@contextmanager
def start_workers(chosen: list[Entrant], args: argparse.Namespace, folder: Path) -> Iterator[dict[str, Worker]]:
    """Start the workers that are needed; if one cannot be installed, its entrants keep the error."""
    env, stepper = programs(folder)
    env |= {"PYTHONPATH": str(PACKAGE), "GOMAXPROCS": str(len(machine.pin(args.cores)))}
    workers: dict[str, Worker] = {}
    adapters = {"ours": "ours", "floors": "floors", "gym": "gym"}
    with (folder / "log").open("wb") as log:
        try:
            for side in dict.fromkeys(e.side for e in chosen):
                try:
                    if side == "inprocess":
                        if stepper is None:
                            raise venvs.InstallError("this is not a checkout of the sources")
                        workers[side] = Worker([stepper], env, log)
                    elif side in adapters:
                        workers[side] = Worker(
                            [sys.executable, str(HERE / "sides" / "worker.py"), adapters[side]], env, log
                        )
                    else:
                        workers[side] = peer_worker(side, args, folder, log)
                except venvs.InstallError as error:
                    for e in chosen:
                        if e.side == side:
                            e.error = f"cannot be installed: {error}"
            yield workers
        finally:
            for worker in workers.values():
                worker.close()


def peer_worker(side: str, args: argparse.Namespace, folder: Path, log: Any) -> Worker:
    """Start the worker of a peer in its own virtual environment."""
    peer = next(p for p in plan.PEERS if p.side == side)
    build = [str(HERE / "sides" / peer.build[0]), *peer.build[1:]] if peer.build else []
    if not args.quiet:
        print(f"{side}: {', '.join(peer.pinned)}", file=sys.stderr)
    program = venvs.ready_python(args.cache, side, args.python, peer.pinned, build)
    command = [str(program), str(HERE / "sides" / "worker.py"), peer.adapter]
    return Worker(command, {"PYTHONPATH": "", "JAX_PLATFORMS": "cpu"}, log, cwd=folder)


def measure(args: argparse.Namespace) -> dict[str, Any]:
    """Run everything and return the report."""
    cores = machine.pin(args.cores)
    about, chosen, complete = machine.describe(len(cores)), entrants(args, len(cores)), True
    by_key = {e.key: e for e in chosen}
    with (
        tempfile.TemporaryDirectory(prefix="blockyard-bench-") as name,
        start_workers(chosen, args, Path(name)) as workers,
    ):
        bar = progress(len(chosen) * (args.rounds + 2), args.quiet)
        try:
            for e in open_all(chosen, workers, lambda e: plan.with_lengths(e, by_key)):
                bar.set_description_str(f"open {e.label}"[:40])
                bar.update()
            for e in calibrate(chosen, workers, args.burst):
                bar.set_description_str(f"warm {e.label}"[:40])
                bar.update()
            bar.set_description_str("bursts")
            race(chosen, workers, args.rounds, args.seed, bar.update)
        except KeyboardInterrupt:
            complete = False
        bar.close()
    versions = {k: v for e in chosen for k, v in e.about.items() if isinstance(v, str)}
    return {
        "command": "python rpc/bench/run.py " + " ".join(shown_arguments(args)),
        "machine": about,
        "load_after": machine.load(),
        "rounds": args.rounds,
        "burst_s": args.burst,
        "complete": complete,
        "versions": versions | {"numpy": version_of("numpy"), "gymnasium": version_of("gymnasium")},
        "aims": [asdict(v) for v in figures.verdicts(by_key, args.games, max(args.envs))],
        "rows": [figures.row(e) for e in chosen],
    }


def shown_arguments(args: argparse.Namespace) -> list[str]:
    """Return the arguments that affect the results, without folders."""
    said = [f"--envs {','.join(map(str, args.envs))}", f"--rounds {args.rounds}", f"--burst {args.burst:g}"]
    if args.games != list(plan.ENV_IDS):
        said.append(f"--games {','.join(args.games)}")
    if args.only != list(PARTS):
        said.append(f"--only {','.join(args.only)}")
    return said + ([f"--cores {args.cores}"] if args.cores else [])


def version_of(package: str) -> str:
    """Return the version of a package of this interpreter."""
    from importlib.metadata import version

    return version(package)


class NoBar:
    """A progress bar that shows nothing."""

    def set_description_str(self, text: str) -> None:
        """Set the description."""

    def update(self) -> None:
        """Advance by one."""

    def close(self) -> None:
        """Remove the bar."""


def progress(total: int, quiet: bool) -> Any:
    """Return a progress bar."""
    if quiet:
        return NoBar()
    from tqdm import tqdm

    return tqdm(total=total, unit="burst", dynamic_ncols=True)


def main(argv: Sequence[str] | None = None) -> int:
    """Measure and write the results; return 0 unless nothing could be measured."""
    args = arguments(argv)
    signal.signal(signal.SIGTERM, signal.default_int_handler)  # saves too
    try:
        report = measure(args)
    except KeyboardInterrupt:
        return 130
    paths = table.save(report, args.out)
    try:
        plot.save(report, args.out / "results.png")
        paths.append(args.out / "results.png")
    except ImportError:
        print("no picture: pip install matplotlib", file=sys.stderr)
    print("\n".join(map(str, paths)))
    return 0 if any("error" not in r for r in report["rows"]) else 1


if __name__ == "__main__":
    sys.exit(main())
