"""``blockyard bench``: how many steps per second an environment makes here."""

import argparse
import itertools
import json
import os
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import nullcontext
from dataclasses import asdict, astuple, dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import BlockPool, BlockVectorEnv, make_vec
from ..transport.progress import bar
from .games import add_connection, connection

ABOUT = """\
measure steps per second of a game with random actions

step: env.step of all games at once, with actions that the server draws.
rollout: the same on the server alone, without a message per step.
pool: a BlockPool that receives and sends --pool games at a time; it and step
take turns, and the last line is the median of the ratios of their decisions
per second. --policy-us lets both wait as long as a policy would take.
A decision is the action of one row. CPU time is that of this process and of
the server; it is exact only if the server has no other clients. Compare ratios
of runs on the same idle machine, not bare times."""

TABLE = 64  # arrays of actions that are drawn beforehand
ROUNDS = 5  # of step and pool in turn


@dataclass
class Figures:
    """Measurements of one way of stepping: ``"step"``, ``"rollout"`` or ``"pool"``."""

    way: str
    steps: int = 0  # of all games
    seconds: float = 0.0  # wall-clock time
    cpu_seconds: float = 0.0  # of client and server
    decisions: int = 0  # actions of rows that had to act

    @property
    def rate(self) -> float:
        """Decisions per second."""
        return self.decisions / self.seconds


def add_options(parser: argparse.ArgumentParser) -> None:
    """Add the options of ``blockyard bench``."""
    add = parser.add_argument
    add("game", nargs="?", default="BlockBattle-v0", metavar="GAME", help="id or name (%(default)s)")
    add("--num-envs", type=int, default=1024, metavar="N", help="number of games (%(default)s)")
    add("--seats", type=int, metavar="N", help="seats of each game; by default the fewest")
    add("--opponents", default="random", metavar="SPEC", help='"none": this client drives all (%(default)s)')
    add("--seconds", type=float, default=3.0, metavar="S", help="time of each way (%(default)s)")
    add("--seed", type=int, default=0, metavar="N", help="seed of the games (%(default)s)")
    add("--pool", type=int, metavar="BATCH", help="also measure a BlockPool with batches of so many games")
    add("--policy-us", type=float, default=0.0, metavar="US", help="microseconds of a policy per row (%(default)s)")
    add("--packed", action="store_true", help="packed boards instead of planes")
    add("--no-mask", action="store_true", help="without action masks")
    add("--transport", choices=["auto", "shm", "socket"], default="auto", help="(%(default)s)")
    add("--json", action="store_true", help="one JSON object per line instead of a table")
    add_connection(parser)


def run(args: argparse.Namespace) -> int:
    """Measure each way to play for some seconds and print a table; return the exit status."""
    if not args.seconds > 0:
        raise ValueError(f"--seconds: want more than 0, got {args.seconds:g}")
    if args.pool is not None and (args.pool < 1 or args.num_envs % args.pool):
        raise ValueError(f"--pool: want a divisor of --num-envs, {args.num_envs}, got {args.pool}")
    options = connection(args) | {key: getattr(args, key) for key in ("seats", "seed", "packed", "transport")}
    options |= {"opponents": None if args.opponents == "none" else args.opponents, "illegal": "random"}
    options["mask"] = not args.no_mask
    with make_vec(args.game, args.num_envs, copy=False, **options) as env:
        env.reset()
        if not args.json:
            print(f"{env}\nopponents {args.opponents}, {os.cpu_count()} cores\n")
            print(f"{'':<8}{'steps/s':>10}{'decisions/s':>14}{'ms/step':>10}{'CPU ms/step':>13}{'per core-second':>17}")
        if args.pool:
            compare(env, args, options)
        else:
            _print(step(env, args.seconds, args.policy_us), env, args.json)
            _print(rollout(env, args.seconds), env, args.json)
    return 0


def compare(env: BlockVectorEnv, args: argparse.Namespace, options: dict[str, Any]) -> None:
    """Measure env.step and a pool in turn, and print both and their ratio."""
    with BlockPool(args.game, args.num_envs, args.pool, **options) as pool:
        pool.async_reset()
        pool.recv(pool.num_envs)
        seconds, pause = args.seconds / ROUNDS, args.policy_us
        rounds = [(step(env, seconds, pause), pooled(pool, env, seconds, pause)) for _ in range(ROUNDS)]
        for figures in zip(*rounds, strict=True):
            _print(_together(figures), env, args.json)
        ratios = sorted(other.rate / one.rate for one, other in rounds)
        least, middle, most = round(ratios[0], 3), ratios[ROUNDS // 2], round(ratios[-1], 3)
        stats = pool.stats()
        if args.json:
            print(json.dumps({"pool_to_step": middle, "range": [least, most], "pool": stats}))
        else:
            shares = "  ".join(f"{key} {stats[key]:.2f}" for key in ("occupancy", "wait", "busy"))
            print(f"\npool : step  {middle:.2f} ({least:.2f} to {most:.2f} in {ROUNDS} rounds); pool: {shares}")


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
    bursts: list[Figures] = []
    end, some = time.monotonic() + seconds, 1
    own = bar(f"measuring {way}") if way != "rollout" else nullcontext(lambda n: None)  # rollouts show a bar
    with own as shown:
        while not bursts or time.monotonic() < end:
            used, begun = _cpu(env), time.perf_counter()
            decisions = play(some)
            took = time.perf_counter() - begun
            bursts.append(Figures(way, some, took, _cpu(env) - used, decisions))
            if took < seconds / 8:
                some *= 2
            shown(1)
    return _together(bursts)


def _together(figures: Sequence[Figures]) -> Figures:
    """Return the sum of measurements of the same way."""
    return Figures(figures[0].way, *map(sum, zip(*(astuple(f)[1:] for f in figures), strict=True)))


def _acting(env: BlockVectorEnv) -> int:
    return int(np.count_nonzero(env.engine.batch.current.seat != 255))


def _cpu(env: BlockVectorEnv) -> float:
    """Return the CPU seconds of this process and of the server so far."""
    return time.process_time() + float(env.stats()["cpu_s"])


def _print(f: Figures, env: BlockVectorEnv, as_json: bool) -> None:
    if as_json:
        sizes = {"game": env.game_spec.id, "num_games": env.num_games, "num_envs": env.num_envs}
        print(json.dumps(sizes | {"transport": env.transport} | asdict(f)), flush=True)
        return
    wall, cpu = 1e3 * f.seconds / f.steps, 1e3 * f.cpu_seconds / f.steps
    core = f.decisions / f.cpu_seconds if f.cpu_seconds else float("nan")
    print(f"{f.way:<8}{f.steps / f.seconds:>10,.1f}{f.rate:>14,.0f}{wall:>10.3f}{cpu:>13.3f}{core:>17,.0f}", flush=True)
