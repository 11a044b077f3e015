"""Afterstate learning in PyTorch: from zero to a network that wins against the hand-tuned baseline.

    python td_afterstates.py --out mine.safetensors
    blockyard arena blockbattle --a learned:weights=mine.safetensors --b hand --games 200
    blockyard bundle blockbattle --weights mine.safetensors --out bot.go

The network sees the features of the position after an action, the same ones that the server's ``learned`` evaluator
uses, and predicts who wins: its output is the log odds. It learns from its own games alone, in two ways:

1. TD(lambda). The server plays the network against itself; the results of the games are the targets.
2. Siblings. In positions of such games, the actions of one decision are tried in copies of the game, and each is worth
   what the best action after it promises. The network learns these differences, which are much less noisy than results.

docs/loops.md has the results against ``hand:ply=1``.
"""

from __future__ import annotations

import argparse
import copy
from pathlib import Path

import numpy as np
import torch
from torch import nn

import blockyard
from blockyard import Features, features
from blockyard.provenance import write_run

SURE = 6.0  # log odds of a game that is won


def log_odds(net: nn.Module, f: Features) -> np.ndarray:
    """Return the log odds of winning after each action, float32 (m,)."""
    with torch.inference_mode():
        return np.where(f.done, SURE * f.reward, net(torch.from_numpy(f.features.copy()))[:, 0].numpy())


def collect_results(net: nn.Module, env: blockyard.BlockVectorEnv, policy: str, args) -> tuple[torch.Tensor, ...]:
    """Let the server play, and return the features of every fourth position, (n, F), with their lambda-returns."""
    seen = []  # of each row: features after its action, whether the game goes on, whether it ended since, its result
    for _ in range(args.horizon):
        f, played = features(env), env.rollout(4, policy).buffer
        at = np.flatnonzero(f.actions == played.actions[0][f.row])
        ended = np.repeat(played.terminated.any(0), env.rows_per_game)
        result = np.where(played.terminated[:, :, None], played.reward, 0).sum(0).ravel()
        seen.append((f.features[at], ~f.done[at], ended, (1 + result) / 2))
    value = following = target = np.full(env.num_envs, np.nan, np.float32)  # unknown after the last position
    xs, ys = [], []
    for x, goes_on, ended, result in reversed(seen):
        target = args.td_lambda * target + (1 - args.td_lambda) * following
        target = np.where(ended, result, target)
        use = goes_on & ~np.isnan(target)
        xs.append(x[use])
        ys.append(target[use])
        with torch.inference_mode():
            value = torch.sigmoid(net(torch.from_numpy(x))[:, 0]).numpy()
        target, following = np.where(np.isnan(target), value, target), value
    return torch.from_numpy(np.concatenate(xs)), torch.from_numpy(np.concatenate(ys)).float()


def collect_siblings(net: nn.Module, roots, branches, rng, args) -> tuple[np.ndarray, np.ndarray]:
    """Return the features of k siblings of a decision in each root, (roots, k, F), and their worth, (roots, k)."""
    f, k = features(roots), args.siblings
    order = np.lexsort((-log_odds(net, f), f.row))  # within each row, the best action first
    which = np.where(np.arange(k) < k - 4, np.arange(k), rng.integers(0, 1 << 30, (roots.num_envs, k)))  # 4 at random
    picks = order[f.indptr[:-1, None].astype(np.int64) + which % f.counts[:, None]]
    branches.restore(np.repeat(roots.snapshot(), k, axis=0))
    _, rewards, terminated, _, _ = branches.step(f.actions[picks].ravel())
    after = features(branches)
    values = log_odds(net, after)
    worth = np.where(terminated, SURE * rewards, values[after.best(values)]).reshape(picks.shape)
    return f.features[picks], worth.astype(np.float32)


def fit(net: nn.Module, optimizer: torch.optim.Optimizer, rate: float, loss, *data: torch.Tensor) -> None:
    """Take gradient steps over the data once, in a random order; loss(net, *part) is the mean of a part."""
    optimizer.param_groups[0]["lr"] = rate
    for part in torch.randperm(len(data[0])).split(256 if data[1].dim() == 1 else 32):
        optimizer.zero_grad()
        loss(net, *(tensor[part] for tensor in data)).backward()
        optimizer.step()


