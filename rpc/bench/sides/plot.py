"""The picture: environment steps per core-second, and our transports relative to in-process stepping."""

from __future__ import annotations

from pathlib import Path
from typing import Any

COLOURS = {"games": "#1f77b4", "roads": "#7fb3d8", "gymnasium": "#8c6bb1", "peers": "#d9822b"}


def save(report: dict[str, Any], path: Path) -> None:
    """Draw the report into a PNG."""
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    bars = shown(report["rows"])
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(15, max(5, 0.27 * len(bars) + 1.5)), gridspec_kw={"width_ratios": [3, 2]}, layout="constrained"
    )
    left.barh(
        [f"{r['label']}, N={r['n']}" for r in bars],
        [r["env_steps_per_core_s"] for r in bars],
        color=[COLOURS[r["group"]] for r in bars],
    )
    left.set_xscale("log")
    left.set_xlabel("environment steps per core-second, all processes counted (log)")
    left.invert_yaxis()
    left.margins(y=0.01)
    left.grid(axis="x", alpha=0.3)
    roads(right, [v for v in report["aims"] if "of in process" in v["aim"] and v["wall"] is not None])
    m = report["machine"]
    figure.suptitle(
        f"Side by side in one run: {m['cpu']}, {m['cores_used']} cores, load {m['load']} to {report['load_after']}",
        fontsize=10,
    )
    partial = path.with_name(f".{path.stem}.partial.png")
    figure.savefig(partial, dpi=110)
    plt.close(figure)
    partial.replace(path)


def shown(rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Return the rows of the left part: the best size of each entrant, fastest first."""
    measured = [r for r in rows if "error" not in r and r["group"] in COLOURS]
    best: dict[str, dict[str, Any]] = {}
    for r in measured:
        old = best.get(r["label"])
        if old is None or r["env_steps_per_core_s"] > old["env_steps_per_core_s"]:
            best[r["label"]] = r
    return sorted(best.values(), key=lambda r: -float(r["env_steps_per_core_s"]))


def roads(axes: Any, some: list[dict[str, Any]]) -> None:
    """Draw the throughput of our transports relative to what their aims compare them with, and the aims."""
    names = [v["what"].partition(", N=")[0] for v in some]
    places = range(len(some))
    axes.barh(places, [v["wall"] for v in some], 0.7, color="#1f77b4", label="wall-clock time")
    axes.scatter([v["cpu"] for v in some], places, color="black", s=14, zorder=3, label="CPU time")
    axes.scatter([v["want"] for v in some], places, color="#c0392b", marker="|", s=130, zorder=3, label="wanted")
    axes.set_yticks(list(places), names)
    axes.invert_yaxis()
    axes.margins(y=0.02)
    axes.set_xlabel("throughput relative to stepping in process\n(socket: and a bare socket with the same bytes)")
    axes.grid(axis="x", alpha=0.3)
    axes.legend(fontsize=8)
