"""A league: a network trains against frozen checkpoints of itself, and the end says how strong each of them is.

    python league.py --minutes 5 --out league

The learner plays one seat. The server plays the other with an opponent drawn for each episode: ``hand:ply=1``, or one
of the checkpoints that the learner has saved so far. The more often a checkpoint wins, the more often it is drawn
(prioritised fictitious self-play). At the end, each checkpoint plays the one before.

The learner is TD(lambda) on afterstates, as in td_afterstates.py: the network sees the features of the position after
each legal action and predicts the chance of winning.
"""

from __future__ import annotations

import argparse
import itertools
import time
from pathlib import Path

import numpy as np
import torch
from torch import nn

import blockyard

GAME = "BlockBattle-v0"
BASELINE = "hand:ply=1"


class Learner:
    """The network, its optimizer, and the random numbers of its exploration."""

    def __init__(self, inputs: int, hidden: int, seed: int) -> None:
        torch.manual_seed(seed)
        self.rng = np.random.default_rng(seed)
        self.net = nn.Sequential(nn.Linear(inputs, hidden), nn.LeakyReLU(0.01), nn.Linear(hidden, 1))
        self.optimizer = torch.optim.Adam(self.net.parameters(), lr=2e-3)

    def choose(self, f: blockyard.Features, explore: float) -> tuple[np.ndarray, np.ndarray]:
        """Return the index in f of each row's action, and the chances of winning after all actions."""
        with torch.inference_mode():
            chance = torch.sigmoid(self.net(torch.from_numpy(f.features.copy()))[:, 0]).numpy()
        chance = np.where(f.done, (1 + f.reward) / 2, chance)
        best = f.best(chance)
        random = self.rng.random(len(best)) < explore
        best[random] = f.indptr[:-1][random] + (self.rng.random(random.sum()) * f.counts[random]).astype(np.int64)
        return best, chance

    def learn(self, rollout: list[tuple[np.ndarray, ...]], td_lambda: float = 0.8) -> None:
        """Train on the lambda-returns of a rollout: per step features, chances, use, ended and results, by row."""
        after = back = np.full(len(rollout[0][1]), np.nan)  # the value of the row's next position, and its return
        xs, ys = [], []
        for x, value, use, ended, result in reversed(rollout):
            after, back = np.where(ended, result, after), np.where(ended, result, back)
            target = (1 - td_lambda) * after + td_lambda * back
            use &= ~np.isnan(target)
            xs.append(x[use])
            ys.append(target[use])
            after, back = value, np.where(np.isnan(target), value, target)
        x, y = torch.as_tensor(np.concatenate(xs)), torch.as_tensor(np.concatenate(ys), dtype=torch.float32)
        for part in torch.randperm(len(x)).split(512):
            loss = nn.functional.binary_cross_entropy_with_logits(self.net(x[part])[:, 0], y[part])
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()


class League:
    """The checkpoints of a learner, and how often each is the opponent."""

    def __init__(self, env: blockyard.BlockVectorEnv, folder: Path, most: int) -> None:
        self.env, self.folder, self.most = env, folder, most
        self.checkpoints: list[Path] = []
        folder.mkdir(parents=True, exist_ok=True)

    def add(self, learner: Learner) -> None:
        """Freeze the learner as a checkpoint, and draw opponents from the baseline and the hardest checkpoints."""
        path = self.folder / f"{len(self.checkpoints):03}.safetensors"
        blockyard.save_weights(path, learner.net, blockyard.feature_facts(self.env))
        self.checkpoints.append(path)
        stats = self.env.opponent_stats(reset=True)
        weights = {}
        for checkpoint in self.checkpoints:
            known = stats.get(player(checkpoint))
            score = known.score if known and known.games >= 20 else 0.5
            weights[player(checkpoint)] = (1 - score) ** 2 + 0.01
        hardest = sorted(weights, key=weights.__getitem__, reverse=True)[: self.most]
        pool = {spec: weights[spec] for spec in {*hardest, player(path)}}
        pool = {spec: weight / sum(pool.values()) for spec, weight in sorted(pool.items())}
        self.env.set_opponents({BASELINE: 0.25, **pool})
        games = sum(s.games for s in stats.values())
        last = stats.get(BASELINE)
        print(f"{path.name}: pool of {len(pool)}, {games:,} games since the one before", end="")
        print(f", {last.score:.0%} of {last.games} against {BASELINE}" if last and last.games else "", flush=True)


def player(checkpoint: Path) -> str:
    """Return the spec of a checkpoint. The client uploads the file: the server needs no access to it."""
    return f"learned:ply=1,weights={checkpoint}"


def train(learner: Learner, env: blockyard.BlockVectorEnv, league: League, args: argparse.Namespace) -> None:
    """Play and learn for some minutes, with a new checkpoint every so often."""
    env.reset()
    begun = time.monotonic()
    for k in range(args.checkpoints):
        while (share := (time.monotonic() - begun) / (60 * args.minutes)) < (k + 1) / args.checkpoints:
            rollout = []
            for _ in range(16):
                f = blockyard.features(env)
                best, chance = learner.choose(f, 0.1 * (1 - share))
                _, rewards, terminated, truncated, _ = env.step(f.actions[best])
                use = ~f.done[best]  # the value of an action that ends the game is known
                rollout.append((f.features[best], chance[best], use, terminated | truncated, (1 + rewards) / 2))
            learner.learn(rollout)
        league.add(learner)


def rate(checkpoints: list[Path], games: int) -> None:
    """Let each checkpoint play the one before, and print their Elo, relative to the first."""
    print(f"\n{'checkpoint':<16} {'Elo':>5}   score against the one before, {games} games")
    print(f"{checkpoints[0].name:<16} {0:>5}")
    elo = 0.0
    for old, new in itertools.pairwise(checkpoints):
        r = blockyard.evaluate(player(new), player(old), game=GAME, games=games)
        elo += r.elo
        print(f"{new.name:<16} {elo:>5.0f}   {r.score:.0%} ({r.low:.0%} to {r.high:.0%})", flush=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=2, help="time of training (default %(default)s)")
    parser.add_argument("--checkpoints", type=int, default=6, help="number of checkpoints (default %(default)s)")
    parser.add_argument("--pool", type=int, default=4, help="checkpoints in the pool at once (default %(default)s)")
    parser.add_argument("--num-envs", type=int, default=128, help="number of games (default %(default)s)")
    parser.add_argument("--hidden", type=int, default=32, help="width of the network (default %(default)s)")
    parser.add_argument("--games", type=int, default=100, help="games of each match at the end (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("league"), help="folder of checkpoints (default %(default)s)")
    parser.add_argument("--address", default=None, help="server to play on (default: a local one)")
    args = parser.parse_args()
    torch.set_num_threads(1)
    with blockyard.make_vec(
        GAME, args.num_envs, seed=args.seed, opponents=BASELINE, address=args.address, autoreset_mode="SameStep"
    ) as env:
        learner = Learner(len(blockyard.feature_facts(env)), args.hidden, args.seed)
        league = League(env, args.out, args.pool)
        league.add(learner)
        train(learner, env, league, args)
    rate(league.checkpoints, args.games)


if __name__ == "__main__":
    main()
