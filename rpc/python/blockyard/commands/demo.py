"""``blockyard demo``: a policy learns Block Battle by self-play within half a minute, then plays in the terminal."""

import argparse
import os
import time
from collections.abc import Iterator, Sequence
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import BlockVectorEnv, connect, evaluate, feature_facts, features, make_vec, save_weights
from . import games
from .games import add_connection, connection

ABOUT = """\
watch a policy learn Block Battle in 20 seconds, and play

It is trained by self-play with numpy alone, and plays a game in the terminal.
Another GAME is not trained: the server's `learned` policy plays it."""
GAME = "BlockBattle-v0"
Array = NDArray[Any]

HORIZON, KEEP, EXPLORE, FORGET = 8, 0.8, 0.05, 0.9  # steps of a rollout, lambda of TD(lambda), random moves


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``blockyard demo``."""
    parser.add_argument("game", nargs="?", default=GAME, metavar="GAME", help="id or name (%(default)s)")
    parser.add_argument("--seconds", type=float, default=20.0, metavar="S", help="time of the training (%(default)s)")
    parser.add_argument("--games", type=int, default=256, metavar="N", help="games that learn at once (%(default)s)")
    parser.add_argument("--opponent", default="random", metavar="SPEC", help="its opponent in the end (%(default)s)")
    parser.add_argument("--moves", type=int, default=80, metavar="N", help="moves to show (%(default)s)")
    parser.add_argument("--seed", type=int, default=1, metavar="N", help="seed of everything random (%(default)s)")
    add_connection(parser)


def ignored(args: argparse.Namespace) -> Iterator[tuple[Sequence[str], str]]:
    """Yield the options that have no effect beside the others, and why."""
    yield from games.ignored(args)
    if not _trained(args.game):
        yield ("seconds", "games", "opponent"), f"with {args.game}, which is not trained"


def _trained(game: str) -> bool:
    return game.removeprefix("blockyard/") in (GAME, "blockbattle")


def run(args: argparse.Namespace) -> int:
    """Train a policy and show a game of it; return the exit status."""
    server = connection(args)
    if not _trained(args.game):
        with connect(**server) as client:
            known = client.describe(args.game).opponents
        policy = "learned" if "learned" in known else "random"
        watch(args, server, args.game, policy, None)
        print(f"every seat is played by {policy}")
        return 0
    with TemporaryDirectory() as folder:
        file = os.path.join(folder, "trained.safetensors")
        policy = f'learned:ply=1,weights="{file}"'
        train(args, server, file, policy)
        result = watch(args, server, GAME, policy, args.opponent)
    said = {1: "won", -1: "lost", 0: "a draw", None: "not over yet"}[result]
    print(f"player1 is the policy trained just now, player2 is {args.opponent}: {said}")
    return 0


class Values:
    """Expected results, -1 to 1, of positions: a linear function of their features, by least squares."""

    def __init__(self, inputs: int) -> None:
        self.weights: Array = np.zeros(inputs)
        self._products, self._sums = np.zeros((inputs, inputs)), np.zeros(inputs)

    def __call__(self, x: Array) -> Array:
        value: Array = (x @ self.weights).clip(-1, 1)
        return value

    def fit(self, x: Array, target: Array) -> None:
        """Fit it to positions and what became of them, and ever less to those of earlier calls."""
        self._products, self._sums = FORGET * self._products + x.T @ x, FORGET * self._sums + x.T @ target
        self.weights = np.linalg.solve(self._products + np.eye(len(self.weights)), self._sums)


def choose(env: BlockVectorEnv, values: Values, rng: np.random.Generator) -> tuple[Array, Array, Array]:
    """Return the best action of each row by the values; and features and values of the positions after it."""
    after = features(env)
    worth = np.where(after.done, after.reward, values(after.features))
    best = after.best(worth)
    acting = best >= 0
    random = acting & (rng.random(len(best)) < EXPLORE)
    best[random] = after.indptr[:-1][random] + (rng.random(int(random.sum())) * after.counts[random]).astype(np.int64)
    chosen = np.maximum(best, 0)
    return np.where(acting, after.actions[chosen], 0).astype(np.int64), after.features[chosen], worth[chosen]


def train(args: argparse.Namespace, server: dict[str, Any], file: str, policy: str) -> None:
    """Train by TD(lambda) in games of self-play, and write the weights; print a line now and then."""
    rng = np.random.default_rng(args.seed)
    print(f"{args.games} games of {GAME}, both seats played by a value function that knows nothing yet")
    print(f"{'seconds':>8}{'games played':>14}{'won of 64 against random':>27}", flush=True)
    with make_vec(GAME, args.games, opponents=None, autoreset_mode="NextStep", seed=args.seed, **server) as env:
        facts = feature_facts(env)
        values = Values(len(facts))
        env.reset()
        over, finished, begun, due = np.zeros(env.num_envs, bool), 0, time.monotonic(), 0.0
        while True:
            spent = time.monotonic() - begun
            if spent >= due or spent >= args.seconds:
                save_weights(file, [(values.weights[None], np.zeros(1))], facts)
                won = evaluate(policy, "random", game=GAME, games=64, **server).score
                print(f"{spent:>8.0f}{finished:>14,}{won:>26.0%}", flush=True)
                due = spent + args.seconds / 10
            if spent >= args.seconds:
                return
            trace: list[tuple[Array, ...]] = []
            for _ in range(HORIZON):
                actions, x, worth = choose(env, values, rng)
                _, rewards, terminated, _, _ = env.step(actions)
                trace.append((x, worth, over, rewards, terminated))
                over = terminated
                finished += int(terminated.sum()) // env.rows_per_game
            values.fit(*returns(trace))


def returns(trace: list[tuple[Array, ...]]) -> tuple[Array, Array]:
    """Return features of positions (n, F), and their lambda-returns (n,)."""
    target, xs, ys = trace[-1][1], [], []
    for (x, _, over, rewards, terminated), (_, following, *_) in zip(trace[-2::-1], trace[:0:-1], strict=True):
        target = np.where(terminated, rewards, (1 - KEEP) * following + KEEP * target)
        xs.append(x[~over])
        ys.append(target[~over])
    return np.concatenate(xs), np.concatenate(ys)


def watch(args: argparse.Namespace, server: dict[str, Any], game: str, policy: str, opponent: str | None) -> int | None:
    """Let a policy play a game in the terminal; return its result, None if it is not over after --moves."""
    how = {"autoreset_mode": "Disabled", "render_mode": "human", **server}
    with make_vec(game, 1, opponents=opponent, seed=args.seed, **how) as env:
        env.reset()
        for _ in range(args.moves):
            memory = env.rollout(1, policy).buffer.memory(0)
            env.engine.show(env.engine.batch.current)
            if memory.terminated[0] or memory.truncated[0]:
                return int(env.seat_rewards[0, 0])
    return None
