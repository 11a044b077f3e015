"""Results of the bursts: rates, ratios within rounds, and whether the aims were met."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import median
from typing import Any

from .plan import KEYS, SOLO, key
from .race import Entrant


def quantile(values: Sequence[float], q: float) -> float:
    """Return the q-quantile of values, with linear interpolation."""
    ordered = sorted(values)
    at = q * (len(ordered) - 1)
    low = int(at)
    high = min(low + 1, len(ordered) - 1)
    return ordered[low] + (ordered[high] - ordered[low]) * (at - low)


def row(e: Entrant) -> dict[str, Any]:
    """Return the results of an entrant, as JSON."""
    said: dict[str, Any] = {"key": e.key, "group": e.group, "label": e.label, "n": e.options["envs"]}
    if e.error is not None or not e.wall:
        return said | {"error": e.error or "no burst was measured"}
    wall, cpu = median(e.wall), median(e.cpu)
    said |= {
        "env_steps_per_s": e.envs / wall,
        "env_steps_per_s_quartiles": [e.envs / quantile(e.wall, q) for q in (0.75, 0.25)],
        "env_steps_per_core_s": e.envs / cpu,
        "us_per_step": wall * 1e6,
        "cpu_us_per_step": cpu * 1e6,
        "rows_per_step": e.rows,
        "bytes_per_step": e.size,
        "steps_per_burst": e.steps,
        "bursts": len(e.wall),
        "about": e.about,
        "each_burst_us": {"wall": _micro(e.wall), "cpu": _micro(e.cpu)},
    }
    if e.trip:
        said["round_trip_us"] = {"median": median(e.trip) * 1e6, "quiet": quantile(e.trip, 0.25) * 1e6}
    return said


def _micro(values: Sequence[float]) -> list[float]:
    return [round(v * 1e6, 3) for v in values]


def ratio(a: Entrant, b: Entrant, of: str) -> float | None:
    """Return the speed of a relative to b: the median over the rounds of the ratio within each round.

    of is ``"wall"`` or ``"cpu"``. None if one of them was not measured.
    """
    if a.error or b.error:
        return None
    pairs = zip(getattr(a, of), getattr(b, of), strict=False)
    rounds = [(theirs / b.envs) / (ours / a.envs) for ours, theirs in pairs]
    return median(rounds) if rounds else None


@dataclass(frozen=True)
class Verdict:
    """Whether an aim was met.

    Attributes:
        aim: in words.
        what: the two entrants that are compared.
        want: the smallest ratio that meets the aim; for round trips, the largest.
        wall: ratio of wall-clock times.
        cpu: ratio of CPU times, which decides; None for round trips.
        met: whether the aim was met; None if something was not measured.
        us: microseconds per step of the reference and of the entrant, CPU time or a round trip's.
        error: why something was not measured.
    """

    aim: str
    what: str
    want: float
    wall: float | None
    cpu: float | None
    met: bool | None
    us: tuple[float, float] | None
    error: str | None


def verdicts(by_key: dict[str, Entrant], games: Sequence[str], top: int) -> list[Verdict]:
    """Return every aim and whether it was met."""
    said = []

    def compare(aim: str, want: float, a: str, b: str, times: float = 1.0) -> None:
        if a not in by_key or b not in by_key:
            return
        one, other = by_key[a], by_key[b]
        wall, cpu = (None if r is None else r * times for r in (ratio(one, other, "wall"), ratio(one, other, "cpu")))
        us = None if cpu is None else (median(other.cpu) * 1e6, median(one.cpu) * 1e6)
        met = None if cpu is None else cpu >= want
        said.append(Verdict(aim, _pair(one, other), want, wall, cpu, met, us, _error(one, other)))

    for road, want, aim in (
        ("socket, buffer", 0.85, "socket, 0.85 of in process"),
        ("shm, buffer", 0.97, "shared memory, 0.97 of in process"),
        ("inproc, buffer", 0.97, "the library, 0.97 of in process"),
    ):
        for game in games:
            compare(aim, want, key(game, road, top), key(game, "in process", top))
    for game in games:
        aim = "a single environment in the library, 5 times the socket"
        compare(aim, 5, key(game, "inproc, single", 1), key(game, "socket, single", 1))
    null = "null game over the socket, 0.90 of the bare socket"
    compare(null, 0.90, key("null", "null, socket", top), key("null", "bare socket", top))
    for side, aim in (
        ("tetris-gymnasium", "10 times a Python Tetris in SyncVectorEnv"),
        ("envpool", "3 times a native Tetris"),
        ("jumanji", "3 times a native Tetris"),
    ):
        if fastest := _fastest(by_key, side):
            compare(aim, 10 if side == "tetris-gymnasium" else 3, key(SOLO, "shm", top), fastest)
    if fastest := _fastest(by_key, "pufferlib"):
        compare("3 times PufferLib's Tetris, both by keys", 3, key(KEYS, "shm", top), fastest)
        keys = by_key[fastest].about.get("steps_per_piece", 1.0)
        compare(f"the same in pieces placed, {keys:.1f} keys each", 3, key(SOLO, "shm", top), fastest, keys)
    return said + _trips(by_key, games)


def _pair(one: Entrant, other: Entrant) -> str:
    return f"{one.label}, N={one.options['envs']} : {other.label}, N={other.options['envs']}"


def _error(one: Entrant, other: Entrant) -> str | None:
    return next((f"{e.label}: {e.error}" for e in (one, other) if e.error), None)


def _fastest(by_key: dict[str, Entrant], side: str) -> str | None:
    """Return the key of the fastest Tetris of this side by CPU time; if none was measured, of any."""
    best = [
        (median(e.cpu) / e.envs if e.cpu and not e.error else math.inf, e.key)
        for e in by_key.values()
        if e.side == side and "Tetris" in e.label + e.side.title()
    ]
    return min(best)[1] if best else None


def _trips(by_key: dict[str, Entrant], games: Sequence[str]) -> list[Verdict]:
    """Return the round trips of one game, relative to those of a bare socket with as many bytes."""
    said = []
    for road in ("shm", "socket"):
        for game in games:
            one, other = by_key.get(key(game, road, 1)), by_key.get(key(game, "bare socket", 1))
            if one is None or other is None:
                continue
            slower, us, error = None, None, _error(one, other)
            if one.trip and other.trip and error is None:
                slower = median(a / b for a, b in zip(one.trip, other.trip, strict=False))
                us = (median(other.trip) * 1e6, median(one.trip) * 1e6)
            aim, met = "round trip of one game (p50), at most 1.35 times a bare socket's", None
            if slower is not None:
                met = slower <= 1.35
            said.append(Verdict(aim, _pair(one, other), 1.35, slower, None, met, us, error))
    return said
