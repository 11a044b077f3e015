"""Compare ``blockyard serve --openenv`` with the server of the OpenEnv package around the same environment.

    pip install openenv
    python rpc/bench/openenv_speed.py --rounds 3

Both serve the same game to the same client, in 64 sessions (``BenchmarkSessions`` of rpc/openenv), in turns, so that
other load on the machine affects both alike. Prints a table; the ratio is the median of the ratios within each round.
``--cores 2`` keeps all processes on the first two cores.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
from pathlib import Path
from statistics import median

from sides import golang, machine
from sides.clock import process_seconds
from sides.servers import Server
from sides.table import lines

SESSIONS = "64"
REFERENCE = Path(__file__).with_name("openenv_reference.py")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="BlockBattle-v0")
    parser.add_argument("--opponents", default="random")
    parser.add_argument("--seconds", type=float, default=5.0, help="of each burst")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", type=int, help="use only the first so many cores (all)")
    args = parser.parse_args()
    cores = len(machine.pin(args.cores))
    flags = [f"--game={args.game}", f"--opponents={args.opponents}", f"--max-sessions={SESSIONS}"]
    servers = {
        "blockyard": Server(sys.executable, "-m", "blockyard", "serve", "--openenv=127.0.0.1:0", *flags),
        "OpenEnv package": Server(sys.executable, REFERENCE, args.game, args.opponents, SESSIONS),
    }
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in servers}
    try:
        with tempfile.TemporaryDirectory() as folder:
            load = golang.build(Path(folder) / "load", "test", "-c", "./rpc/openenv")
            for _ in range(args.rounds):
                for name, server in servers.items():
                    before = process_seconds(server.pid)
                    where, length = server.said["openenv"], f"{args.seconds}s"
                    (out,) = golang.bench(load, "Sessions", length, cores=cores, OPENENV_URL=where).values()
                    cost = 1e6 * (process_seconds(server.pid) - before) / out["steps"]
                    measured[name].append((out["steps/s"], cost))
    finally:
        for server in servers.values():
            server.close()
    print(f"{args.game}, opponents {args.opponents}, {SESSIONS} sessions, {cores} cores\n")
    middles = {name: map(median, zip(*rounds, strict=True)) for name, rounds in measured.items()}
    rows = [(name, f"{speed:,.0f}", f"{cost:,.0f} µs") for name, (speed, cost) in middles.items()]
    print(lines(("server", "steps/s", "server's CPU per step"), rows))
    print(f"ratio {median(ours / theirs for (ours, _), (theirs, _) in zip(*measured.values(), strict=True)):.0f}")


if __name__ == "__main__":
    main()
