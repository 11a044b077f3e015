"""TD learning of afterstates in PyTorch; the network plays in the arena and becomes a contest bot.

    python td_afterstates.py --out mine.safetensors        # five minutes on one core
    go run ./agents arena blockbattle --a learned:weights=mine.safetensors --b hand --games 200
    go run ./agents bundle blockbattle --weights mine.safetensors --out bot.go

The network sees the features of the position after each legal action, the same ones that the server's ``learned``
evaluator uses, and predicts who wins: its output is the log odds. It plays all seats of many games against itself,
takes the action with the best prediction (sometimes a random one) and learns TD(lambda) returns. docs/loops.md
has the results against ``hand:ply=1``, and of the second command, where both search two actions ahead.
"""

from __future__ import annotations

import argparse
from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

import blockyard
from blockyard import FeatureFacts, Features, feature_facts, features
from blockyard.provenance import write_run


class Learner:
    """The network, and the random numbers of its exploration."""

    def __init__(self, facts: FeatureFacts, hidden: int, seed: int) -> None:
        torch.manual_seed(seed)
        self.rng = np.random.default_rng(seed)
        layers = (
            ("fc0", nn.Linear(len(facts), hidden)),
            ("act", nn.LeakyReLU(0.01)),
            ("fc1", nn.Linear(hidden, 1)),
        )
        self.net = nn.Sequential(OrderedDict(layers))

    def values(self, f: Features) -> np.ndarray:
        """Return the chance of winning after each action, float32 (m,); the result if the action ends the game."""
        with torch.inference_mode():
            chance = torch.sigmoid(self.net(torch.from_numpy(f.features.copy()))[:, 0]).numpy()
        return np.where(f.done, (1 + f.reward) / 2, chance)

    def choose(self, f: Features, explore: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the index of each row's action in f, and all chances."""
        values = self.values(f)
        best, counts = f.best(values), f.counts
        random = self.rng.random(len(best)) < explore
        best[random] = f.indptr[:-1][random] + (self.rng.random(random.sum()) * counts[random]).astype(np.int64)
        return best, values


def train(learner: Learner, env: blockyard.BlockVectorEnv, args) -> None:
    """Collect rollouts by self-play, and train on each."""
    optimizer = torch.optim.Adam(learner.net.parameters(), lr=args.learning_rate)
    env.reset()
    finished = 0
    with tqdm(range(args.updates), unit="update") as bar:
        for update in bar:
            done = update / args.updates
            rollout = []  # per step: rows that acted, features, chances, use; rows that ended, results
            for _ in range(args.horizon):
                f, chose = features(env), np.flatnonzero(env.acting)
                best, values = learner.choose(f, args.explore * (1 - done))
                x, value = f.features[best[chose]], values[best[chose]]
                known = ~f.done[best[chose]]  # the value of an action that ends the game is known
                _, rewards, terminated, truncated, _ = env.step(f.actions[best])
                ended = terminated | truncated
                rollout.append((chose, x, value, known, ended, (1 + rewards) / 2))  # the reward of an end is the result
                finished += int(ended.sum()) // env.rows_per_game
            rate = args.learning_rate * (1 - 0.9 * done)
            loss = learn(learner, optimizer, rollout, env.num_envs, rate, args)
            bar.set_postfix(games=finished, loss=f"{loss:.3f}")


def learn(learner: Learner, optimizer: torch.optim.Optimizer, rollout: list, rows: int, rate: float, args) -> float:
    """Train the network on the lambda-returns of a rollout; return the mean cross entropy."""
    after = np.zeros(rows, np.float32)  # the value of each row's next position in which it acts
    back = np.zeros(rows, np.float32)  # its lambda-return
    follows = np.zeros(rows, bool)  # whether it has one in the rollout
    xs, ys = [], []
    for row, x, value, known, ended, result in reversed(rollout):
        after[ended] = back[ended] = result[ended]
        follows[ended] = True
        target = (1 - args.td_lambda) * after[row] + args.td_lambda * back[row]
        use = follows[row] & known
        xs.append(x[use])
        ys.append(target[use])
        back[row] = np.where(follows[row], target, value)
        after[row], follows[row] = value, True
    x, y = torch.as_tensor(np.concatenate(xs)), torch.as_tensor(np.concatenate(ys))
    optimizer.param_groups[0]["lr"] = rate
    losses = []
    for part in torch.randperm(len(x)).split(args.batch):
        loss = nn.functional.binary_cross_entropy_with_logits(learner.net(x[part])[:, 0], y[part])
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return float(np.mean(losses))


def evaluate(learner: Learner, game: str, opponent: str, games: int, seed: int) -> tuple[float, float]:
    """Play against an opponent on the server; return the fraction won (a draw is half) and its 95 % margin."""
    with blockyard.make_vec(game, games, seed=seed, opponents=opponent, timeout=120) as env:
        env.reset()
        result = np.full(games, np.nan)
        while np.isnan(result).any():
            f = features(env)
            _, rewards, terminated, _, _ = env.step(f.actions[learner.choose(f, 0.0)[0]])
            first = terminated & np.isnan(result)
            result[first] = rewards[first]
    won = (result + 1) / 2
    return float(won.mean()), float(1.96 * won.std() / np.sqrt(games))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="BlockBattle-v0", help="a game that defines features (default %(default)s)")
    parser.add_argument("--updates", type=int, default=600, help="rollouts to learn from (default %(default)s)")
    parser.add_argument("--num-envs", type=int, default=256, help="number of games (default %(default)s)")
    parser.add_argument("--horizon", type=int, default=16, help="steps of a rollout (default %(default)s)")
    parser.add_argument("--batch", type=int, default=512, help="positions per gradient step (default %(default)s)")
    parser.add_argument("--hidden", type=int, default=64, help="width of the network (default %(default)s)")
    parser.add_argument(
        "--learning-rate",
        type=float,
        default=3e-3,
        help="initial learning rate, decays to a tenth (default %(default)s)",
    )
    parser.add_argument("--td-lambda", type=float, default=0.8, help="lambda of the returns (default %(default)s)")
    parser.add_argument(
        "--explore", type=float, default=0.1, help="fraction of random actions, decays to 0 (default %(default)s)"
    )
    parser.add_argument("--eval-games", type=int, default=200, help="games per evaluation (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="torch threads (default %(default)s)")
    parser.add_argument(
        "--out", type=Path, default=Path("mine.safetensors"), help="file of weights (default %(default)s)"
    )
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    with blockyard.make_vec(args.game, args.num_envs, seed=args.seed, opponents=None) as env:
        if env.seats == 1:
            raise SystemExit(f"{args.game} has one seat, this script learns who wins")
        facts = feature_facts(env)
        learner = Learner(facts, args.hidden, args.seed)
        try:
            train(learner, env, args)
        except KeyboardInterrupt:
            print("interrupted: saving the weights trained so far")
        blockyard.save_weights(args.out, learner.net, facts, {"made": "td_afterstates.py"})
        write_run(args.out, seed=args.seed)
    for opponent in ("random", "hand:ply=1"):
        won, margin = evaluate(learner, args.game, opponent, args.eval_games, 2_000_000)
        print(f"won {won:.1%} ± {margin:.1%} of {args.eval_games} games against {opponent}")
    print(f"weights: {args.out}")


if __name__ == "__main__":
    main()
