"""``blockyard bench``: how many steps per second an environment makes here."""

from __future__ import annotations

import argparse
import itertools
import json
import os
import time
from collections.abc import Callable, Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import BlockPool, BlockVectorEnv, make_vec
from .games import add_connection, connection

HELP = "measure steps per second of a game, with random legal actions that the server draws"

TABLE = 64  # arrays of actions that are drawn beforehand
ROUNDS = 5  # of step and pool in turn
DETAILS = """\
step: env.step of all games at once.
rollout: the same on the server alone, without a message per step.
pool: a BlockPool that receives and sends --pool games at a time; it and step take turns, and the last line is the
median of the ratios of their decisions per second. --policy-us lets both wait as long as a policy would take.
A decision is the action of one row. CPU time is that of this process and of the server; it is exact only if the
server has no other clients. Compare ratios of runs on the same idle machine, not bare times."""


@dataclass
class Figures:
    """Measurements of one way of stepping: ``"step"``, ``"rollout"`` or ``"pool"``."""

    way: str
    steps: int = 0  # of all games
    seconds: float = 0.0  # wall-clock time
    cpu_seconds: float = 0.0  # of client and server
    decisions: int = 0  # actions of rows that had to act

    def __iadd__(self, other: Figures) -> Figures:
        self.steps += other.steps
        self.seconds += other.seconds
        self.cpu_seconds += other.cpu_seconds
        self.decisions += other.decisions
        return self


def add(commands: Any) -> None:
    """Add the command ``bench`` and its options to the command line."""
    form = argparse.RawDescriptionHelpFormatter  # keeps the lines of the epilog
    about = HELP.capitalize() + "."
    parser = commands.add_parser("bench", help=HELP, description=about, epilog=DETAILS, formatter_class=form)
    parser.add_argument("game", nargs="?", default="BlockBattle-v0", metavar="GAME", help="id or name (%(default)s)")
    parser.add_argument("--num-envs", type=int, default=1024, metavar="N", help="number of games (%(default)s)")
    parser.add_argument("--seats", type=int, metavar="N", help="seats of each game; by default the fewest")
    parser.add_argument(
        "--opponents", default="random", metavar="SPEC", help='opponents; "none": this client drives all (%(default)s)'
    )
    parser.add_argument("--seconds", type=float, default=3.0, metavar="S", help="time of each way (%(default)s)")
    parser.add_argument("--seed", type=int, default=0, metavar="N", help="seed of the games (%(default)s)")
    parser.add_argument(
        "--pool", type=int, metavar="BATCH", help="also measure a BlockPool with batches of so many games"
    )
    parser.add_argument(
        "--policy-us",
        type=float,
        default=0.0,
        metavar="US",
        help="microseconds that a policy takes per row (%(default)s)",
    )
    parser.add_argument("--packed", action="store_true", help="packed boards instead of planes")
    parser.add_argument("--no-mask", action="store_true", help="without action masks")
    parser.add_argument("--transport", choices=["auto", "shm", "socket"], default="auto", help="(%(default)s)")
    add_connection(parser)
    parser.add_argument("--json", action="store_true", help="one JSON object per line instead of a table")
    parser.set_defaults(run=run)


def run(args: argparse.Namespace) -> int:
    """Measure each way to play for some seconds and print a table; return the exit status."""
    if not args.seconds > 0:
        raise ValueError(f"--seconds: want more than 0, got {args.seconds:g}")
    if args.pool is not None and (args.pool < 1 or args.num_envs % args.pool):
        raise ValueError(f"--pool: want a divisor of --num-envs, {args.num_envs}, got {args.pool}")
    options = {
        "seats": args.seats,
        "opponents": None if args.opponents == "none" else args.opponents,
        "seed": args.seed,
        "packed": args.packed,
        "mask": not args.no_mask,
        "transport": args.transport,
        "illegal": "random",
        **connection(args),
    }
    with make_vec(args.game, args.num_envs, copy=False, **options) as env:
        env.reset()
        if not args.json:
            print(f"{env}, opponents {args.opponents}, {os.cpu_count()} cores\n")
            print(f"{'':<8}{'steps/s':>10}{'decisions/s':>14}{'ms/step':>10}{'CPU ms/step':>13}{'per core-second':>17}")
        if args.pool:
            compare(env, args, options)
            return 0
        _print(step(env, args.seconds, args.policy_us), env, args.json)
        _print(rollout(env, args.seconds), env, args.json)
    return 0


