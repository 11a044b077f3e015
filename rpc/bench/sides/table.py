"""The results as Markdown and JSON."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

TITLES = {
    "games": "Our games, `env.step(actions)`",
    "roads": "Our games in process, into a rollout buffer, and double-buffered",
    "floors": "Limits of the machine",
    "gymnasium": "Gymnasium's vector environments of our single environment",
    "peers": "Peers",
}
AIMS = ("aim", "ratio of", "wanted:", "wall-clock time:", "CPU time:", "")
MEASURED = ("env steps/s:", "quartiles", "per core-second:", "µs per step:", "CPU µs:", "bytes per step:")
ROWS = ("", "N:", *MEASURED, "p50 of one, µs:")


def lines(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> str:
    """Return a table; a column whose name ends in a colon is aligned to the right."""
    rule = "|" + "".join("---:|" if name.endswith(":") else "---|" for name in columns)
    head, *cells = ("| " + " | ".join(map(str, row)) + " |" for row in [[c.rstrip(":") for c in columns], *rows])
    return "\n".join([head, rule, *cells]) + "\n"


def markdown(report: dict[str, Any]) -> str:
    """Return the report as a page."""
    m = report["machine"]
    page = (
        f"# Side by side\n\n{m['cpu']}, {m['cores_used']} of {m['cores']} cores, {m['system']}, Python {m['python']}; "
        f"{report['rounds']} rounds of interleaved bursts of about {report['burst_s']:g} s; load average "
        f"{m['load']} before and {report['load_after']} after. Command: `{report['command']}`.\n\n"
        "`rpc/bench/README.md` explains the rows. N counts games. *Wanted* is the least ratio of environment\n"
        "steps per second (the first entrant : the second) that meets an aim; for round trips and\n"
        "microseconds, the largest value.\n"
    )
    if not report["complete"]:
        page += "\n**The run was ended early: these are its complete rounds.**\n"
    page += "\n## Aims\n\n" + lines(AIMS, map(_aim, report["aims"]))
    for group, title in TITLES.items():
        if some := [r for r in report["rows"] if r["group"] == group]:
            page += f"\n## {title}\n\n" + lines(ROWS, map(_row, some))
    return page + "\n## Versions\n\n" + "".join(f"* {k} {v}\n" for k, v in sorted(report["versions"].items()))


def _aim(v: dict[str, Any]) -> list[str]:
    met = _cell(f"not measured: {v['error']}") if v["error"] else VERDICTS[v["met"]]
    return [v["aim"], v["what"], *(number(v[of]) for of in ("want", "wall", "cpu")), met]


def _row(r: dict[str, Any]) -> list[str]:
    if "error" in r:
        return [r["label"], r["n"], _cell(f"not measured: {r['error']}"), *[""] * 6]
    quartiles = " to ".join(map(_short, r["env_steps_per_s_quartiles"]))
    trip = f"{r['round_trip_us']['median']:.1f}" if "round_trip_us" in r else ""
    steps, per_core = f"{r['env_steps_per_s']:,.0f}", f"{r['env_steps_per_core_s']:,.0f}"
    us = f"{r['us_per_step']:,.1f}", f"{r['cpu_us_per_step']:,.1f}"
    return [r["label"], r["n"], steps, quartiles, per_core, *us, r["bytes_per_step"] or "", trip]


VERDICTS = {True: "met", False: "**missed**", None: ""}


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def _short(x: float) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if x >= size:
            return f"{x / size:.3g} {unit}"
    return f"{x:.3g}"


def number(x: float | None, digits: int = 3) -> str:
    """Return a number with so many digits, one of thousands as an integer."""
    return "" if x is None else f"{x:.{digits}g}" if x < 1000 else f"{x:,.0f}"


def save(report: dict[str, Any], folder: Path) -> list[Path]:
    """Write results.json and results.md, each in one step; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = {"results.json": json.dumps(report, indent=1) + "\n", "results.md": markdown(report)}
    for name, text in texts.items():
        (folder / f".{name}.partial").write_text(text)
        (folder / f".{name}.partial").replace(folder / name)
    return [folder / name for name in texts]
