"""Every road to a trained agent, for one game: what it costs, and how strong its agent is on one ladder.

    python rpc/bench/roads.py BlockBattle-v0 --out runs/roads

Runs the examples and the trainer with their own default budgets, one after the other, and prints the table of
docs/roads.md: the processor time of each with all that it starts, and the Elo of its agent above ``random`` in a round
robin with the agents of the game; in a game of one seat the points. What stands in --out is not run again. Needs torch.
"""

from __future__ import annotations

import argparse
import json
import re
import runpy
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
from sides import clock
from sides.golang import ROOT
from sides.table import lines

import blockyard

EXAMPLES = ROOT / "rpc/python/examples"
SEVERAL = {
    "PPO over planes": "ppo_masked.py --opponent curriculum",
    "PPO over afterstates": "ppo_afterstates.py",
    "results of `hand`": "contest_bot.py",
    "TD on afterstates": "td_afterstates.py",
    "`selfplay`": "selfplay --for 5m",
}
SINGLE = {
    "PPO over planes": "ppo_masked.py --reward score --max-episode-steps 200",
    "`selfplay`": "selfplay --for 5m",
}


def trained(road: str, how: str, game: str, seed: int, out: Path) -> tuple[Path, float]:
    """Return the file of weights of a road, and its processor time in minutes; run it unless that was done."""
    folder = out / game / re.sub(r"\W+", "-", road).strip("-")
    file, cost = folder / ("policy.pt" if "planes" in road else "best.safetensors"), folder / "minutes.json"
    if not cost.exists():
        folder.mkdir(parents=True, exist_ok=True)
        script, *options = shlex.split(how)
        if script == "selfplay":
            words = ["-m", "blockyard", script, game, "--out", str(folder)]
        else:
            words = [str(EXAMPLES / script), "--game", game, "--out", str(file)]
        before, command = clock.children_seconds(), [sys.executable, *words, *options, "--seed", str(seed)]
        with (folder / "output.txt").open("w") as log:
            subprocess.run(command, stdout=log, stderr=log, check=True)
        cost.write_text(json.dumps((clock.children_seconds() - before) / 60))
    return file, float(json.loads(cost.read_text()))


def player(file: Path, game: str, several: bool) -> Any:
    """Return what a file of weights plays: a spec, or the greedy policy over planes."""
    if file.suffix == ".safetensors":
        return f"learned:{'ply=1,' if several else ''}weights={file}"
    import torch

    sys.path.insert(0, str(EXAMPLES))
    with blockyard.make_vec(game, 1) as env:
        policy = runpy.run_path(str(EXAMPLES / "ppo_masked.py"))["Policy"](env.game_spec, 256)
    policy.load_state_dict(torch.load(file))

    def greedy(obs: dict[str, np.ndarray], mask: np.ndarray) -> Any:
        with torch.inference_mode():
            return policy(policy.inputs(obs), torch.from_numpy(mask))[0].logits.argmax(1).numpy()

    return greedy


def main() -> None:
    """Train what is not trained, and print the table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("game", help="id of a game, such as BlockBattle-v0")
    parser.add_argument("--seed", type=int, default=1, help="seed of every training (default %(default)s)")
    parser.add_argument("--games", type=int, default=100, help="games of every two, or of each (default %(default)s)")
    parser.add_argument("--ladder-seed", type=int, default=960_001, help="seed of these games (default %(default)s)")
    parser.add_argument("--steps", type=int, default=2000, help="actions in a game of one seat (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("runs/roads"), help="folder (default %(default)s)")
    args = parser.parse_args()
    with blockyard.make_vec(args.game, 1) as env:
        several, offered = env.game_spec.max_seats > 1, env.game_spec.opponents
    roads = dict(SEVERAL if several else SINGLE)
    if args.game != "BlockBattle-v0":
        roads.pop("TD on afterstates", None)  # the other games have no siblings in its sense
    minutes, players = dict[str, float](), dict[str, Any]()
    for road, command in roads.items():
        file, minutes[road] = trained(road, command, args.game, args.seed, args.out.resolve())
        players[road] = player(file, args.game, several)
    if several:
        players |= {f"rung {k}: `{rung}`": rung for k in (1, 5) for rung in blockyard.rungs(args.game)[k - 1 : k]}
    known = ["random", "terms6", *["hand:ply=1"] * several, "hand", "learned"]
    known = [spec for spec in known if spec.split(":")[0] in offered]
    players |= {f"`{spec}`": spec for spec in known}
    how = {"game": args.game, "games": args.games, "seed": args.ladder_seed}
    if several:
        found = blockyard.ladder(players, **how).players
        zero = next(one.elo.value for one in found if one.name == "`random`")
        rows: list[Any] = [(one.name, *(x - zero for x in one.elo)) for one in found]
    else:
        rows = [(name, *blockyard.evaluate(one, steps=args.steps, **how).mean) for name, one in players.items()]
    cells, form = [], "{:,.0f} ({:,.0f} to {:,.0f})" if several else "{:,.1f} ({:,.1f} to {:,.1f})"
    for name, *figures in sorted(rows, key=lambda row: -row[1]):
        cost = (f"`{roads[name]}`", f"{minutes[name]:.1f}") if name in roads else ("", "")
        cells.append((name, *cost, form.format(*figures)))
    print(lines(("agent", "command", "CPU minutes", "Elo above `random`" if several else "points"), cells))


if __name__ == "__main__":
    main()