def compare(env: BlockVectorEnv, args: argparse.Namespace, options: dict[str, Any]) -> None:
    """Measure env.step and a pool in turn, and print both and their ratio."""
    with BlockPool(args.game, args.num_envs, args.pool, **options) as pool:
        pool.async_reset()
        pool.recv(pool.num_envs)
        steps, batches, ratios = Figures("step"), Figures("pool"), []
        for _ in range(ROUNDS):
            one = step(env, args.seconds / ROUNDS, args.policy_us)
            other = pooled(pool, env, args.seconds / ROUNDS, args.policy_us)
            ratios.append((other.decisions / other.seconds) / (one.decisions / one.seconds))
            steps += one
            batches += other
        _print(steps, env, args.json)
        _print(batches, env, args.json)
        middle, spread = float(np.median(ratios)), (round(min(ratios), 3), round(max(ratios), 3))
        if args.json:
            print(json.dumps({"pool_to_step": middle, "range": spread, "pool": pool.stats()}))
        else:
            shares = "  ".join(f"{k} {v:.2f}" for k, v in pool.stats().items() if k in ("occupancy", "wait", "busy"))
            print(
                f"\npool : step  {middle:.2f} ({spread[0]:.2f} to {spread[1]:.2f} in {ROUNDS} rounds); pool: {shares}"
            )


def pooled(pool: BlockPool, env: BlockVectorEnv, seconds: float, policy_us: float) -> Figures:
    """Measure a pool whose rows all wait for an action, and let them wait again; env belongs to the same server."""
    anything = _actions(env, pool.num_envs)
    per_step = pool.num_games // pool.batch_size  # batches with as many games as a step

    def play(steps: int) -> int:
        decisions, batches = 0, steps * per_step
        pool.send(next(anything))
        for left in range(batches - 1, -1, -1):
            batch = pool.recv()
            decisions += int(np.count_nonzero(batch.infos["acting"]))
            if policy_us:
                time.sleep(policy_us * len(batch) * 1e-6)
            if left >= per_step:
                pool.send(next(anything)[: len(batch)], batch.env_ids)
        return decisions

    return _measure("pool", env, seconds, play)


def step(env: BlockVectorEnv, seconds: float, policy_us: float = 0.0) -> Figures:
    """Measure steps with random actions, and with a pause of so many microseconds per game."""
    anything = _actions(env, env.num_envs)

    def play(steps: int) -> int:
        decisions = 0
        for _ in range(steps):
            decisions += _acting(env)
            if policy_us:
                time.sleep(policy_us * env.num_envs * 1e-6)
            env.step(next(anything))
        return decisions

    return _measure("step", env, seconds, play)


def _actions(env: BlockVectorEnv, rows: int) -> Iterator[NDArray[np.int64]]:
    """Return random actions, again and again: with illegal="random" the server draws others for the illegal ones."""
    rng = np.random.default_rng(0)
    return itertools.cycle([rng.integers(0, env.game_spec.actions, rows) for _ in range(TABLE)])


def rollout(env: BlockVectorEnv, seconds: float) -> Figures:
    """Measure rollouts, in which the server chooses the actions."""

    def play(steps: int) -> int:
        env.rollout(steps, keep="last")
        return steps * _acting(env)

    return _measure("rollout", env, seconds, play)


def _measure(way: str, env: BlockVectorEnv, seconds: float, play: Callable[[int], int]) -> Figures:
    """Call play(steps), which returns the number of decisions, for this long, with ever more steps at a time."""
    figures, end, some = Figures(way), time.monotonic() + seconds, 1
    while not figures.steps or time.monotonic() < end:
        used, begun = _cpu(env), time.perf_counter()
        decisions = play(some)
        took = time.perf_counter() - begun
        figures += Figures(way, some, took, _cpu(env) - used, decisions)
        if took < seconds / 8:
            some *= 2
    return figures


def _acting(env: BlockVectorEnv) -> int:
    return int(np.count_nonzero(env._batch.current.seat != 255))


def _cpu(env: BlockVectorEnv) -> float:
    """Return the CPU seconds of this process and of the server so far."""
    return time.process_time() + float(env.stats()["cpu_s"])


def _print(f: Figures, env: BlockVectorEnv, as_json: bool) -> None:
    if as_json:
        sizes = {"game": env.game_spec.id, "num_games": env.num_games, "num_envs": env.num_envs}
        print(json.dumps(sizes | {"transport": env.transport} | asdict(f)), flush=True)
        return
    rate, wall, cpu = f.decisions / f.seconds, 1e3 * f.seconds / f.steps, 1e3 * f.cpu_seconds / f.steps
    core = f.decisions / f.cpu_seconds if f.cpu_seconds else float("nan")
    print(f"{f.way:<8}{f.steps / f.seconds:>10,.1f}{rate:>14,.0f}{wall:>10.3f}{cpu:>13.3f}{core:>17,.0f}", flush=True)
