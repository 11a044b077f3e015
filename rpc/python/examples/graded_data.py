"""Graded data for offline learning: games of weak to strong agents, and the scores to compare a learner with.

    python graded_data.py --out data
    python behaviour_cloning.py --data data/BlockBattle-v0/medium --opponent rungs --eval-games 400

The grades are ``random``, ``medium`` (the fifth rung of the curriculum, or in games of one seat ``hand`` with a tenth
of its moves at random), ``hand`` and ``learned``, each against itself. A grade has its records and their export as
Parquet. ``scores.json`` has the score of each grade against all rungs in equal parts, or alone, and the same score on a
scale from 0, that of random, to 100, that of learned. Data that is there already is not made again.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

from tqdm import tqdm

import blockyard

STEPS = {"WinTetris-v0": 500}  # after which a game is stopped, since the learned agent plays on and on
SEEDS = (2_000_000, 3_000_000)  # of the data, and of the scores


def record(game: str, agent: str, games: int, path: Path) -> None:
    """Record games of an agent against itself."""
    how = {"path": path, "every": 1, "max_games": games, "players": agent}
    limit = {"max_episode_steps": STEPS.get(game), "opponents": None, "seed": SEEDS[0]}
    with (
        blockyard.make_vec(game, min(games, 32), record=how, **limit) as env,
        tqdm(total=games, unit="game", desc=f"{game} {agent}", disable=None) as bar,
    ):
        env.reset()
        while env.recording.state == "recording":
            env.rollout(32, agent, keep="last")
            env.recording.flush()
            bar.update(env.recording.games - bar.n)


def score(game: str, agent: str, opponents: tuple[str, ...], games: int) -> dict[str, float]:
    """Return the mean score of an agent and its interval: per cent of the games against all opponents, or points."""
    how: dict[str, Any] = {"game": game, "games": games, "seed": SEEDS[1]}
    if not opponents:
        return blockyard.evaluate(agent, steps=STEPS.get(game), **how).mean._asdict()
    result = blockyard.evaluate(agent, dict.fromkeys(opponents, 1), **how)
    return {"value": 100 * result.score, "low": 100 * result.low, "high": 100 * result.high}


def main() -> None:
    """Make the data of one game."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="BlockBattle-v0", help="id or name of the game (default %(default)s)")
    parser.add_argument("--games", type=int, default=400, help="recorded games of each grade (default %(default)s)")
    parser.add_argument("--eval-games", type=int, help="games of each score (default: as many)")
    parser.add_argument("--out", type=Path, default=Path("data"), help="folder (default %(default)s)")
    args = parser.parse_args()
    with blockyard.connect() as client:
        spec = client.describe(args.game)
    folder, eval_games = args.out / spec.id, args.eval_games or args.games
    folder.mkdir(parents=True, exist_ok=True)
    opponents = blockyard.rungs(spec.id) if spec.max_seats > 1 else ()
    grades = {"random": "random", "medium": opponents[4] if opponents else "hand:eps=0.1", "hand": "hand"}
    entries = {}
    for grade, agent in (grades | {"learned": "learned"}).items():
        records, export = folder / f"{grade}.jsonl.gz", folder / grade
        if not export.exists():
            records.unlink(missing_ok=True)
            record(spec.id, agent, args.games, records)
            command = [sys.executable, "-m", "blockyard", "export", "--quiet", "--parquet", export, records]
            subprocess.run(command, check=True, stdout=subprocess.DEVNULL)
        facts = json.loads((export / "meta" / "info.json").read_text(encoding="utf-8"))
        entries[grade] = {"agent": agent, "rows": facts["rows"]}
        entries[grade]["score"] = score(spec.id, agent, opponents, eval_games)
    low, high = (entries[grade]["score"]["value"] for grade in ("random", "learned"))
    for grade, entry in entries.items():
        entry["normalised"] = round(100 * (entry["score"]["value"] - low) / (high - low), 1)
        between = "{value:.1f} ({low:.1f} to {high:.1f})".format(**entry["score"])
        print(f"{grade:<8} {entry['agent']:<20} {entry['rows']:>8,} rows  {between:<24} {entry['normalised']:6.1f}")
    about = {"game": spec.id, "seeds": SEEDS, "rungs": opponents, "steps": STEPS.get(spec.id)}
    text = json.dumps({**about, "games": args.games, "eval_games": eval_games, "grades": entries}, indent=1)
    (folder / "scores.json").write_text(f"{text}\n", encoding="utf-8")


if __name__ == "__main__":
    main()
