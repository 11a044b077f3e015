"""TD learning of afterstates in PyTorch, whose net plays in the arena and in the contest.

    python td_afterstates.py --out mine.safetensors        # five minutes of one core
    go run ./agents arena blockbattle --a learned:weights=mine.safetensors --b hand --games 200
    go run ./train export blockbattle --weights mine.safetensors --out bot.go

The net looks at the position after each legal choice, told by the features of the game's own trained player, which
the server sends, and predicts who wins: its output is the log odds. It plays all seats of many games against itself,
takes the choice it likes best (now and then a random one) and learns TD(lambda) returns. The file has the layout and
the names that the player ``learned`` checks. It came to 48,415 games and won 36 % (30 to 43) of 200 against
``hand:ply=1``; the second line, where both look two choices ahead, said 40 % (32 to 49).
"""

from __future__ import annotations

import argparse
import os
from collections import OrderedDict
from pathlib import Path

import numpy as np
import torch
from safetensors.torch import save_file
from torch import nn
from tqdm import tqdm

import blockyard
from blockyard.features import Features, FeatureSpec, acting_seats, feature_spec, features


class Learner:
    """The net and what is random in its choices."""

    def __init__(self, facts: FeatureSpec, hidden: int, seed: int) -> None:
        torch.manual_seed(seed)
        self.rng = np.random.default_rng(seed)
        layers = (
            ("fc0", nn.Linear(len(facts.names), hidden)),
            ("act", nn.LeakyReLU(0.01)),
            ("fc1", nn.Linear(hidden, 1)),
        )
        self.net = nn.Sequential(OrderedDict(layers))

    def values(self, f: Features) -> np.ndarray:
        """Return the chance of winning after each choice, float32 (m,); where it ends the game, what it came to."""
        with torch.inference_mode():
            chance = torch.sigmoid(self.net(torch.from_numpy(f.features.copy()))[:, 0]).numpy()
        return np.where(f.done, (1 + f.reward) / 2, chance)

    def choose(self, f: Features, explore: float) -> tuple[np.ndarray, np.ndarray]:
        """Return for each row the index of its choice, -1 where it has none, and the chances of all."""
        values = self.values(f)
        best, counts = f.best(values), f.counts
        random = (counts > 0) & (self.rng.random(len(best)) < explore)
        best[random] = f.indptr[:-1][random] + (self.rng.random(random.sum()) * counts[random]).astype(np.int64)
        return best, values


def train(learner: Learner, env: blockyard.BlockVectorEnv, args) -> None:
    """Play and learn, update by update."""
    optimizer = torch.optim.Adam(learner.net.parameters(), lr=args.learning_rate)
    games, seats = env.num_games, env.seats
    env.reset()
    finished, over = 0, np.zeros(env.num_envs, bool)
    with tqdm(range(args.updates), unit="update") as bar:
        for update in bar:
            done = update / args.updates
            stretch = []  # a step: columns that chose, their features, chances; columns that ended, how
            for _ in range(args.horizon):
                f, seat = features(env), acting_seats(env)
                best, values = learner.choose(f, args.explore * (1 - done))
                chose = np.flatnonzero((best >= 0) & ~over)
                column = chose // env.rows_per_game * seats + seat[chose]  # of a game's seat, whichever row it has
                actions = np.zeros(env.num_envs, np.int64)
                actions[best >= 0] = f.actions[best[best >= 0]]
                x, value = f.features[best[chose]], values[best[chose]]
                known = ~f.done[best[chose]]  # nothing is to be learnt of a choice that ends the game
                _, _, terminated, truncated, _ = env.step(actions)
                over = terminated | truncated
                ended = over.reshape(games, -1)[:, 0]
                result = (1 + env.seat_rewards) / 2  # of every seat, where its game ended
                stretch.append((column, x, value, known, np.repeat(ended, seats), result.reshape(-1)))
                finished += int(ended.sum())
            rate = args.learning_rate * (1 - 0.9 * done)
            loss = learn(learner, optimizer, stretch, games * seats, rate, args)
            bar.set_postfix(games=finished, loss=f"{loss:.3f}")


