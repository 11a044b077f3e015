"""Writes what the package says about the environments, from what the server answers.

python rpc/python/environments.py          # print the tables of README.md
python rpc/python/environments.py --write  # write them to README.md, and the ids to blockyard/env_ids.json

Run it after a game was added to the server or changed; tests say when that is necessary.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
README = HERE / "README.md"
ENV_IDS = HERE / "blockyard" / "env_ids.json"
BEGIN, END = "<!-- environments: written by environments.py -->", "<!-- end of environments -->"

TURNS = {"simultaneous": "at the same time", "alternating": "in turn", "single": "alone"}
HEAD = """\
| id | name | seats | `planes` uint8 | `globals` float32 | actions | an action | `reward` |
|---|---|---|---|---|---|---|---|"""
DETAILS = """\
| id | planes | bytes per row, `packed=True` | bytes per mask | `opponents` |
|---|---|---|---|---|"""


def describe() -> tuple[list[str], str]:
    """Ask the server; return the ids of the environments, and tables of them as Markdown."""
    import blockyard

    ids, rows, planes = [], [], []
    with blockyard.connect() as client:
        for game in client.games():
            f = client.describe(game["name"])
            seats = str(f.min_seats) if f.min_seats == f.max_seats else f"{f.min_seats} to {f.max_seats}"
            shape = ", ".join(map(str, f.planes_shape))
            example = client.text(f.name, [f.actions // 3])[0]
            ids.append(f.id)
            rows.append(
                f"| `{f.id}` | `{f.name}` | {seats}, {TURNS[f.turn]} | ({shape}), 0 to {f.planes_high} "
                f"| ({len(f.global_names)},) | {f.actions:,} | `{example}` | {f.reward} |"
            )
            names, opponents = ", ".join(f.plane_names), ", ".join(f.opponents)
            planes.append(f"| `{f.id}` | {names} | {f.packed_len} | {f.mask_len} | {opponents} |")
    return ids, "\n".join([HEAD, *rows, "", DETAILS, *planes])


def ids_text(ids: list[str]) -> str:
    """Return the content of env_ids.json."""
    return json.dumps(ids, indent=2) + "\n"


def parts(text: str) -> tuple[str, str, str]:
    """Return the text before the tables, the tables, and the text after them.

    Raises:
        ValueError: the text does not have the two marks between which the tables belong.
    """
    before, begin, rest = text.partition(BEGIN + "\n")
    inside, end, after = rest.partition(END)
    if not begin or not end:
        raise ValueError(f"{README} has no place for the tables: want lines {BEGIN} and {END}")
    return before + begin, inside, end + after


def _write(path: Path, text: str) -> None:
    partial = path.with_suffix(".partial")
    partial.write_text(text, encoding="utf-8")
    partial.replace(path)


def main() -> int:
    """Print or write the tables; return the exit status."""
    parser = argparse.ArgumentParser(
        description="The tables of environments in README.md and the ids in env_ids.json, from the server."
    )
    parser.add_argument("--write", action="store_true", help="write both files instead of printing the tables")
    args = parser.parse_args()
    sys.path.insert(0, str(HERE))
    ids, tables = describe()
    if not args.write:
        print(tables)
        return 0
    before, _, after = parts(README.read_text(encoding="utf-8"))
    _write(README, f"{before}\n{tables}\n\n{after}")
    _write(ENV_IDS, ids_text(ids))
    return 0


if __name__ == "__main__":
    sys.exit(main())
