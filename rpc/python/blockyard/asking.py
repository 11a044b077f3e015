"""How arguments of users become arguments of the server, and what is refused on the way."""

from __future__ import annotations

import operator
from collections.abc import Mapping, Sequence
from typing import Any, SupportsIndex

import numpy as np
from numpy.typing import NDArray

Seed = int | Sequence[int | None] | None
Ids = Sequence[int] | NDArray[Any] | None

_SEEDS = 1 << 64


def game_name(game: str) -> str:
    """Return the name the server knows: ``"blockyard/X-v0"`` is ``"X-v0"``."""
    if not isinstance(game, str):
        raise TypeError(f"game: want a name such as 'BlockBattle-v0', got {type(game).__name__}")
    return game.removeprefix("blockyard/")


def opponents_by_seat(opponents: Mapping[int, str] | str | None, seats: int) -> dict[int, str]:
    """Return who plays the seats we do not: one spec stands for every seat but the first."""
    if opponents is None:
        return {}
    if isinstance(opponents, str):
        return dict.fromkeys(range(1, seats), opponents)
    out = {}
    for seat, spec in opponents.items():
        if not isinstance(spec, str):
            raise TypeError(f"opponents[{seat!r}]: want a spec such as 'hand', got {type(spec).__name__}")
        if isinstance(seat, bool) or not isinstance(seat, SupportsIndex) or not 0 <= operator.index(seat) < seats:
            raise ValueError(f"opponents: no seat {seat!r}, seats are 0 to {seats - 1}")
        out[operator.index(seat)] = spec
    if len(out) == seats:
        raise ValueError("opponents: every seat has one, leave at least one seat to drive")
    return out


def one_seed(seed: object, what: str = "seed") -> int:
    """Return a seed as an int below 2**64."""
    if isinstance(seed, bool) or not isinstance(seed, SupportsIndex):
        raise TypeError(f"{what}: want an integer, got {seed!r}")
    if not 0 <= (value := operator.index(seed)) < _SEEDS:
        raise ValueError(f"{what}: want 0 <= seed < 2**64, got {value}")
    return value


def fresh_seed() -> int:
    """Return a seed nobody chose."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def seed_list(seed: Sequence[int | None], games: int) -> list[int | None]:
    """Return a list of seeds, checked, one a game."""
    seeds = list(seed)
    if len(seeds) != games:
        raise ValueError(f"seed: a list of {len(seeds)} seeds for {games} games")
    return [None if s is None else one_seed(s, f"seed[{i}]") for i, s in enumerate(seeds)]


def reset_mask(mask: object, rows: int, rows_per_game: int) -> NDArray[np.bool_]:
    """Return which games a reset mask over rows names, bool (games,)."""
    if not isinstance(mask, np.ndarray):
        raise TypeError(f"options['reset_mask']: want a numpy array, got {type(mask).__name__}")
    if mask.dtype != np.bool_:
        raise TypeError(f"options['reset_mask']: want dtype bool, got {mask.dtype}")
    if mask.shape != (rows,):
        raise ValueError(f"options['reset_mask']: want shape ({rows},), got {mask.shape}")
    if not mask.any():
        raise ValueError("options['reset_mask']: want at least one True")
    games = mask.reshape(-1, rows_per_game)
    if (games != games[:, :1]).any():
        raise ValueError(f"options['reset_mask']: the {rows_per_game} rows of a game are reset together")
    return np.ascontiguousarray(games[:, 0])


def game_ids(ids: Ids, games: int, what: str = "env_ids") -> NDArray[np.uint32]:
    """Return indices of games as ``<u4``; None is all of them."""
    if ids is None:
        return np.arange(games, dtype="<u4")
    array = np.asarray(ids, None if len(ids) else np.uint32)
    if array.ndim != 1 or array.dtype.kind not in "iu":
        raise TypeError(f"{what}: want a list of integers, got shape {array.shape}, dtype {array.dtype}")
    if len(array) and not (array.min() >= 0 and array.max() < games):
        raise ValueError(f"{what}: want indices from 0 to {games - 1}, got {array.min()} to {array.max()}")
    return array.astype("<u4")


def action_row(actions: object, out: NDArray[np.uint16]) -> None:
    """Write actions into out, refusing what would not survive it."""
    array = actions if isinstance(actions, np.ndarray) else np.asarray(actions)
    if array.dtype.kind not in "iu":
        raise TypeError(f"actions: want integers, got dtype {array.dtype}")
    if array.shape != out.shape:
        raise ValueError(f"actions: want shape {out.shape}, got {array.shape}")
    np.copyto(out, array, "unsafe")
    if array.dtype != out.dtype and np.count_nonzero(out != array):
        row = int(np.flatnonzero(out != array)[0])
        raise ValueError(f"actions[{row}]: {array[row]} is no action")
