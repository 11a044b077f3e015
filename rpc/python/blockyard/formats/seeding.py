"""Checks the seeds that users pass, and turns a reset into requests to the server."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .arguments import integer

Seed = int | Sequence[int | None] | None
_MASK = (1 << 64) - 1


def check_seed(seed: object, name: str = "seed") -> int:
    """Return a seed as an int, 0 <= seed < 2**64; name is the argument's, for the error."""
    if not 0 <= (value := integer(name, seed)) < 1 << 64:
        raise ValueError(f"{name}: want 0 <= seed < 2**64, got {value}")
    return value


def check_seeds(seed: Seed, games: int) -> int | list[int | None] | None:
    """Return a seed, or a list of seeds with one entry per game, after checking it."""
    if not isinstance(seed, (list, tuple, np.ndarray)):
        return None if seed is None else check_seed(seed)
    if len(seed) != games:
        raise ValueError(f"seed: got a list of {len(seed)} seeds for {games} games, want one seed per game")
    return [None if s is None else check_seed(s, f"seed[{i}]") for i, s in enumerate(seed)]


def fresh_seed() -> int:
    """Return a seed from the entropy of the operating system."""
    return int(np.random.SeedSequence().generate_state(1, np.uint64)[0])


def derive_seed(seed: int, i: int) -> int:
    """Return an independent seed for part i of something seeded with seed, as the server and ``agents`` do."""
    mixed = _mix(i + 1)
    return _mix(seed + (mixed << 17 | mixed >> 47))


def _mix(z: int) -> int:
    z &= _MASK
    z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9 & _MASK
    z = (z ^ z >> 27) * 0x94D049BB133111EB & _MASK
    return z ^ z >> 31


def reset_requests(
    seed: int | list[int | None] | None, chosen: NDArray[np.bool_], seeded: NDArray[np.bool_]
) -> list[dict[str, Any]]:
    """Return the options of the ``reset`` requests that together reset the chosen games, bool (games,).

    The seed is from :func:`check_seeds`. A game without one continues its own sequence if it was seeded before.
    """
    if seed is None:
        seed = [None] * len(chosen) if seeded.any() else fresh_seed()
    if isinstance(seed, int):
        return [{"seed": seed} | _only(chosen)]
    full = [fresh_seed() if s is None and not old else s for s, old in zip(seed, seeded, strict=True)]
    given = np.fromiter((s is not None for s in full), np.bool_, len(chosen)) & chosen
    requests: list[dict[str, Any]] = []
    if given.any():
        values = np.array([0 if s is None else s for s in full], "<u8")
        requests.append({"seeds": values.tobytes()} | _only(given))
    if (rest := chosen & ~given).any():
        requests.append(_only(rest))
    return requests


def _only(games: NDArray[np.bool_]) -> dict[str, Any]:
    return {} if games.all() else {"mask": games.tobytes()}
