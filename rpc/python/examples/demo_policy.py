"""Train a policy for Block Battle by self-play in a minute, with numpy alone.

    python demo_policy.py --seconds 60

The policy asks the server for the position after each legal action and takes the one that a small neural network
values most. The network predicts who will win. It learns by TD(lambda) from 1,024 games that it plays against itself.
Afterwards it plays opponents on the server, in games with seeds that training did not use. After 7,443 games of
training, which take one or two minutes on one core, it won 100 % of 512 games against ``random`` and 3 % of 128 against
``hand:ply=1``.
"""

from __future__ import annotations

import argparse
import time
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from tqdm import tqdm

import blockyard
from blockyard.provenance import write_run

Floats = NDArray[np.float32]
Step = tuple[NDArray[Any], ...]  # features, values, whether the row did not act; then rewards, whether the game ended


# -- Features ------------------------------------------------------------------------------

ROWS, COLUMNS = 20, 10


def tables() -> tuple[NDArray[np.uint8], NDArray[np.uint8], NDArray[np.uint8]]:
    """Tabulate columns of 20 cells: height, empty cells below the top, cells above the highest such."""
    code = np.arange(1 << ROWS, dtype=np.uint32)  # bit 19 - y is row y from the top
    height = np.zeros(len(code), np.uint8)
    filled = np.zeros(len(code), np.uint8)
    cover = np.zeros(len(code), np.uint8)
    seen_hole = np.zeros(len(code), bool)
    for bit in range(ROWS - 1, -1, -1):
        cell = (code >> bit & 1).astype(bool)
        height[cell & (height == 0)] = bit + 1
        filled += cell
        seen_hole |= ~cell & (height > 0)
        cover += cell & ~seen_hole
    holes = height - filled
    return height, holes, np.where(holes > 0, cover, 0).astype(np.uint8)


HEIGHT, HOLES, COVER = tables()
# A board times this is its columns and its rows as numbers, exact in float32.
CODES = np.zeros((ROWS, COLUMNS, COLUMNS + ROWS), np.float32)
for _y in range(ROWS):
    for _x in range(COLUMNS):
        CODES[_y, _x, _x] = 1 << ROWS - 1 - _y
        CODES[_y, _x, COLUMNS + _y] = 1 << _x
_row = np.arange(1 << COLUMNS)
_walls = _row << 1 | 1 | 1 << COLUMNS + 1
TRANSITIONS = np.array([bin((w ^ w >> 1) & (1 << COLUMNS + 1) - 1).count("1") for w in _walls], np.uint8)
BOARD_FEATURES = COLUMNS + 9


def board_features(cells: NDArray[np.uint8]) -> Floats:
    """Return features of boards: uint8 (n, 20, 10) to float32 (n, BOARD_FEATURES)."""
    taken = (cells.reshape(-1, ROWS * COLUMNS) != 0).astype(np.float32)
    codes = (taken @ CODES.reshape(ROWS * COLUMNS, -1)).astype(np.uint32)
    columns, rows = codes[:, :COLUMNS], codes[:, COLUMNS:]
    height = HEIGHT[columns].astype(np.float32)
    steps = np.abs(np.diff(height, axis=1))
    sides = np.pad(height, ((0, 0), (1, 1)), constant_values=ROWS)
    wells = np.maximum(np.minimum(sides[:, :-2], sides[:, 2:]) - height, 0)
    holes = HOLES[columns].astype(np.float32)
    out = np.empty((len(cells), BOARD_FEATURES), np.float32)
    out[:, :COLUMNS] = height / ROWS
    out[:, COLUMNS + 0] = height.max(1) / ROWS
    out[:, COLUMNS + 1] = height.mean(1) / ROWS
    out[:, COLUMNS + 2] = steps.sum(1) / 30
    out[:, COLUMNS + 3] = np.minimum(steps, 3).sum(1) / 20
    out[:, COLUMNS + 4] = holes.sum(1) / 20
    out[:, COLUMNS + 5] = (holes > 0).sum(1) / COLUMNS
    out[:, COLUMNS + 6] = COVER[columns].sum(1, dtype=np.float32) / 20
    out[:, COLUMNS + 7] = (TRANSITIONS[rows].sum(1, dtype=np.float32) - 2 * (rows == 0).sum(1)) / 60
    out[:, COLUMNS + 8] = wells.sum(1) / 20
    return out


