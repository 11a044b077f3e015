"""What a checkpoint costs: bytes per game, and how many random steps of all games take as long.

python rpc/bench/checkpoint.py
"""

from __future__ import annotations

import timeit
from collections.abc import Callable
from typing import Any

from sides.plan import ENV_IDS
from sides.table import lines

import blockyard

GAMES = 1024


def fastest(do: Callable[[], Any]) -> float:
    """Return the shortest duration of seven calls in seconds."""
    return min(timeit.repeat(do, repeat=7, number=1))


def row(game: str) -> list[str]:
    """Return the figures of a game."""
    with blockyard.make_vec(game, GAMES, seed=0) as env:
        env.reset()
        step = fastest(lambda: env.rollout(20, keep="last")) / 20
        data = env.checkpoint()
        times = fastest(env.checkpoint), fastest(lambda: env.restore_checkpoint(data))
        return [game, f"{len(data) / GAMES:,.0f}", *(f"{time / step:.1f}" for time in times)]


if __name__ == "__main__":
    columns = (f"{GAMES} games against random", "bytes per game:", "save, in steps:", "restore, in steps:")
    print(lines(columns, map(row, ENV_IDS)))
