"""Writes the table of environments in README.md as the server describes them.

python rpc/python/environments.py          # print it
python rpc/python/environments.py --write  # put it into README.md
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
BEGIN, END = "<!-- environments: written by environments.py -->", "<!-- end of environments -->"

# What the server does not tell: what an action is, and what the rewards count, of each contest.
WORDS = {
    "blockbattle": ("spin, rotation, column, row of the resting place; or skip", "+1 won, -1 lost, 0 drawn", "points"),
    "tetrisduel": ("column, row, rotation of the resting place", "+1 won, -1 lost", "points"),
    "blocking": (
        "piece, turned and flipped, and its square; or pass",
        "mean over the others of +1, 0, -1",
        "points",
    ),
    "wintetris": ("rotation and column", "-1 when it is over", "lines"),
    "wintetris:instant": ("rotation and column", "-1 when it is over", "lines"),
    "wintetris:tick": ("keys held for one tick", "-1 when it is over", "lines"),
    "dropblox": ("row, column, rotation of the resting place", "always 0: use `score`", "points"),
}
TURNS = {"simultaneous": "at once", "alternating": "in turn", "single": "alone"}
HEAD = """\
| id | seats | `planes` uint8 | `globals` float32 | actions | reward `result`, at the end | reward `score` |
|---|---|---|---|---|---|---|"""
DETAILS = """\
| id | planes | bytes with `packed=True` | bytes of a mask | `opponents` |
|---|---|---|---|---|"""


def table() -> str:
    """Return the table and what goes with it as Markdown."""
    import blockyard

    rows, planes = [], []
    with blockyard.connect() as client:
        all_facts = {game: client.describe(game) for game in blockyard.GAMES}
        for game, f in all_facts.items():
            seats = str(f.min_seats) if f.min_seats == f.max_seats else f"{f.min_seats} to {f.max_seats}"
            action, result, score = WORDS[f.name]
            shape = ", ".join(map(str, f.planes_shape))
            rows.append(
                f"| `{game}` | {seats}, {TURNS[f.turn]} | ({shape}), 0 to {f.planes_high} | ({len(f.global_names)},) "
                f"| {f.actions:,}: {action} | {result} | {score} won |"
            )
            names, players = ", ".join(f.plane_names), ", ".join(f.opponents)
            planes.append(f"| `{game}` | {names} | {f.packed_len} | {f.mask_len} | {players} |")
    known = {f.name for f in all_facts.values()}
    more = ", ".join(f'`make_vec("{v}")`' for f in all_facts.values() for v in f.variants if v not in known)
    return "\n".join([HEAD, *rows, "", DETAILS, *planes, "", f"Variants of the rules beside these: {more}."])


def parts(text: str) -> tuple[str, str, str]:
    """Return what stands before the table, the table, and what stands behind it."""
    before, begin, rest = text.partition(BEGIN + "\n")
    inside, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{README} has no place for the table: want {BEGIN} and {END}")
    return before + begin, inside, end + after


def main() -> int:
    """Print or write the table; return the exit status."""
    parser = argparse.ArgumentParser(
        description="The table of environments in README.md, as the server describes them."
    )
    parser.add_argument("--write", action="store_true", help="put it into README.md")
    args = parser.parse_args()
    sys.path.insert(0, str(HERE))
    made = table()
    if not args.write:
        print(made)
        return 0
    before, _, after = parts(README.read_text(encoding="utf-8"))
    partial = README.with_suffix(".partial")
    partial.write_text(f"{before}\n{made}\n\n{after}", encoding="utf-8")
    partial.replace(README)
    return 0


if __name__ == "__main__":
    sys.exit(main())