def features(planes: NDArray[np.uint8], numbers: Floats, other: Floats) -> Floats:
    """Return features of positions: own board, the opponent's board (its features), points, combos, pieces."""
    return np.concatenate([board_features(planes[:, 0]), other, np.tanh(numbers / 8)], axis=1)


# -- The value network ---------------------------------------------------------------------


class Network:
    """Two layers, trained with Adam: from features to an expected result between -1 and 1."""

    def __init__(self, inputs: int, hidden: int, rng: np.random.Generator) -> None:
        self.weights = {
            "fc0.weight": (rng.standard_normal((inputs, hidden)) / np.sqrt(inputs)).astype(np.float32),
            "fc0.bias": np.zeros(hidden, np.float32),
            "fc1.weight": np.zeros((hidden, 1), np.float32),
            "fc1.bias": np.zeros(1, np.float32),
        }
        self.moments = {k: (np.zeros_like(v), np.zeros_like(v)) for k, v in self.weights.items()}
        self.updates = 0

    def __call__(self, x: Floats) -> Floats:
        w = self.weights
        hidden = np.maximum(x @ w["fc0.weight"] + w["fc0.bias"], 0)
        value: Floats = np.tanh(hidden @ w["fc1.weight"] + w["fc1.bias"])[:, 0]
        return value

    def fit(self, x: Floats, target: Floats, rate: float) -> float:
        """Take one gradient step towards target; return the mean squared error before it."""
        w = self.weights
        hidden = np.maximum(x @ w["fc0.weight"] + w["fc0.bias"], 0)
        value = np.tanh(hidden @ w["fc1.weight"] + w["fc1.bias"])[:, 0]
        error = value - target
        top = (2 * error * (1 - value**2) / len(x))[:, None]
        below = (top @ w["fc1.weight"].T) * (hidden > 0)
        self.updates += 1
        for name, slope in (
            ("fc0.weight", x.T @ below),
            ("fc0.bias", below.sum(0)),
            ("fc1.weight", hidden.T @ top),
            ("fc1.bias", top.sum(0)),
        ):
            mean, square = self.moments[name]
            mean += 0.1 * (slope - mean)
            square += 0.001 * (slope**2 - square)
            scale = np.sqrt(square / (1 - 0.999**self.updates)) + 1e-8
            w[name] -= rate * mean / (1 - 0.9**self.updates) / scale
        return float(np.mean(error**2))

    def save(self, path: Path) -> None:
        """Write the weights to a file, completely or not at all."""
        partial = path.with_suffix(".partial.npz")
        np.savez(partial, **self.weights)
        partial.replace(path)


# -- The policy ----------------------------------------------------------------------------


class Policy:
    """Chooses the actions of all rows of an environment."""

    def __init__(self, env: blockyard.BlockVectorEnv, net: Network | None, rng: np.random.Generator) -> None:
        self.env, self.net, self.rng = env, net, rng
        names = env.game_spec.global_names
        self.numbers = [i for i, name in enumerate(names) if not name.startswith(("piece_", "next_"))]
        self.inputs = 2 * BOARD_FEATURES + len(self.numbers)

    def choose(self, planes: NDArray[np.uint8], explore: float) -> tuple[NDArray[np.int64], Floats, Floats]:
        """Return actions (rows,), and features and values of the next positions; explore: share of random actions."""
        assert self.net is not None
        after = self.env.afterstates()
        opponent = board_features(planes[:, 1])
        x = features(after.planes, after.globals[:, self.numbers], opponent[after.row])
        values = self.net(x)
        best = after.best(values)
        counts = np.diff(after.indptr.astype(np.int64))
        random = self.rng.random(len(best)) < explore
        best[random] = (after.indptr[:-1][random] + self.rng.random(int(random.sum())) * counts[random]).astype(
            np.int64
        )
        return after.actions[best].astype(np.int64), x[best], values[best]


def evaluate(net: Network | None, opponent: str, games: int, seed: int, transport: str) -> tuple[float, float]:
    """Play against an opponent on the server; return the fraction won (a draw is half) and its 95 % margin."""
    rng = np.random.default_rng(seed)
    with blockyard.make_vec(
        "BlockBattle-v0", games, seed=seed, opponents={1: opponent}, copy=False, timeout=120, transport=transport
    ) as env:
        policy = Policy(env, net, rng)
        obs, _ = env.reset()
        result = np.full(games, np.nan)
        while np.isnan(result).any():
            actions = policy.choose(obs["planes"], 0.0)[0] if net else env.sample_actions(rng)
            obs, rewards, terminated, _, _ = env.step(actions)
            first = terminated & np.isnan(result)
            result[first] = rewards[first]
    won = (result + 1) / 2
    return float(won.mean()), float(1.96 * won.std() / np.sqrt(games))


