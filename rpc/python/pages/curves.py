"""The learning curves of an example, td_afterstates or sb3_curriculum, a line for each file of what it printed.

    for seed in 1 2 3; do python rpc/python/examples/td_afterstates.py --seed $seed > $seed.log; done
    python rpc/python/pages/curves.py td-afterstates 1.log 2.log 3.log    # rpc/python/docs/assets/td-afterstates.png

It needs matplotlib. Text and axes are grey on no background, so that the picture is read on light and dark pages.
"""

from __future__ import annotations

import re
import sys
from pathlib import Path

ASSETS = Path(__file__).resolve().parents[1] / "docs/assets"
GREY = "#808890"
LINE = re.compile(r"^(untrained|update \d+|stage \d+|[\d,]+ steps): won ([\d.]+)% of \d+ games", re.MULTILINE)


def points(text: str) -> list[tuple[str, float]]:
    """Return what the example printed: after what, and the share of games that it won then, in percent."""
    return [(what, float(score)) for what, score in LINE.findall(text)]


def draw(runs: list[list[tuple[str, float]]], out: Path) -> None:
    """Draw the curves of these runs, which have the same evaluations."""
    steps = runs[0][0][0].endswith("steps")
    import matplotlib

    matplotlib.use("Agg")
    from matplotlib import pyplot as plt

    plt.rcParams.update({key: GREY for key in ("text.color", "axes.labelcolor", "axes.edgecolor", "xtick.color")})
    plt.rcParams.update({"ytick.color": GREY, "font.size": 9})
    figure, axes = plt.subplots(figsize=(7, 3))
    for run in runs:
        axes.plot([score for _, score in run], marker="o", markersize=3)
    names = [what.removeprefix("update ").removesuffix(" steps").partition(",")[0] for what, _ in runs[0]]
    axes.set_xticks(range(len(names)), names)
    axes.axhline(50, color=GREY, linewidth=0.8, linestyle=":")
    axes.set_xlabel("steps, in thousands" if steps else "rollouts of TD(λ), then stages of siblings")
    axes.set_ylabel("won against hand:ply=1, %")
    figure.savefig(out, dpi=110, transparent=True, bbox_inches="tight")


def main() -> None:
    """Draw the files that the command line names."""
    if len(sys.argv) < 3:
        raise SystemExit(__doc__)
    out, logs = ASSETS / f"{sys.argv[1]}.png", sys.argv[2:]
    draw([points(Path(name).read_text(encoding="utf-8")) for name in logs], out)


if __name__ == "__main__":
    main()
