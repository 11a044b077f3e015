"""What options of an environment cost: a row per seat, recording, mixtures of opponents, healing, also of a pool; and
how fast servers step with more threads.

    python rpc/bench/overhead.py [--game Blocking-v0] [--seats 4] [--envs 256] [--rounds 15] [--only pool] [--json]

Every form has a server of its own and plays a trace of random legal actions again and again, in bursts that are
interleaved in shuffled order, so that ratios hold on a busy machine. A pool receives half of its games at a time, and
the server chooses the actions. A decision is the action of a row that had to act; rows that wait have none. Decisions
per core-second count the CPU time of client and server together. A ratio is the median of the ratios within each round,
with its first and third quartiles.
"""

from __future__ import annotations

import argparse
import json
import random
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import blockyard
from blockyard.transport.server import find_server

# Groups that are measured in one run each: name, the form that it is compared with, arguments of make_vec. record is
# the number of episodes of which one is recorded, threads the number of threads of the server.
COMPACT, DEFAULT, RANDOM = "acting rows (compact form)", "a row per seat (default)", "against random"
POOL = "a pool"
GROUPS: list[list[tuple[str, str, dict[str, Any]]]] = [
    [
        (COMPACT, COMPACT, {"rows": "acting", "opponents": None}),
        (DEFAULT, COMPACT, {"opponents": None}),
        (f"{COMPACT}, record every=100", COMPACT, {"rows": "acting", "opponents": None, "record": 100}),
        (f"{DEFAULT}, record every=100", DEFAULT, {"opponents": None, "record": 100}),
        (f"{DEFAULT}, record every=1", DEFAULT, {"opponents": None, "record": 1}),
        (f"{DEFAULT}, heal=True", DEFAULT, {"opponents": None, "heal": True}),
    ],
    [
        (RANDOM, RANDOM, {"opponents": "random"}),
        ("against a mixture of random and first", RANDOM, {"opponents": {"random": 1, "first": 1}}),
        (f"{RANDOM}, record every=100", RANDOM, {"opponents": "random", "record": 100}),
        (f"{RANDOM}, heal=True", RANDOM, {"opponents": "random", "heal": True}),
    ],
    [
        (POOL, POOL, {"opponents": None, "illegal": "random"}),
        (f"{POOL}, heal=True", POOL, {"opponents": None, "illegal": "random", "heal": True}),
    ],
    [(f"threads: {n}", "threads: 1", {"opponents": None, "threads": n}) for n in (1, 2, 4, 8, 16)],
]


class Form:
    """An environment with a server of its own, and the trace that it plays."""

    def __init__(self, options: dict[str, Any], args: argparse.Namespace, folder: Path) -> None:
        options = dict(options)
        command = [
            str(find_server()),
            "serve",
            "--listen",
            f"unix:{folder}/s",
            "--parent-death",
            "--max-memory",
            str(1 << 36),
            "--workers",
            str(options.pop("threads", 0)),
        ]
        self.process = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
        assert self.process.stdout is not None
        address = json.loads(self.process.stdout.readline())["ready"][0]
        if every := options.pop("record", None):
            options["record"] = {"path": folder / "games.jsonl.gz", "every": every}
        self.control = blockyard.connect(address)
        self.decisions, self.seconds = 0, list[float]()  # CPU seconds per decision, by burst
        self.walls = list[float]()  # wall-clock seconds per decision, by burst
        self.open(args, {"seats": args.seats, "address": address, "seed": 1} | options)

    def open(self, args: argparse.Namespace, options: dict[str, Any]) -> None:
        """Create the environment, and record the trace."""
        self.env: Any = blockyard.make_vec(args.game, args.envs, **options)
        self.trace: list[Any] = []
        rng = np.random.default_rng(0)
        _, infos = self.env.reset(seed=1)
        for _ in range(args.steps):
            self.decisions += int(infos["acting"].sum())
            self.trace.append(self.env.sample_actions(rng).astype(np.uint16))
            *_, infos = self.env.step(self.trace[-1])
        moved = self.env.engine.transport.handle.slab_len + 2 * self.env.num_envs
        self.bytes = moved * args.steps / self.decisions

    def cpu(self) -> float:
        return float(self.control.stats()["cpu_s"]) + time.process_time()

    def burst(self) -> None:
        self.env.reset(seed=1)
        begun, start = self.cpu(), time.perf_counter()
        for actions in self.trace:
            self.env.step(actions)
        self.walls.append((time.perf_counter() - start) / self.decisions)
        self.seconds.append((self.cpu() - begun) / self.decisions)

    def games_recorded(self) -> int:
        """Return the number of games in the file of the recording."""
        if not self.env.recording:
            return 0
        self.env.recording.flush()
        return int(self.env.recording.games)

    def peak(self) -> float:
        """Return the peak memory of the server in MB."""
        status = Path(f"/proc/{self.process.pid}/status").read_text()
        return int(status.partition("VmHWM:")[2].split()[0]) / 1024

    def close(self) -> None:
        self.env.close()
        self.control.close()
        assert self.process.stdin is not None
        self.process.stdin.close()
        self.process.wait()


