"""What a checkpoint costs: bytes per game, and how many random steps of all games take as long.

python rpc/bench/checkpoint.py
"""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

import blockyard

GAMES = 1024


def fastest(do: Callable[[], Any], times: int = 7) -> float:
    """Return the shortest duration of a call in seconds."""
    best = float("inf")
    for _ in range(times):
        begun = time.perf_counter()
        do()
        best = min(best, time.perf_counter() - begun)
    return best


def main() -> None:
    print(f"{GAMES} games against random   bytes per game   save, in steps   restore, in steps")
    for game in ("BlockBattle-v0", "TetrisDuel-v0", "Blocking-v0", "WinTetris-v0", "Dropblox-v0"):
        with blockyard.make_vec(game, GAMES, seed=0) as env:
            env.reset()
            step = fastest(lambda env=env: env.rollout(20, keep="last")) / 20
            data = env.checkpoint()
            save, restore = fastest(env.checkpoint), fastest(lambda env=env, data=data: env.restore_checkpoint(data))
            print(f"{game:26}   {len(data) / GAMES:14.0f}   {save / step:14.1f}   {restore / step:17.1f}")


if __name__ == "__main__":
    main()
