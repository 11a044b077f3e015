"""The Elo of the opponents that blockyard.rungs names: a round robin of each game, written into its table.

    python rpc/bench/rungs.py [--games 200] [--seed 940001] [--check]

It takes some minutes. The list of agents stays as it is in the table; --check compares and writes nothing.
"""

from __future__ import annotations

import argparse
import json
import tempfile
from typing import Any

from sides.golang import GO, ROOT, run

TABLE = ROOT / "rpc/python/blockyard/formats/rungs.json"


def ladder(game: str, agents: list[str], games: int, seed: int) -> dict[str, dict[str, float]]:
    """The Elo of each agent in a round robin, with its interval."""
    with tempfile.TemporaryDirectory() as out:
        flags = ["--games", str(games), "--seed", str(seed), "--out", out, "--json"]
        said = json.loads(run(GO, "run", "./agents", "ladder", game, *agents, *flags))
    return {player["name"]: player["elo"] for player in said["players"]}


def measured(table: dict[str, Any], games: int, seed: int) -> dict[str, Any]:
    """The same table with its numbers measured; Elo counts from random."""
    out: dict[str, Any] = {"games": games, "seed": seed, "rungs": {}}
    for env_id, rungs in table["rungs"].items():
        agents = [rung["agent"] for rung in rungs]
        elo = ladder(env_id.removesuffix("-v0").lower(), ["random", *agents], games, seed)
        zero = elo["random"]["value"]
        out["rungs"][env_id] = [
            {"agent": agent, **{key: round(elo[agent][key] - zero) for key in ("value", "low", "high")}}
            for agent in agents
        ]
    return out


def main() -> None:
    """Measure and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--games", type=int, default=200, help="games of every two agents (default %(default)s)")
    parser.add_argument("--seed", type=int, default=940001, help="seed of the round robin (default %(default)s)")
    parser.add_argument("--check", action="store_true", help="compare with the table instead of writing it")
    args = parser.parse_args()
    before = json.loads(TABLE.read_text(encoding="utf-8"))
    after = measured(before, args.games, args.seed)
    print(json.dumps(after, indent=1))
    if args.check and after != before:
        raise SystemExit(f"{TABLE.relative_to(ROOT)} is another table: run rpc/bench/rungs.py")
    if not args.check:
        TABLE.with_suffix(".tmp").write_text(json.dumps(after, indent=1) + "\n", encoding="utf-8")
        TABLE.with_suffix(".tmp").rename(TABLE)


if __name__ == "__main__":
    main()
