"""How well a pool is used: occupancy, and who waits for whom."""

from __future__ import annotations

import time
from typing import Any

import numpy as np
from numpy.typing import NDArray


class PoolClock:
    """Measures a pool from its first send on."""

    def __init__(self, games: int) -> None:
        self._games = games
        self._sent_at = np.zeros(games)
        self._begun = self._last = self._recv_begun = 0.0
        self._waited = self._area = self._latency = self._longest = 0.0
        self._steps = self._batches = 0

    def _advance(self, flying: int) -> float:
        """Count the time since the last event, in which this many games were in flight; return the time now."""
        now = time.perf_counter()
        if self._begun:
            self._area += flying * (now - self._last)
        self._last = now
        return now

    def sent(self, games: NDArray[Any], flying: int) -> None:
        """Note that games are sent, while others were in flight."""
        now = self._advance(flying)
        self._begun = self._begun or now
        self._sent_at[games] = now

    def waiting(self, flying: int) -> None:
        """Note that recv begins."""
        self._recv_begun = self._advance(flying)

    def waited(self, flying: int) -> None:
        """Note that recv ends."""
        now = self._advance(flying)
        if self._begun:
            self._waited += now - self._recv_begun
            self._batches += 1

    def received(self, games: NDArray[Any]) -> None:
        """Note that the server returned games."""
        took = time.perf_counter() - self._sent_at[games]
        self._steps += len(games)
        self._latency += float(took.sum())
        self._longest = max(self._longest, float(took.max()))

    def stats(self, flying: int, busy: float, workers: int) -> dict[str, float]:
        """Return the statistics; busy: seconds of work of all workers together."""
        now = self._advance(flying)
        total = now - self._begun if self._begun else 0.0
        return {
            "steps": self._steps,
            "batches": self._batches,
            "occupancy": _share(self._area, total * self._games),
            "wait": _share(self._waited, total),
            "latency_s": _share(self._latency, self._steps),
            "latency_max_s": self._longest,
            "workers": workers,
            "busy": _share(busy, total * workers),
        }


def _share(part: float, whole: float) -> float:
    return part / whole if whole else 0.0
