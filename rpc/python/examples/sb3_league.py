"""A league: MaskablePPO trains against ``random`` and its own checkpoints, and a round robin says how strong each is.

    python sb3_league.py

Every checkpoint is an opponent from the next episodes on. The server plays ``random``; this process plays the
checkpoints, each with one call for all games in which it sits.
"""

import argparse
from pathlib import Path

from sb3_contrib import MaskablePPO

import blockyard
from blockyard import policies
from blockyard.sb3 import SB3VecEnv

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--game", default="BlockBattle-v0", help="id of a game of two seats (default %(default)s)")
parser.add_argument("--checkpoints", type=int, default=4, help="number of checkpoints (default %(default)s)")
parser.add_argument("--timesteps", type=int, default=50_000, help="steps between two of them (default %(default)s)")
parser.add_argument("--num-envs", type=int, default=64, help="number of games (default %(default)s)")
parser.add_argument("--games", type=int, default=100, help="games of every two at the end (default %(default)s)")
parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
parser.add_argument("--out", type=Path, default=Path("league"), help="folder of checkpoints (default %(default)s)")
args = parser.parse_args()

env = SB3VecEnv(args.game, num_envs=args.num_envs, opponents="random")
model = MaskablePPO("MultiInputPolicy", env, n_steps=64, batch_size=512, seed=args.seed)
args.out.mkdir(exist_ok=True)
league = {}
for k in range(args.checkpoints):
    model.learn(args.timesteps, reset_num_timesteps=False)
    path = args.out / f"ppo-{k}.zip"
    model.save(path)
    league[path.stem] = policies.sb3(path)
    env.env.set_opponents({"random": 0.25, **dict.fromkeys(league.values(), 0.75 / len(league))})
    for name, stats in env.env.opponent_stats(reset=True).items():
        if stats.games:
            print(f"{path.stem} against {name}: {stats.score:.0%} of {stats.games}", flush=True)
env.close()
print(blockyard.ladder({"random": "random", **league}, game=args.game, games=args.games, seed=args.seed))
