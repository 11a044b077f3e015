"""MaskablePPO climbs the curriculum: each game's opponent is about as strong as the policy.

    python sb3_curriculum.py --game TetrisDuel-v0

Prints the results on each rung and, at the end, those against ``random`` and ``hand:ply=1``. It takes
half an hour on one core; docs/loops.md has the results.
"""

import argparse

from sb3_contrib import MaskablePPO

import blockyard
from blockyard import policies
from blockyard.sb3 import SB3VecEnv

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--game", default="BlockBattle-v0", help="id of a game of two seats (default %(default)s)")
parser.add_argument("--timesteps", type=int, default=4_000_000, help="number of steps (default %(default)s)")
parser.add_argument("--games", type=int, default=1000, help="games at the end, against each (default %(default)s)")
parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
args = parser.parse_args()

env = SB3VecEnv(args.game, num_envs=128, opponents="curriculum", reward="shaped", seed=args.seed)
model = MaskablePPO(
    "MultiInputPolicy",
    env,
    n_steps=64,
    batch_size=1024,
    n_epochs=4,
    gamma=0.99,  # that of the shaped reward
    learning_rate=lambda left: 1e-3 * left,
    ent_coef=0.003,
    policy_kwargs={"net_arch": [256, 256]},
    seed=args.seed,
)
model.learn(args.timesteps)
model.save(f"{args.game}-ppo.zip")
for opponent, stats in env.env.opponent_stats().items():
    if stats.games:
        print(f"{opponent}: {stats.score:.0%} of {stats.games} games")
for result in blockyard.evaluate(policies.sb3(model), ["random", "hand:ply=1"], game=args.game, games=args.games):
    print(result)
