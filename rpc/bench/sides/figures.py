"""Results of the bursts: rates, ratios within rounds, and whether the aims were met."""

from __future__ import annotations

import math
import statistics
from collections.abc import Sequence
from dataclasses import dataclass, replace
from statistics import median
from typing import Any

from .plan import ENV_IDS, KEYS, SOLO, key
from .race import Entrant


def quartiles(values: Sequence[float]) -> tuple[float, float, float]:
    """Return the quartiles of values, the median as the second, with linear interpolation."""
    low, middle, high = statistics.quantiles(values if len(values) > 1 else [*values] * 2, n=4, method="inclusive")
    return low, middle, high


def row(e: Entrant) -> dict[str, Any]:
    """Return the results of an entrant, as JSON."""
    said: dict[str, Any] = {"key": e.key, "group": e.group, "label": e.label, "n": e.options["envs"]}
    if e.error is not None or not e.wall:
        return said | {"error": e.error or "no burst was measured"}
    (low, wall, high), cpu = quartiles(e.wall), median(e.cpu)
    said |= {
        "env_steps_per_s": e.envs / wall,
        "env_steps_per_s_quartiles": [e.envs / high, e.envs / low],
        "env_steps_per_core_s": e.envs / cpu,
        "us_per_step": wall * 1e6,
        "cpu_us_per_step": cpu * 1e6,
        "bytes_per_step": e.size,
        "steps_per_burst": e.steps,
        "about": e.about,
        "each_burst_us": {of: [round(v * 1e6, 3) for v in some] for of, some in (("wall", e.wall), ("cpu", e.cpu))},
    }
    if e.trip:
        said["round_trip_us"] = {"median": median(e.trip) * 1e6, "quiet": quartiles(e.trip)[0] * 1e6}
    return said


def ratios(a: Entrant, b: Entrant, of: str) -> list[float]:
    """Return the speed of a relative to b, ratio by ratio of the rounds; none if one of them was not measured.

    of is ``"wall"``, ``"cpu"`` or ``"trip"``.
    """
    if a.error or b.error:
        return []
    pairs = zip(getattr(a, of), getattr(b, of), strict=False)
    return [(theirs / b.envs) / (ours / a.envs) for ours, theirs in pairs]


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
    us: tuple[float | None, float | None] | None
    error: str | None
    most: bool
    spread: tuple[float, float] | None


def judge(
    what: str,
    want: float | None,
    wall: Sequence[float],
    cpu: Sequence[float],
    times: Sequence[Sequence[float]],
    error: str | None = None,
    most: bool = False,
    aim: str = "",
) -> Verdict:
    """Return the verdict on the rounds of a measurement; times are microseconds of the reference and of the entrant."""
    if not (cpu or wall):
        return Verdict(aim, what, want, None, None, None, None, error or "no burst was measured", most, None)
    low, value, high = quartiles(cpu or wall)
    met = None if want is None else value <= want if most else value >= want
    middle = [median(some) if some else None for some in (wall, cpu)]
    before, now = (median(some) if some else None for some in times)
    return Verdict(aim, what, want, middle[0], middle[1], met, (before, now), error, most, (low, high))


def micro(seconds: Sequence[float]) -> list[float]:
    """Return seconds as microseconds."""
    return [1e6 * value for value in seconds]


