"""Compare ``blockyard serve --openenv`` with the server of the OpenEnv package around the same environment.

    pip install openenv
    python rpc/bench/openenv_speed.py --rounds 3

Both serve the same game to the same client (``openenvload``, in Go), in turns, so that other load on the machine
affects both alike. Prints a table; the ratio is the median of the ratios within each round. ``--cores 0,1`` keeps all
processes on these cores.
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

HERE = Path(__file__).resolve().parent


@contextmanager
def serving(*command: str) -> Iterator[tuple[str, int]]:
    """Run a server; yields its address and its process id."""
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as server:
        try:
            assert server.stdout is not None
            yield json.loads(server.stdout.readline())["openenv"], server.pid
        finally:
            server.terminate()


def cpu(pid: int) -> float:
    """Return the CPU seconds that a process has used (Linux)."""
    fields = Path(f"/proc/{pid}/stat").read_text(encoding="ascii").rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="BlockBattle-v0")
    parser.add_argument("--opponents", default="random")
    parser.add_argument("--sessions", type=int, default=64)
    parser.add_argument("--seconds", type=float, default=5.0, help="of each burst")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--cores", help="cores for all processes, such as 0,1; by default all")
    args = parser.parse_args()
    if args.cores:
        os.sched_setaffinity(0, {int(c) for c in args.cores.split(",")})
    with tempfile.TemporaryDirectory() as folder:
        load = f"{folder}/openenvload"
        subprocess.run(["go", "test", "-c", "-o", load, "./openenvload"], cwd=HERE, check=True)
        flags = ["--game", args.game, "--opponents", args.opponents]
        native = [sys.executable, "-m", "blockyard", "serve", "--openenv", "127.0.0.1:0", *flags]
        reference = [sys.executable, str(HERE / "openenv_reference.py"), *flags, "--sessions", str(args.sessions)]
        speeds: dict[str, list[float]] = {"blockyard": [], "reference": []}
        costs: dict[str, list[float]] = {"blockyard": [], "reference": []}
        with serving(*native, f"--max-sessions={args.sessions}") as ours, serving(*reference) as theirs:
            for _ in range(args.rounds):
                for name, (url, pid) in (("blockyard", ours), ("reference", theirs)):
                    before = cpu(pid)
                    done = subprocess.run(
                        [load, "-url", url, "-sessions", str(args.sessions), "-for", f"{args.seconds}s"],
                        capture_output=True, text=True, check=True,
                    )  # fmt: skip
                    out = json.loads(done.stdout)
                    speeds[name].append(out["steps"] / out["seconds"])
                    costs[name].append(1e6 * (cpu(pid) - before) / max(1, out["steps"]))
    print(f"{args.game}, opponents {args.opponents}, {args.sessions} sessions, cores {args.cores or 'all'}\n")
    print("| server | steps/s | server's CPU per step |\n|---|---|---|")
    for name in speeds:
        print(f"| {name} | {statistics.median(speeds[name]):,.0f} | {statistics.median(costs[name]):,.0f} µs |")
    pairs = zip(speeds["blockyard"], speeds["reference"], strict=True)
    print(f"\nratio {statistics.median(a / b for a, b in pairs):.0f}")


if __name__ == "__main__":
    main()
