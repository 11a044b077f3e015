"""A small network in PyTorch that becomes a contest bot, in about a minute; see docs/contest.md.

    python contest_bot.py --out mine.safetensors

The server plays games against itself with a search one ply deep, and random actions now and then. For the position
after each action, the network sees the features that the server's ``learned`` evaluator uses, and learns who won the
game: its output is the log odds. Then the file plays against ``random`` and ``hand:ply=1`` on other seeds.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import torch
from torch import nn
from tqdm import tqdm

import blockyard
from blockyard.provenance import write_run


def play(game: str, args: argparse.Namespace) -> tuple[np.ndarray, np.ndarray]:
    """Return features of positions, float32 (m, F), and whether the seat won then: 1, 0, or 0.5 for a draw, (m,)."""
    rng = np.random.default_rng(args.seed)
    with blockyard.make_vec(game, args.num_envs, opponents=None, seed=args.seed, timeout=120) as env:
        env.reset()
        players = list(env.players)
        episode = np.arange(env.num_envs)  # number of each row's episode
        number, won = [], np.full(env.num_envs, np.nan, np.float32)  # by position; by episode
        positions, finished = [], 0
        with tqdm(total=args.games, unit="game", desc="playing") as bar:
            while finished < args.games:
                after, acting = blockyard.features(env), env.acting.copy()
                policy = "random" if rng.random() < args.explore else args.teacher
                step = env.rollout(1, policy)  # the server chooses and plays an action in every row
                entry = np.flatnonzero(after.actions == step.actions[0][after.row])  # the entry of each row's action
                use = acting & ~after.done[entry]
                positions.append(after.features[entry[use]])
                number.append(episode[use])
                ended = step.buffer.terminated[0].repeat(env.rows_per_game)
                won[episode[ended]] = (1 + step.buffer.reward[0][:, players].reshape(-1)[ended]) / 2
                episode[ended] = len(won) + np.arange(ended.sum())
                won = np.append(won, np.full(ended.sum(), np.nan, np.float32))
                finished += (new := int(step.buffer.terminated[0].sum()))
                bar.update(new)
    labels = won[np.concatenate(number)]
    known = ~np.isnan(labels)
    return np.concatenate(positions)[known], labels[known]


def train(net: nn.Module, features: np.ndarray, won: np.ndarray, args: argparse.Namespace) -> None:
    """Train the network to predict who wins."""
    x, y = torch.from_numpy(features), torch.from_numpy(won)
    optimizer = torch.optim.AdamW(net.parameters(), lr=args.learning_rate)
    steps = args.epochs * -(-len(x) // args.batch)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, args.learning_rate, total_steps=steps)
    with tqdm(total=steps, unit="step", desc="training") as bar:
        for _ in range(args.epochs):
            for part in torch.randperm(len(x)).split(args.batch):
                loss = nn.functional.binary_cross_entropy_with_logits(net(x[part])[:, 0], y[part])
                optimizer.zero_grad()
                loss.backward()
                optimizer.step()
                schedule.step()
                bar.update()
                bar.set_postfix(loss=f"{loss.item():.3f}", refresh=False)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="BlockBattle-v0", help="a game of several seats (default %(default)s)")
    parser.add_argument("--games", type=int, default=2000, help="games to learn from (default %(default)s)")
    parser.add_argument("--teacher", default="hand:ply=1", help="policy that plays them (default %(default)s)")
    parser.add_argument("--explore", type=float, default=0.1, help="share of random steps (default %(default)s)")
    parser.add_argument("--num-envs", type=int, default=256, help="games at once (default %(default)s)")
    parser.add_argument("--hidden", type=int, default=32, help="hidden units (default %(default)s)")
    parser.add_argument("--epochs", type=int, default=3, help="times each position is used (default %(default)s)")
    parser.add_argument("--batch", type=int, default=1024, help="positions per gradient step (default %(default)s)")
    parser.add_argument("--learning-rate", type=float, default=3e-3, help="greatest one (default %(default)s)")
    parser.add_argument("--eval-games", type=int, default=200, help="games per evaluation (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("mine.safetensors"), help="file (default %(default)s)")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    facts = blockyard.feature_facts(args.game)
    net = nn.Sequential(nn.Linear(len(facts), args.hidden), nn.LeakyReLU(0.01), nn.Linear(args.hidden, 1))
    features, won = play(args.game, args)
    print(f"{len(features):,} positions with {len(facts)} features each")
    train(net, features, won, args)
    blockyard.save_weights(args.out, net, facts, notes={"made": "contest_bot.py"})
    write_run(args.out, seed=args.seed)
    for opponent in ("random", "hand:ply=1"):
        policy = f"learned:ply=1,weights={args.out}"
        print(blockyard.evaluate(policy, opponent, game=args.game, games=args.eval_games, seed=2_000_000))


if __name__ == "__main__":
    main()
