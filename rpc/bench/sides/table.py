"""The results as Markdown and JSON."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

TITLES = {
    "games": "Our games, `env.step(actions)`",
    "roads": "Our games in process, into a rollout buffer, and double-buffered",
    "floors": "Limits of the machine",
    "gymnasium": "Gymnasium's vector environments of our single environment",
    "peers": "Peers",
}


def markdown(report: dict[str, Any]) -> str:
    """Return the report as a page."""
    m = report["machine"]
    lines = [
        "# Side by side\n",
        f"{m['cpu']}, {m['cores_used']} of {m['cores']} cores, {m['system']}, Python {m['python']}; "
        f"{report['rounds']} rounds of interleaved bursts of about {report['burst_s']:g} s; load average "
        f"{m['load']} before and {report['load_after']} after. Command: `{report['command']}`.\n",
        "`rpc/bench/README.md` explains the rows. N counts games. *Wanted* is the least ratio of environment\n"
        "steps per second (the first entrant : the second) that meets an aim; for round trips and\n"
        "microseconds, the largest value.",
    ]
    if not report["complete"]:
        lines.append("\n**The run was ended early: these are its complete rounds.**")
    lines += [
        "",
        "## Aims",
        "",
        "| aim | ratio of | wanted | wall-clock time | CPU time | |",
        "|---|---|---:|---:|---:|---|",
    ]
    for v in report["aims"]:
        met = {True: "met", False: "**missed**", None: ""}[v["met"]]
        if v["error"]:
            met = _cell(f"not measured: {v['error']}")
        by = f"{_number(v['wall'])} | {_number(v['cpu'])}"
        lines.append(f"| {v['aim']} | {v['what']} | {_number(v['want'])} | {by} | {met} |")
    for group, title in TITLES.items():
        some = [r for r in report["rows"] if r["group"] == group]
        if some:
            lines += ["", f"## {title}", "", *_rows(some)]
    lines += ["", "## Versions", "", *(f"* {k} {v}" for k, v in sorted(report["versions"].items()))]
    return "\n".join(lines) + "\n"


def _rows(some: list[dict[str, Any]]) -> list[str]:
    lines = [
        "| | N | env steps/s | quartiles | per core-second | µs per step | CPU µs | bytes per step | p50 of one, µs |",
        "|---|---:|---:|---|---:|---:|---:|---:|---:|",
    ]
    for r in some:
        if "error" in r:
            lines.append(f"| {r['label']} | {r['n']} | not measured: {_cell(r['error'])} | | | | | | |")
            continue
        low, high = r["env_steps_per_s_quartiles"]
        trip = f"{r['round_trip_us']['median']:.1f}" if "round_trip_us" in r else ""
        lines.append(
            f"| {r['label']} | {r['n']} | {r['env_steps_per_s']:,.0f} | {_short(low)} to {_short(high)} | "
            f"{r['env_steps_per_core_s']:,.0f} | {r['us_per_step']:,.1f} | {r['cpu_us_per_step']:,.1f} | "
            f"{r['bytes_per_step'] or ''} | {trip} |"
        )
    return lines


def _cell(text: str) -> str:
    return " ".join(text.replace("|", "/").split())


def _short(x: float) -> str:
    for unit, size in (("M", 1e6), ("k", 1e3)):
        if x >= size:
            return f"{x / size:.3g} {unit}"
    return f"{x:.3g}"


def _number(x: float | None) -> str:
    return "" if x is None else f"{x:.3g}" if x < 1000 else f"{x:,.0f}"


def write(path: Path, text: str) -> None:
    """Replace a file in one step."""
    partial = path.with_name(f".{path.name}.partial")
    partial.write_text(text)
    partial.replace(path)


def save(report: dict[str, Any], folder: Path) -> list[Path]:
    """Write results.json and results.md; return their paths."""
    folder.mkdir(parents=True, exist_ok=True)
    write(folder / "results.json", json.dumps(report, indent=1) + "\n")
    write(folder / "results.md", markdown(report))
    return [folder / "results.json", folder / "results.md"]
