"""Results of the bursts: rates, ratios within rounds, and whether the aims were met."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
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


def ratios(a: Entrant, b: Entrant, of: str) -> list[float]:
    """Return the speed of a relative to b, ratio by ratio of the rounds; none if one of them was not measured.

    of is ``"wall"`` or ``"cpu"``.
    """
    if a.error or b.error:
        return []
    pairs = zip(getattr(a, of), getattr(b, of), strict=False)
    return [(theirs / b.envs) / (ours / a.envs) for ours, theirs in pairs]


def ratio(a: Entrant, b: Entrant, of: str) -> float | None:
    """Return the speed of a relative to b, the median over the rounds; None if one of them was not measured."""
    rounds = ratios(a, b, of)
    return median(rounds) if rounds else None


def spread(values: Sequence[float]) -> tuple[float, float] | None:
    """Return the quartiles of values; None if there are none."""
    return (quantile(values, 0.25), quantile(values, 0.75)) if values else None


@dataclass(frozen=True)
class Verdict:
    """Whether an aim was met.

    Attributes:
        aim: in words.
        what: the two entrants that are compared, or the one whose microseconds are.
        want: the smallest value that meets the aim, or with most the largest; None if there is no aim.
        wall: ratio of wall-clock times, or microseconds of them.
        cpu: the same of CPU times, which decide; None for round trips.
        met: whether the aim was met; None if something was not measured, or there is no aim.
        us: microseconds per step of the reference, if there is one, and of the entrant: CPU time or a round trip's.
        error: why something was not measured.
        most: whether want is the largest value.
        spread: quartiles over the rounds of what decides.
    """

    aim: str
    what: str
    want: float | None
    wall: float | None
    cpu: float | None
    met: bool | None
    us: tuple[float | None, float] | None
    error: str | None
    most: bool = False
    spread: tuple[float, float] | None = None


def verdicts(by_key: dict[str, Entrant], games: Sequence[str], top: int) -> list[Verdict]:
    """Return every aim and whether it was met."""
    said = []

    def compare(aim: str, want: float | None, a: str, b: str, times: float = 1.0, beside: str = "") -> None:
        """Compare a with b; with beside, with what b and that one take together."""
        if not {a, b, beside or b} <= by_key.keys():
            return
        one, other = by_key[a], by_key[b]
        if beside:
            other = _together(other, by_key[beside])
        wall, cpu = (None if r is None else r * times for r in (ratio(one, other, "wall"), ratio(one, other, "cpu")))
        us = None if cpu is None else (median(other.cpu) * 1e6, median(one.cpu) * 1e6)
        met = None if cpu is None or want is None else cpu >= want
        rounds = spread([r * times for r in ratios(one, other, "cpu")])
        said.append(Verdict(aim, _pair(one, other), want, wall, cpu, met, us, _error(one, other), spread=rounds))

    for game in games:
        aim, names = "socket, 0.85 of in process and a bare socket", ("socket, buffer", "in process", "bare socket")
        a, b, beside = (key(game, name, top) for name in names)
        compare(aim, 0.85, a, b, beside=beside)
    for road, want, aim in (
        ("shm, buffer", 0.97, "shared memory, 0.97 of in process"),
        ("inproc, buffer", 0.97, "the library, 0.97 of in process"),
    ):
        for game in games:
            compare(aim, want, key(game, road, top), key(game, "in process", top))
    for game in games:
        aim = "a single environment in the library, 5 times the socket"
        compare(aim, 5, key(game, "inproc, single", 1), key(game, "socket, single", 1))
    for road, most in (("inproc, single", 12.0), ("inproc, into", 2.5)):
        for game in games:
            if (e := by_key.get(key(game, road, 1))) is not None:
                said.append(_absolute(e, most))
    null = "null game over the socket, 0.80 of the bare socket"
    compare(null, 0.80, key("null", "null, socket", top), key("null", "bare socket", top))
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
    for side, name in (("envpool", "tetris"), ("pufferlib", "keys")):
        compare("one game beside a native Tetris", None, key(SOLO, "inproc, into", 1), key(side, name, 1))
    return said + _trips(by_key, games)


def _together(a: Entrant, b: Entrant) -> Entrant:
    """Return what two entrants of as many games would take one after the other, round by round."""
    wall, cpu = ([x + y for x, y in zip(*pair, strict=False)] for pair in ((a.wall, b.wall), (a.cpu, b.cpu)))
    return replace(a, label=f"{a.label} and {b.label}", wall=wall, cpu=cpu, error=a.error or b.error)


def _absolute(e: Entrant, most: float) -> Verdict:
    """Return how many microseconds a step may take."""
    aim, what = f"a step of one game, at most {most:g} microseconds", f"{e.label}, N={e.options['envs']}"
    if e.error or not e.cpu:
        return Verdict(aim, what, most, None, None, None, None, _error(e) or "no burst was measured", True)
    wall, cpu = median(e.wall) * 1e6, median(e.cpu) * 1e6
    rounds = spread([1e6 * v for v in e.cpu])
    return Verdict(aim, what, most, wall, cpu, cpu <= most, (None, cpu), None, True, rounds)


def _pair(one: Entrant, other: Entrant) -> str:
    return f"{one.label}, N={one.options['envs']} : {other.label}, N={other.options['envs']}"


def _error(*some: Entrant) -> str | None:
    return next((f"{e.label}: {e.error}" for e in some if e.error), None)


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
            slower, us, error, rounds = None, None, _error(one, other), []
            if one.trip and other.trip and error is None:
                rounds = [a / b for a, b in zip(one.trip, other.trip, strict=False)]
                slower = median(rounds)
                us = (median(other.trip) * 1e6, median(one.trip) * 1e6)
            aim, met = "round trip of one game (p50), at most 1.35 times a bare socket's", None
            if slower is not None:
                met = slower <= 1.35
            said.append(Verdict(aim, _pair(one, other), 1.35, slower, None, met, us, error, True, spread(rounds)))
    return said