def learn(learner: Learner, optimizer: torch.optim.Optimizer, stretch: list, columns: int, rate: float, args) -> float:
    """Fit the net to the lambda-returns of a stretch; return the mean cross entropy."""
    after = np.zeros(columns, np.float32)  # the value of what each column chose next
    back = np.zeros(columns, np.float32)  # and its return
    follows = np.zeros(columns, bool)  # whether anything followed within the stretch
    xs, ys = [], []
    for column, x, value, known, ended, result in reversed(stretch):
        after[ended] = back[ended] = result[ended]
        follows[ended] = True
        target = (1 - args.td_lambda) * after[column] + args.td_lambda * back[column]
        use = follows[column] & known
        xs.append(x[use])
        ys.append(target[use])
        back[column] = np.where(follows[column], target, value)
        after[column], follows[column] = value, True
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
    """Play games against a player of the server; return the share won (draws count half) and its 95 % margin."""
    with blockyard.make_vec(game, games, seed=seed, opponents=opponent, timeout=120) as env:
        env.reset()
        result = np.full(games, np.nan)
        while np.isnan(result).any():
            f = features(env)
            best = learner.choose(f, 0.0)[0]
            actions = np.where(best >= 0, f.actions[np.maximum(best, 0)], 0) if len(f) else np.zeros(games, np.int64)
            _, rewards, terminated, _, _ = env.step(actions.astype(np.int64))
            first = terminated & np.isnan(result)
            result[first] = rewards[first]
    won = (result + 1) / 2
    return float(won.mean()), float(1.96 * won.std() / np.sqrt(games))


def save(learner: Learner, facts: FeatureSpec, path: Path) -> None:
    """Write the net to a file, whole or not at all."""
    partial = path.with_name(path.name + ".partial")
    save_file(learner.net.state_dict(), partial, metadata=facts.metadata(made="td_afterstates.py"))
    os.replace(partial, path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="BlockBattle-v0", help="one that tells features (default %(default)s)")
    parser.add_argument("--updates", type=int, default=600, help="stretches to learn from (default %(default)s)")
    parser.add_argument("--num-envs", type=int, default=256, help="games at once (default %(default)s)")
    parser.add_argument("--horizon", type=int, default=16, help="steps between updates (default %(default)s)")
    parser.add_argument("--batch", type=int, default=512, help="positions a gradient (default %(default)s)")
    parser.add_argument("--hidden", type=int, default=64, help="width of the net (default %(default)s)")
    parser.add_argument("--learning-rate", type=float, default=3e-3, help="falls to a tenth (default %(default)s)")
    parser.add_argument("--td-lambda", type=float, default=0.8, help="of the returns (default %(default)s)")
    parser.add_argument(
        "--explore", type=float, default=0.1, help="share of random choices, falls to 0 (default %(default)s)"
    )
    parser.add_argument("--eval-games", type=int, default=200, help="games per evaluation (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="of everything random (default %(default)s)")
    parser.add_argument("--threads", type=int, default=1, help="of torch (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("mine.safetensors"), help="the net (default %(default)s)")
    args = parser.parse_args()
    torch.set_num_threads(args.threads)
    with blockyard.make_vec(args.game, args.num_envs, seed=args.seed, opponents=None) as env:
        if env.seats == 1:
            raise SystemExit(f"{args.game} has one seat, this script learns who wins")
        facts = feature_spec(env)
        learner = Learner(facts, args.hidden, args.seed)
        try:
            train(learner, env, args)
        except KeyboardInterrupt:
            print("interrupted: what was learnt so far is saved")
        save(learner, facts, args.out)
    for opponent in ("random", "hand:ply=1"):
        won, margin = evaluate(learner, args.game, opponent, args.eval_games, 2_000_000)
        print(f"won {won:.1%} ± {margin:.1%} of {args.eval_games} games against {opponent}")
    print(f"weights: {args.out}")


if __name__ == "__main__":
    main()
