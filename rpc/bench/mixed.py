"""Use environments in this process in every way, for a long time, and check that nothing is left of them.

    python rpc/bench/mixed.py [--minutes 60] [--seed 1]

Each round opens an environment of a game drawn at random over transport="inproc" and uses it in one of the ways of
USES: steps, rollouts, snapshots, checkpoints that are resumed, clones, records, calls that fail, threads, a forked
child, environments dropped without close(). After the first tenth of the time, and at the end, it looks at what the
library and the process hold: sessions, games, memory, goroutines, files, mappings. More at the end is an error.
"""

from __future__ import annotations

import argparse
import contextlib
import gc
import os
import random
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import gymnasium
import numpy as np
from faults.resources import Resources, exceeding, look, settled

import blockyard
from blockyard.single import ENV_IDS

USES = ("steps", "rollout", "snapshot", "checkpoint", "record", "failure", "threads", "fork", "dropped", "single")


def play(env: blockyard.BlockVectorEnv, seed: int = 1) -> None:
    """Play random legal actions."""
    env.reset(seed=seed)
    rng = np.random.default_rng(seed)
    for _ in range(20):
        env.step(env.sample_actions(rng))


def use(way: str, game: str, folder: Path, seed: int) -> None:
    """Use an environment of a game in one way."""
    options: dict[str, Any] = {"record": folder / "games.jsonl"} if way == "record" else {}
    if way == "single":
        with blockyard.make(game, transport="inproc") as single:
            _, info = single.reset(seed=seed)
            for _ in range(20):
                _, _, terminated, truncated, info = single.step(int(info["action_mask"].argmax()))
                if terminated or truncated:
                    _, info = single.reset()
        return
    env = blockyard.make_vec(game, 8, transport="inproc", **options)
    play(env, seed=seed)
    if way == "rollout":
        env.rollout(50, keep="last")
    elif way == "snapshot":
        env.restore(env.snapshot())
        env.clone([0], [1])
    elif way == "checkpoint":
        saved = env.checkpoint()
        with blockyard.make_vec(game, 8, transport="inproc", checkpoint=saved, **options) as resumed:
            resumed.reset()
    elif way == "failure":
        with contextlib.suppress(ValueError, blockyard.BlockyardError):
            env.step(np.full(8, -1))
    elif way == "threads":
        others = [blockyard.make_vec(game, 4, transport="inproc", **options) for _ in range(3)]
        with ThreadPoolExecutor(len(others)) as at_once:
            list(at_once.map(play, others))
        for other in others:
            other.close()
    elif way == "fork":
        make = [lambda: gymnasium.make(f"blockyard/{game}")] * 2
        # Memory that Python's multiprocessing has shared once it keeps, in files.
        envs = gymnasium.vector.AsyncVectorEnv(make, shared_memory=False, context="fork")
        envs.reset(seed=seed)
        envs.close()
    if way != "dropped":
        env.close()


def main() -> int:
    """Return 1 if something is left."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--minutes", type=float, default=60, help="how long (60)")
    parser.add_argument("--seed", type=int, default=1, help="of the choice of games and ways (1)")
    args = parser.parse_args()
    rng, rounds, begun = random.Random(args.seed), 0, time.monotonic()
    before: Resources | None = None
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)

        def now() -> Resources:
            gc.collect()
            return look("inproc:", os.getpid(), folder, set())

        while (passed := time.monotonic() - begun) < 60 * args.minutes:
            if before is None and passed > 6 * args.minutes and rounds >= len(USES):
                before = now()
                print(f"after {rounds} uses: {before}", flush=True)
            way = USES[rounds % len(USES)]
            use(way, rng.choice(ENV_IDS), folder, rng.randrange(1 << 30))
            for file in folder.iterdir():
                file.unlink()
            rounds += 1
        if before is None:
            print("too short: not one use in every way before the first look", file=sys.stderr)
            return 1
        after = settled(now, before)
    print(f"after {rounds} uses: {after}")
    left = exceeding(after, before)
    print("\n".join(left) or "nothing is left")
    return int(bool(left))


if __name__ == "__main__":
    sys.exit(main())