# -- Training ------------------------------------------------------------------------------


def train(seconds: float, games: int, seed: int, hidden: int, transport: str) -> Network:
    """Train by self-play for this many seconds; return the network."""
    rng = np.random.default_rng(seed)
    horizon, keep, start = 8, 0.8, time.monotonic()
    with (
        blockyard.make_vec(
            "BlockBattle-v0",
            games,
            seed=seed,
            opponents=None,
            autoreset_mode="NextStep",
            copy=False,
            slots=2,
            transport=transport,
        ) as env,
        tqdm(total=round(seconds), unit="s", bar_format="{l_bar}{bar}| {n:.0f}/{total_fmt} s{postfix}") as bar,
    ):
        print(f"{games} games, steps over {env.transport}")
        policy = Policy(env, None, rng)
        net = policy.net = Network(policy.inputs, hidden, rng)
        obs, _ = env.reset()
        planes, over = obs["planes"], np.zeros(env.num_envs, bool)
        played = finished = 0
        while (spent := time.monotonic() - start) < seconds:
            progress = spent / seconds
            trace: list[Step] = []
            for _ in range(horizon):
                actions, x, values = policy.choose(planes, explore=0.1 * (1 - progress))
                obs, rewards, terminated, _, _ = env.step(actions)
                trace.append((x, values, over, rewards.astype(np.float32), terminated))
                planes, over = obs["planes"], terminated
                played += int((~over).sum())
                finished += int(terminated.sum()) // env.rows_per_game
            error = learn(net, trace, keep, 3e-3 * (1 - 0.9 * progress), rng)
            bar.n = min(round(seconds), round(time.monotonic() - start))
            bar.set_postfix(games=finished, moves=f"{played / (time.monotonic() - start):.0f}/s", error=f"{error:.3f}")
        return net


def learn(
    net: Network, trace: list[tuple[NDArray[Any], ...]], keep: float, rate: float, rng: np.random.Generator
) -> float:
    """Train the network on the lambda-returns of a rollout; return the mean squared error."""
    target = trace[-1][1]
    xs, ys = [], []
    for (x, _, over, rewards, terminated), (_, next_value, *_) in zip(trace[-2::-1], trace[:0:-1], strict=True):
        target = np.where(terminated, rewards, (1 - keep) * next_value + keep * target)
        xs.append(x[~over])
        ys.append(target[~over])
    x, y = np.concatenate(xs), np.concatenate(ys)
    errors = []
    for _ in range(2):
        for batch in np.array_split(rng.permutation(len(x)), max(1, len(x) // 512)):
            errors.append(net.fit(x[batch], y[batch].astype(np.float32), rate))
    return float(np.mean(errors))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--seconds", type=float, default=60, help="seconds of training (default 60)")
    parser.add_argument("--games", type=int, default=1024, help="number of games (default 1024)")
    parser.add_argument("--hidden", type=int, default=32, help="width of the network (default 32)")
    parser.add_argument("--seed", type=int, default=1, help="seed of everything random (default 1)")
    parser.add_argument("--eval-games", type=int, default=512, help="games per evaluation (default 512)")
    parser.add_argument("--transport", default="auto", help="inproc, shm or socket (default auto: what is fastest)")
    parser.add_argument("--out", type=Path, default=Path("policy.npz"), help="file of weights (default policy.npz)")
    args = parser.parse_args()

    before = evaluate(None, "random", args.eval_games, 1_000_000, args.transport)
    net = train(args.seconds, args.games, args.seed, args.hidden, args.transport)
    net.save(args.out)
    write_run(args.out, seed=args.seed)
    print(f"{'policy':<24}{'against':<12}{'games':>6}{'score':>9}")
    print(f"{'untrained (random)':<24}{'random':<12}{args.eval_games:>6}{before[0]:>9.1%} ± {before[1]:.1%}")
    for opponent, games in (("random", args.eval_games), ("hand:ply=1", 128)):
        score, margin = evaluate(net, opponent, games, 2_000_000, args.transport)
        print(f"{'after training':<24}{opponent:<12}{games:>6}{score:>9.1%} ± {margin:.1%}")
    print(f"weights: {args.out}")


if __name__ == "__main__":
    main()
