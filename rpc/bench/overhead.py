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
from statistics import median
from typing import Any

from sides.adapters import options
from sides.figures import quartiles, ratios
from sides.race import Entrant, open_all, race
from sides.table import lines
from sides.worker import answer

# Groups that are measured in one run each. A form is compared with the one that it names first, or with the first one.
# record is the number of episodes of which one is recorded, threads the number of threads of the server.
DRIVEN: dict[str, Any] = {"opponents": None}
COMPACT, DEFAULT, RANDOM = "acting rows (compact form)", "a row per seat (default)", "against random"
ACTING, PLAYED, POOLED = DRIVEN | {"rows": "acting"}, {"opponents": "random"}, DRIVEN | {"illegal": "random"}
GROUPS: list[dict[str, dict[str, Any]]] = [
    {
        COMPACT: ACTING,
        DEFAULT: DRIVEN,
        f"{COMPACT}, record every=100": ACTING | {"record": 100},
        f"{DEFAULT}, record every=100": DRIVEN | {"record": 100},
        f"{DEFAULT}, record every=1": DRIVEN | {"record": 1},
        f"{DEFAULT}, heal=True": DRIVEN | {"heal": True},
    },
    {
        RANDOM: PLAYED,
        "against a mixture of random and first": {"opponents": {"random": 1, "first": 1}},
        f"{RANDOM}, record every=100": PLAYED | {"record": 100},
        f"{RANDOM}, heal=True": PLAYED | {"heal": True},
    },
    {"a pool": POOLED, "a pool, heal=True": POOLED | {"heal": True}},
    {f"threads: {n}": DRIVEN | {"threads": n} for n in (1, 2, 4, 8, 16)},
]
COLUMNS = ("form", "compared with", "decisions per core-second", "per second", "bytes per decision", "peak memory")


class Here(dict[int, Any]):
    """The forms of this process, by number, which are asked as those of a worker are."""

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the answer to a request."""
        return answer(request, options, self)


def compare(group: dict[str, dict[str, Any]], args: argparse.Namespace) -> list[dict[str, Any]]:
    """Return one row for each form of a group."""
    here, shape = Here(), {"game": args.game, "seats": args.seats, "envs": args.envs, "steps": args.steps}
    forms = [
        Entrant(name, "", name, "here", "pool" if "illegal" in more else "vector", shape | more, steps=args.steps)
        for name, more in group.items()
    ]
    try:
        list(open_all(forms, {"here": here}))
        race(forms, {"here": here}, args.rounds, 1)
        names = list(group)
        return [row(forms, here, k, names.index(reference(name, names))) for k, name in enumerate(names)]
    finally:
        for form in here.values():
            form.close()


def reference(name: str, names: list[str]) -> str:
    """Return the name of the form that one is compared with."""
    plain = name.partition(",")[0]
    return plain if plain != name else names[0]


def row(forms: list[Entrant], here: Here, k: int, to: int) -> dict[str, Any]:
    """Return the figures of a form, as ratios to another."""
    form, other = forms[k], forms[to]
    low, ratio, high = quartiles(ratios(form, other, "cpu"))
    size, peak = form.size / form.envs, here[k].peak()
    return {
        "form": form.label,
        "reference": other.label,
        "decisions_per_core_second": form.envs / median(form.cpu),
        "decisions_per_second": form.envs / median(form.wall),
        "ratio": ratio,
        "quartiles": [low, high],
        "bytes_per_decision": size,
        "bytes_ratio": size / (other.size / other.envs),
        "peak_memory_mb": peak,
        "peak_ratio": peak / here[to].peak(),
        "games_recorded": here[k].games_recorded(),
    }


def cells(r: dict[str, Any]) -> list[str]:
    """Return a row of the table."""
    speed = "{:.2f} ({:.2f} to {:.2f}), {:,.0f}".format(r["ratio"], *r["quartiles"], r["decisions_per_core_second"])
    size = f"{r['bytes_ratio']:.2f}, {r['bytes_per_decision']:,.0f}"
    memory = f"{r['peak_ratio']:.2f}, {r['peak_memory_mb']:.0f} MB"
    return [r["form"], r["reference"], speed, f"{r['decisions_per_second']:,.0f}", size, memory]


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
    rows = [r for group in GROUPS if any(args.only in name for name in group) for r in compare(group, args)]
    if args.json:
        print(*map(json.dumps, rows), sep="\n")
        return
    print(f"{args.game}, {args.seats} seats, {args.envs} games, {args.steps} steps per burst, {args.rounds} rounds\n")
    print(lines(COLUMNS, map(cells, rows)))


if __name__ == "__main__":
    main()
