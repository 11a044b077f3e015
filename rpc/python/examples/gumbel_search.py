"""Gumbel search over your own network: a search in Python, by copies of games on the server.

    python ppo_afterstates.py --out mine.safetensors
    python gumbel_search.py --weights mine.safetensors

The network gives each legal action the value of the position after it, its prior. Of the best actions, sequential
halving (Danihelka et al., "Policy improvement by planning with Gumbel", 2022) drops the worse half again and again:
those left are tried in copies of the game, in which all that nobody may know is drawn anew (``reseed``), both seats
play on by the network for some turns, and the network values where they end. Prints how the search does against the
same network without it: with the network of ppo_afterstates.py it is worth 140 Elo; docs/roads.md has the interval.
"""

import argparse

import numpy as np
from tqdm import tqdm

import blockyard

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("--game", default="BlockBattle-v0", help="id of a game of two seats (default %(default)s)")
parser.add_argument("--weights", default="mine.safetensors", help="network over features (default %(default)s)")
parser.add_argument("--opponent", help="by default the network without search")
parser.add_argument("--actions", type=int, default=8, help="actions to try, a power of 2 (default %(default)s)")
parser.add_argument("--copies", type=int, default=16, help="copies of a game at once (default %(default)s)")
parser.add_argument("--turns", type=int, default=1, help="turns that copies play on (default %(default)s)")
parser.add_argument("--scale", type=float, default=1, help="weight of what is tried (default %(default)s)")
parser.add_argument("--explore", type=float, default=0, help="scale of Gumbel noise (default %(default)s)")
parser.add_argument("--games", type=int, default=200, help="games, half of them from each seat (default %(default)s)")
parser.add_argument("--num-envs", type=int, default=32, help="games at once (default %(default)s)")
parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default %(default)s)")
args = parser.parse_args()
net, rng, sure = blockyard.load_weights(args.weights), np.random.default_rng(args.seed), 6.0  # log odds of a won game
plain = f"learned:ply=1,weights={args.weights}"


def log_odds(after: blockyard.Features) -> np.ndarray:
    """Return the log odds of winning after each legal action, float32 (m,)."""
    return np.where(after.done, sure * after.reward, net.values(after.features))


def search(games: blockyard.BlockVectorEnv, copies: blockyard.BlockVectorEnv) -> np.ndarray:
    """Return an action for each game, uint16 (n,): the best of those that were tried most."""
    after, n, seat = blockyard.features(games), games.num_envs, int(games.players[0])
    prior = log_odds(after) + args.explore * rng.gumbel(size=len(after.row))
    order = np.lexsort((-prior, after.row))  # within each game, the best action first
    place = np.minimum(np.arange(args.actions), after.counts[:, None] - 1)  # the last one again if there are too few
    tried = order[after.indptr[:-1, None].astype(np.int64) + place]  # (n, actions)
    total, count = np.zeros((2, n, args.actions))
    left, positions = np.tile(np.arange(args.actions), (n, 1)), games.snapshot().repeat(args.copies, axis=0)
    while left.shape[1] > 1:
        which = left.repeat(args.copies // left.shape[1], axis=1)  # (n, copies)
        copies.restore(positions, reseed=int(rng.integers(1 << 40)))
        actions = after.actions[np.take_along_axis(tried, which, 1)].ravel()
        _, reward, over, *_ = copies.step(actions)
        played = copies.rollout(args.turns, plain).buffer
        result = np.where(over, reward, np.where(played.terminated, played.reward[:, :, seat], 0).sum(0))
        leaf = blockyard.features(copies)
        values = log_odds(leaf)
        ended = over | played.terminated.any(0)
        value = np.where(ended, sure * result, values[leaf.best(values)]).reshape(which.shape)
        for array, add in ((total, value), (count, 1)):
            np.add.at(array, (np.arange(n)[:, None], which), add)
        mean = total / np.maximum(count, 1)
        score = np.take_along_axis(prior[tried] + args.scale * mean, left, 1)
        left = np.take_along_axis(left, np.argsort(-score, axis=1, kind="stable")[:, : left.shape[1] // 2], 1)
    return after.actions[np.take_along_axis(tried, left, 1)[:, 0]]


each = -(-args.games // 2 // args.num_envs)  # games of each place, from each seat, so that long ones count as often
results = []
with tqdm(total=2 * each * args.num_envs, unit="game") as bar:
    for seat in (0, 1):
        how = {"opponents": {1 - seat: args.opponent or plain}, "seed": args.seed + seat}
        with (
            blockyard.make_vec(args.game, args.num_envs, **how) as games,
            blockyard.make_vec(
                args.game, args.num_envs * args.copies, **how | {"opponents": {1 - seat: plain}}
            ) as copies,
        ):
            games.reset()
            copies.reset()
            had = np.zeros(args.num_envs, int)
            while had.min() < each:
                _, reward, over, *_ = games.step(search(games, copies))
                results.extend(reward[over & (had < each)])
                bar.update(int((over & (had < each)).sum()))
                had += over
score = np.mean(results) / 2 + 0.5
error = 1.96 * np.std(results) / 2 / len(results) ** 0.5
elo = [400 * np.log10(p / (1 - p)) for p in np.clip([score, score - error, score + error], 0.001, 0.999)]
print(f"against {args.opponent or 'the network without search'}: won {score:.1%} of {len(results)} games, ", end="")
print(f"95 % interval {score - error:.1%} to {score + error:.1%}, Elo {elo[0]:+.0f} ({elo[1]:+.0f} to {elo[2]:+.0f})")
