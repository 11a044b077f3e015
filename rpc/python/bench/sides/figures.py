"""Results of the bursts: rates, ratios within rounds, and whether the aims were met."""

from __future__ import annotations

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
        want: the smallest ratio, or the largest time, that meets the aim.
        wall: ratio of wall-clock times, or a time in µs.
        cpu: ratio of CPU times.
        met: whether the aim was met; None if something was not measured.
    """

    aim: str
    what: str
    want: float
    wall: float | None
    cpu: float | None
    met: bool | None


def verdicts(by_key: dict[str, Entrant], games: Sequence[str], top: int) -> list[Verdict]:
    """Return every aim and whether it was met."""
    said = []

    def compare(aim: str, want: float, a: str, b: str, by: str = "wall", times: float = 1.0) -> None:
        if a not in by_key or b not in by_key:
            return
        one, other = by_key[a], by_key[b]
        wall, cpu = (None if r is None else r * times for r in (ratio(one, other, "wall"), ratio(one, other, "cpu")))
        decides = cpu if by == "cpu" else wall
        what = f"{one.label}, N={one.options['envs']} : {other.label}, N={other.options['envs']}"
        said.append(Verdict(aim, what, want, wall, cpu, None if decides is None else decides >= want))

    for road, want, aim in (
        ("socket, buffer", 0.80, "socket, synchronous, 0.80 of in process"),
        ("socket, two blocks", 0.90, "socket, double-buffered, 0.90 of in process"),
        ("shm, buffer", 0.97, "shared memory, synchronous, 0.97 of in process"),
        ("shm, two blocks", 0.97, "shared memory, double-buffered, 0.97 of in process"),
    ):
        for game in games:
            compare(aim, want, key(game, road, top), key(game, "in process", top))
    null = "null game over the socket, 0.90 of the bare socket"
    compare(null, 0.90, key("null", "null, socket", top), key("floor", "null", top))
    fastest = _fastest(by_key, ("tetris-gymnasium",), "wall")
    if fastest:
        compare("10 times a Python Tetris in SyncVectorEnv", 10, key(SOLO, "shm", top), fastest)
    for side in ("envpool", "pufferlib", "jumanji"):
        fastest = _fastest(by_key, (side,), "cpu")
        if fastest:
            compare("3 times a native Tetris, per core", 3, key(SOLO, "shm", top), fastest, "cpu")
        if fastest and side == "pufferlib":
            keys = by_key[fastest].about.get("steps_per_piece", 1.0)
            compare(f"the same in pieces placed, {keys:.1f} keys each", 3, key(SOLO, "shm", top), fastest, "cpu", keys)
            compare("the same, both by keys", 3, key(KEYS, "shm", top), fastest, "cpu")
    said += _trips(by_key, games)
    return said


def _fastest(by_key: dict[str, Entrant], sides: Sequence[str], of: str) -> str | None:
    """Return the key of the fastest Tetris of these sides."""
    best = [
        (median(getattr(e, of)) / e.envs, e.key)
        for e in by_key.values()
        if e.side in sides and e.wall and not e.error and "Tetris" in e.label + e.side.title()
    ]
    return min(best)[1] if best else None


def _trips(by_key: dict[str, Entrant], games: Sequence[str]) -> list[Verdict]:
    said = []
    for road in ("shm", "socket"):
        for game in games:
            e = by_key.get(key(game, road, 1))
            if e is not None:
                quiet = quantile(e.trip, 0.25) * 1e6 if e.trip and not e.error else None
                aim = "round trip of one game below 25 µs (p50, quiet quarter of the rounds)"
                said.append(Verdict(aim, e.label, 25, quiet, None, None if quiet is None else quiet < 25))
    return said