def result_loss(net: nn.Module, x: torch.Tensor, y: torch.Tensor) -> torch.Tensor:
    """Return the cross entropy of the chances of winning."""
    return nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y)


def sibling_loss(net: nn.Module, x: torch.Tensor, worth: torch.Tensor, level: torch.Tensor) -> torch.Tensor:
    """Return the cross entropy of the choice among siblings; their mean value stays near the level."""
    z = net(x)[..., 0]
    choice = nn.functional.cross_entropy(z / 0.2, torch.softmax(worth / 0.2, 1))
    return choice + 0.05 * (z.mean(1) - level).square().mean()


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--game", default="BlockBattle-v0", help="Block Battle or a variant (default %(default)s)")
    parser.add_argument("--updates", type=int, default=100, help="rollouts of TD(lambda) (default %(default)s)")
    parser.add_argument("--num-envs", type=int, default=256, help="games of a rollout (default %(default)s)")
    parser.add_argument("--horizon", type=int, default=16, help="positions per rollout (default %(default)s)")
    parser.add_argument("--td-lambda", type=float, default=0.8, help="lambda of the returns (default %(default)s)")
    parser.add_argument("--stages", type=int, default=1, help="stages of siblings (default %(default)s)")
    parser.add_argument("--decisions", type=int, default=25_600, help="decisions of a stage (default %(default)s)")
    parser.add_argument("--siblings", type=int, default=16, help="siblings of a decision (default %(default)s)")
    parser.add_argument("--hidden", type=int, default=64, help="width of the network (default %(default)s)")
    parser.add_argument("--eval-games", type=int, default=400, help="games of an evaluation (default %(default)s)")
    parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
    parser.add_argument("--out", type=Path, default=Path("mine.safetensors"), help="weights (default %(default)s)")
    args = parser.parse_args()
    torch.manual_seed(args.seed)
    torch.set_num_threads(1)
    rng, facts = np.random.default_rng(args.seed), blockyard.feature_facts(args.game)
    net = nn.Sequential(nn.Linear(len(facts), args.hidden), nn.LeakyReLU(0.01), nn.Linear(args.hidden, 1))
    mine = f"learned:ply=1,weights={args.out}"

    def save(what: str, evaluate: bool = True) -> None:
        blockyard.save_weights(args.out, net, facts, {"made": "td_afterstates.py"})
        if evaluate:
            got = blockyard.evaluate(mine, "hand:ply=1", game=args.game, games=args.eval_games, seed=4242)
            print(f"{what}: won {got.score:.1%} of {got.games} games against hand:ply=1", flush=True)

    save("untrained")
    with blockyard.make_vec(args.game, args.num_envs, seed=args.seed << 20, opponents=None, mask=False) as env:
        optimizer = torch.optim.Adam(net.parameters())
        env.reset()
        for update in range(args.updates):
            x, y = collect_results(net, env, f"{mine},eps=0.03", args)
            fit(net, optimizer, 3e-3 * (1 - 0.9 * update / args.updates), result_loss, x, y)
            save(f"update {update + 1}", evaluate=(update + 1) % 20 == 0)
    for stage in range(args.stages):
        teacher, games = copy.deepcopy(net), 32
        how = {"seed": (args.seed << 20) + 7919 * (stage + 1), "opponents": mine, "mask": False}
        with (
            blockyard.make_vec(args.game, games, **how) as roots,
            blockyard.make_vec(args.game, games * args.siblings, **how) as branches,
        ):
            roots.reset()
            branches.reset()
            data = []
            for _ in range(args.decisions // games):
                roots.rollout(3, f"{mine},eps=0.05", keep="last")
                data.append(collect_siblings(teacher, roots, branches, rng, args))
        x, worth = (torch.from_numpy(np.concatenate(part)) for part in zip(*data, strict=True))
        with torch.inference_mode():
            level = teacher(x)[..., 0].mean(1)
        optimizer, epochs = torch.optim.Adam(net.parameters()), 8
        for epoch in range(epochs):
            fit(net, optimizer, 1e-3 * (1 - epoch / epochs), sibling_loss, x, worth, level)
        save(f"stage {stage + 1}")
    write_run(args.out, seed=args.seed)
    print(blockyard.evaluate(mine, "hand:ply=1", game=args.game, games=args.eval_games, seed=2_000_000))


if __name__ == "__main__":
    main()