def verdicts(by_key: dict[str, Entrant], games: Sequence[str], top: int) -> list[Verdict]:
    """Return every aim and whether it was met."""
    said: list[Verdict] = []

    def compare(aim: str, want: float | None, a: str, b: str, times: float = 1.0, beside: str = "") -> None:
        """Compare a with b; with beside, with what b and that one take together."""
        if {a, b, beside or b} <= by_key.keys():
            one, other = by_key[a], by_key[b]
            other = _together(other, by_key[beside]) if beside else other
            wall, cpu = ([r * times for r in ratios(one, other, of)] for of in ("wall", "cpu"))
            us = micro(other.cpu), micro(one.cpu)
            said.append(judge(_pair(one, other), want, wall, cpu, us, _error(one, other), aim=aim))

    for game in games:
        a, b, beside = (key(game, road, top) for road in ("socket, buffer", "in process", "bare socket"))
        compare("socket, 0.85 of in process and a bare socket", 0.85, a, b, beside=beside)
    for road, name in (("shm", "shared memory"), ("inproc", "the library")):
        for game in games:
            a, b = key(game, f"{road}, buffer", top), key(game, "in process", top)
            compare(f"{name}, 0.97 of in process", 0.97, a, b)
    for game in games:
        aim = "a single environment in the library, 5 times the socket"
        compare(aim, 5, key(game, "inproc, single", 1), key(game, "socket, single", 1))
    for e in (by_key[k] for game in games if (k := key(game, "inproc, single", 1)) in by_key):
        wall, cpu = ([], []) if e.error else (micro(e.wall), micro(e.cpu))
        aim = "a step of one game, at most 12 microseconds"
        said.append(judge(f"{e.label}, N=1", 12, wall, cpu, ([], cpu), _error(e), True, aim))
    null = "null game over the socket, 0.80 of the bare socket"
    compare(null, 0.80, key("null", "null, socket", top), key("null", "bare socket", top))
    solo = key(SOLO, "shm", top)
    compare("10 times a Python Tetris in SyncVectorEnv", 10, solo, _fastest(by_key, "tetris-gymnasium"))
    for side in ("envpool", "jumanji"):
        compare("3 times a native Tetris", 3, solo, _fastest(by_key, side))
    if fastest := _fastest(by_key, "pufferlib"):
        compare("3 times PufferLib's Tetris, both by keys", 3, key(KEYS, "shm", top), fastest)
        keys = by_key[fastest].about.get("steps_per_piece", 1.0)
        compare(f"the same in pieces placed, {keys:.1f} keys each", 3, solo, fastest, keys)
    for side, name in (("envpool", "tetris"), ("pufferlib", "keys")):
        compare("one game beside a native Tetris", None, key(SOLO, "inproc, into", 1), key(side, name, 1))
    for n in sorted({e.options["envs"] for e in by_key.values()}):
        for road in ("shm", "socket"):
            aim = "what a transport leaves of the steps in process"
            compare(aim, None, key(ENV_IDS[0], road, n), key(ENV_IDS[0], "in process", n))
    for road in ("shm", "socket"):
        for a, b in ((key(game, road, 1), key(game, "bare socket", 1)) for game in games):
            if {a, b} <= by_key.keys():
                one, other = by_key[a], by_key[b]
                aim = "round trip of one game (p50), at most 1.35 times a bare socket's, both with a pause before"
                slower = [1 / r for r in ratios(one, other, "trip")]
                us = micro(other.trip), micro(one.trip)
                said.append(judge(_pair(one, other), 1.35, slower, [], us, _error(one, other), True, aim))
    return said


def _together(a: Entrant, b: Entrant) -> Entrant:
    """Return what two entrants of as many games would take one after the other, round by round."""
    wall, cpu = ([x + y for x, y in zip(*pair, strict=False)] for pair in ((a.wall, b.wall), (a.cpu, b.cpu)))
    return replace(a, label=f"{a.label} and {b.label}", wall=wall, cpu=cpu, error=a.error or b.error)


def _pair(one: Entrant, other: Entrant) -> str:
    return f"{one.label}, N={one.options['envs']} : {other.label}, N={other.options['envs']}"


def _error(*some: Entrant) -> str | None:
    return next((f"{e.label}: {e.error}" for e in some if e.error), None)


def _fastest(by_key: dict[str, Entrant], side: str) -> str:
    """Return the key of the fastest entrant of this side by CPU time; if none was measured, of any."""
    some = [e for e in by_key.values() if e.side == side]
    best = [(median(e.cpu) / e.envs if e.cpu and not e.error else math.inf, e.key) for e in some]
    return min(best, default=(0, ""))[1]