class PoolForm(Form):
    """A pool with a server of its own."""

    def open(self, args: argparse.Namespace, options: dict[str, Any]) -> None:
        """Create the pool."""
        self.env = blockyard.BlockPool(args.game, args.envs, args.envs // 2, **options)
        self.steps = args.steps
        self.env.async_reset(seed=1)
        self.decisions = self.play()
        handle = self.env.envs[0].engine.transport.handle
        self.bytes = (handle.slab_len + 2 * handle.rows) * args.steps / self.decisions

    def play(self) -> int:
        """Step all games from their first positions on; return the number of decisions."""
        decisions = 0
        for t in range(2 * self.steps):
            batch = self.env.recv()
            decisions += int(batch.infos["acting"].sum())
            if t < 2 * self.steps - 2:
                self.env.send(np.zeros(len(batch), np.uint16), batch.env_ids)
        return decisions

    def burst(self) -> None:
        self.env.async_reset(seed=1)
        begun, start = self.cpu(), time.perf_counter()
        decisions = self.play()
        self.walls.append((time.perf_counter() - start) / decisions)
        self.seconds.append((self.cpu() - begun) / decisions)


def compare(
    group: list[tuple[str, str, dict[str, Any]]], args: argparse.Namespace, folder: Path
) -> list[dict[str, Any]]:
    """Return one row for each form of a group."""
    forms: dict[str, Form] = {}
    try:
        for name, _, options in group:
            (folder / str(len(forms))).mkdir(parents=True)
            kind = PoolForm if name.startswith(POOL) else Form
            forms[name] = kind(options, args, folder / str(len(forms)))
        order = list(forms.values())
        for k in range(args.rounds + 1):
            random.Random(k).shuffle(order)
            for form in order:
                form.burst()
        return [row(name, forms[name], reference, forms[reference]) for name, reference, _ in group]
    finally:
        for form in forms.values():
            form.close()


def row(name: str, form: Form, reference: str, other: Form) -> dict[str, Any]:
    """Return the figures of a form, as ratios to another."""
    mine, first = np.array(form.seconds[1:]), np.array(other.seconds[1:])  # the first round warms up
    low, ratio, high = np.quantile(first / mine, [0.25, 0.5, 0.75])
    return {
        "form": name,
        "reference": reference,
        "decisions_per_core_second": 1 / float(np.median(mine)),
        "decisions_per_second": 1 / float(np.median(form.walls[1:])),
        "ratio": float(ratio),
        "quartiles": [float(low), float(high)],
        "bytes_per_decision": form.bytes,
        "bytes_ratio": form.bytes / other.bytes,
        "peak_memory_mb": form.peak(),
        "peak_ratio": form.peak() / other.peak(),
        "games_recorded": form.games_recorded(),
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="Blocking-v0")
    parser.add_argument("--seats", type=int, default=4)
    parser.add_argument("--envs", type=int, default=256)
    parser.add_argument("--steps", type=int, default=200, help="steps of the trace")
    parser.add_argument("--rounds", type=int, default=15)
    parser.add_argument("--only", default="", help="measure only groups with a form of which this is a part")
    parser.add_argument("--json", action="store_true", help="print a line of JSON for each row")
    args = parser.parse_args()
    if not args.json:
        print(
            f"{args.game}, {args.seats} seats, {args.envs} games, {args.steps} steps per burst, {args.rounds} rounds\n"
        )
        print("| form | compared with | decisions per core-second | per second | bytes per decision | peak memory |")
        print("|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as folder:
        for k, group in enumerate(GROUPS):
            if not any(args.only in name for name, _, _ in group):
                continue
            for r in compare(group, args, Path(folder) / f"group{k}"):
                if args.json:
                    print(json.dumps(r), flush=True)
                    continue
                low, high = r["quartiles"]
                print(
                    f"| {r['form']} | {r['reference']} | {r['ratio']:.2f} ({low:.2f} to {high:.2f}), "
                    f"{r['decisions_per_core_second']:,.0f} | {r['decisions_per_second']:,.0f} | "
                    f"{r['bytes_ratio']:.2f}, {r['bytes_per_decision']:,.0f} | "
                    f"{r['peak_ratio']:.2f}, {r['peak_memory_mb']:.0f} MB |",
                    flush=True,
                )


if __name__ == "__main__":
    main()
