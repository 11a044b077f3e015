"""MaskablePPO climbs the curriculum: each game's opponent is about as strong as the policy.

    python sb3_curriculum.py --out mine.safetensors
    blockyard arena blockbattle --a learned:ply=1,weights=mine.safetensors --b hand:ply=1 --games 200

The policy scores the position after each legal action, so its network is an evaluator for the server's search. Prints
how it does against ``hand:ply=1`` ten times, and the results on each rung. docs/loops.md has the results.
"""

import argparse
from pathlib import Path

from sb3_contrib import MaskablePPO
from stable_baselines3.common.callbacks import BaseCallback

import blockyard
from blockyard.provenance import write_run
from blockyard.sb3 import SB3VecEnv
from blockyard.sb3_afterstates import AfterstatePolicy

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--game", default="BlockBattle-v0", help="id of a game of two seats (default %(default)s)")
parser.add_argument("--timesteps", type=int, default=1_000_000, help="number of steps (default %(default)s)")
parser.add_argument("--games", type=int, default=400, help="games of an evaluation (default %(default)s)")
parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
parser.add_argument("--out", type=Path, default=Path("mine.safetensors"), help="weights (default %(default)s)")
args = parser.parse_args()


class Evaluation(BaseCallback):
    """Writes the weights and plays with them, before each tenth of the training."""

    due = 0

    def _on_step(self) -> bool:
        return True

    def _on_rollout_start(self) -> None:
        if self.num_timesteps >= self.due:
            self.due += args.timesteps // 10
            evaluate(f"{self.num_timesteps:,} steps", 4242)


def evaluate(what: str, seed: int) -> None:
    blockyard.save_weights(args.out, model.policy.actor, facts, {"made": "sb3_curriculum.py"})
    mine = f"learned:ply=1,weights={args.out}"
    got = blockyard.evaluate(mine, "hand:ply=1", game=args.game, games=args.games, seed=seed)
    print(f"{what}: won {got.score:.1%} of {got.games} games against hand:ply=1", flush=True)


how = {"actions": "afterstates", "opponents": "curriculum", "reward": "shaped", "seed": args.seed}
env, facts = SB3VecEnv(args.game, num_envs=64, **how), blockyard.feature_facts(args.game)
model = MaskablePPO(
    AfterstatePolicy,
    env,
    n_steps=64,
    batch_size=1024,
    n_epochs=3,
    gamma=0.99,  # that of the shaped reward
    learning_rate=lambda left: 2e-3 * left,
    ent_coef=0.003,
    seed=args.seed,
)
model.learn(args.timesteps, callback=Evaluation())
for opponent, stats in env.env.opponent_stats().items():
    if stats.games:
        print(f"{opponent}: {stats.score:.0%} of {stats.games} games")
evaluate(f"{model.num_timesteps:,} steps, other seeds", 2_000_000)
write_run(args.out, seed=args.seed)
