#!/usr/bin/env python3
"""What a row per seat, recording and mixtures of opponents cost, as ratios to the compact form, in one run.

    python rpc/python/bench/rows.py
    python rpc/python/bench/rows.py --envs 256 --rounds 5 --json

Every entrant has a server of its own. A burst plays a trace of legal actions; bursts are interleaved in shuffled order,
and a ratio is the median of the ratios within the rounds. A *decision* is the action of a row that must act. CPU time is
that of server and client together; memory is the peak of the server's resident memory.
"""

from __future__ import annotations

import argparse
import json
import random
import statistics
import subprocess
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

import blockyard
from blockyard.server.binary import find_server

MIXTURE = {"random": 0.5, "first": 0.5}


class Entrant:
    """A server, an environment and a trace of actions.

    Attributes:
        name: what is measured.
        base: the name of the entrant to compare with; its own name for none.
        decisions: decisions of one pass of the trace.
        cpu: seconds of CPU time of each burst, per pass.
    """

    def __init__(self, name: str, base: str, game: str, envs: int, steps: int, folder: Path, **options: Any) -> None:
        self.name, self.base, self.cpu = name, base, list[float]()
        address = f"unix:{folder}/s{random.getrandbits(40)}.sock"
        self.server = subprocess.Popen(
            [find_server(), "serve", "--listen", address, "--parent-death"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
        )
        assert self.server.stdout is not None
        json.loads(self.server.stdout.readline())  # it is ready
        record = options.pop("record", False)
        self.env = blockyard.make_vec(game, envs, address=address, seed=1, transport="socket", **options)
        self.env.reset()
        played = self.env.rollout(steps)
        self.actions = played.actions.astype(np.int64)
        seats = np.stack([played.buffer[t].seat for t in range(steps)])
        ended = np.stack([played.buffer[t].terminated | played.buffer[t].truncated for t in range(steps)])
        acting = (seats != 255) & ~ended.repeat(self.env.rows_per_game, axis=1)
        self.decisions = int(acting.sum())
        slab = sum(array.nbytes for array in played.buffer[0].arrays.values())
        self.bytes = (slab + 13 + 23 + 2 * self.env.num_envs) * steps / self.decisions
        if record:
            self.env.record(folder / f"{random.getrandbits(40)}.jsonl.gz", every=100)

    def play(self) -> None:
        """Play the trace once from its beginning, and note the CPU time of its steps."""
        self.env.reset(seed=1)
        begun = self.spent()
        for row in self.actions:
            self.env.step(row)
        self.cpu.append(self.spent() - begun)

    def spent(self) -> float:
        """CPU time of both sides so far, in seconds."""
        return time.process_time() + float(self.env.stats()["cpu_s"])

    def peak(self) -> float:
        """Peak of the server's resident memory, in MiB."""
        for line in Path(f"/proc/{self.server.pid}/status").read_text().splitlines():
            if line.startswith("VmHWM"):
                return int(line.split()[1]) / 1024
        raise RuntimeError("the kernel does not tell the peak of a process's memory")

    def close(self) -> None:
        """End the environment and its server."""
        self.env.close()
        self.server.terminate()
        self.server.wait()


def entrants(envs: int, steps: int, folder: Path) -> list[Entrant]:
    """Open everything that is compared."""
    out = []

    def add(name: str, base: str, game: str, **options: Any) -> None:
        out.append(Entrant(f"{game} {name}", f"{game} {base}", game, envs, steps, folder, **options))

    for game, seats in (("TetrisDuel-v0", 2), ("Blocking-v0", 2), ("Blocking-v0", 4), ("BlockBattle-v0", 2)):
        drive = {"opponents": None, "seats": seats}
        compact = f"{seats} seats, rows=acting"
        add(compact, compact, game, rows="acting", **drive)
        add(f"{seats} seats, a row per seat", compact, game, **drive)
        add(f"{seats} seats, a row per seat, recording", f"{seats} seats, a row per seat", game, record=True, **drive)
    for game in ("TetrisDuel-v0", "BlockBattle-v0"):
        add("against first", "against first", game, opponents="first")
        add("against random", "against first", game, opponents="random")
        add("against a mixture of both", "against first", game, opponents={1: MIXTURE})
    return out


def measure(envs: int, steps: int, rounds: int, seed: int) -> list[dict[str, Any]]:
    """Return one dict of figures per entrant."""
    with tempfile.TemporaryDirectory() as folder:
        all_ = entrants(envs, steps, Path(folder))
        try:
            order, rng = list(all_), random.Random(seed)
            for k in range(rounds + 1):  # the first round warms up
                rng.shuffle(order)
                for entrant in order:
                    entrant.play()
                if k == 0:
                    for entrant in all_:
                        entrant.cpu.clear()
            return [figures(e, next(b for b in all_ if b.name == e.base)) for e in all_]
        finally:
            for entrant in all_:
                entrant.close()


def figures(e: Entrant, base: Entrant) -> dict[str, Any]:
    """Return the figures of an entrant, and its ratios to another."""
    speeds = [e.decisions / a / (base.decisions / b) for a, b in zip(e.cpu, base.cpu, strict=True)]
    return {
        "entrant": e.name,
        "compared_with": base.name,
        "decisions_per_core_second": e.decisions / statistics.median(e.cpu),
        "speed_ratio": statistics.median(speeds),
        "bytes_per_decision": e.bytes,
        "bytes_ratio": e.bytes / base.bytes,
        "peak_mib": e.peak(),
        "peak_ratio": e.peak() / base.peak(),
    }


def table(rows: list[dict[str, Any]], envs: int) -> str:
    """Return the figures as a table in Markdown."""
    lines = [
        f"N = {envs} games, over a Unix socket. Ratios: to the line with 1.00 above.",
        "",
        "| entrant | decisions per core-second, ratio | bytes per decision | ratio | peak memory of the server, ratio |",
        "|---|---|---|---|---|",
    ]
    lines += [
        f"| {r['entrant']} | {r['speed_ratio']:.2f} | {r['bytes_per_decision']:,.0f} | {r['bytes_ratio']:.2f} "
        f"| {r['peak_ratio']:.2f} |"
        for r in rows
    ]
    return "\n".join(lines)


def main() -> None:
    """Read the command line and print the figures."""
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--envs", type=int, default=1024, help="number of games (1024)")
    p.add_argument("--steps", type=int, default=64, help="steps of a burst (64)")
    p.add_argument("--rounds", type=int, default=9, help="bursts of each entrant (9)")
    p.add_argument("--seed", type=int, default=1, help="seed of the order of the bursts (1)")
    p.add_argument("--json", action="store_true", help="print one line of JSON")
    args = p.parse_args()
    if min(args.envs, args.steps, args.rounds) < 1:
        p.error("--envs, --steps and --rounds count from 1")
    rows = measure(args.envs, args.steps, args.rounds, args.seed)
    print(json.dumps(rows) if args.json else table(rows, args.envs))


if __name__ == "__main__":
    main()
