"""Interleaved bursts (A B C A B C), so that other load on the machine affects all entrants alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from statistics import median
from typing import Any, Protocol

from .workers import WorkerError


class Asked(Protocol):
    """What answers the requests of worker.py: a Worker, or something in this process."""

    def ask(self, **request: Any) -> dict[str, Any]:
        """Return the answer to a request, or raise WorkerError."""


@dataclass
class Entrant:
    """One thing that is measured, and its measurements.

    Attributes:
        key: its unique name.
        group: the section of the table that it belongs to.
        label: its name in the table.
        side: the worker that steps it.
        name: its name in the worker's adapter.
        options: for the adapter.
        trips: whether to time single steps too.
        envs: environment steps per step.
        rows: observations per step.
        size: bytes per step.
        about: facts for the reader of the table, by name.
        steps: steps per burst.
        wall: wall-clock seconds per step, one number per burst.
        cpu: CPU seconds per step of all processes, one number per burst.
        trip: median seconds of single steps, one number per burst.
        error: why it was not measured; None if it was.
    """

    key: str
    group: str
    label: str
    side: str
    name: str
    options: dict[str, Any]
    trips: bool = False
    envs: float = 0
    rows: int = 0
    size: int = 0
    about: dict[str, Any] = field(default_factory=dict)
    steps: int = 0
    wall: list[float] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)
    trip: list[float] = field(default_factory=list)
    error: str | None = None


_TRIPS = 200
_MOST_STEPS = 1 << 16


@contextmanager
def kept(e: Entrant) -> Iterator[None]:
    """Keep the error of an entrant that fails."""
    try:
        yield
    except WorkerError as error:
        e.error = str(error)


def open_all(
    entrants: list[Entrant],
    workers: Mapping[str, Asked],
    with_lengths: Callable[[Entrant], dict[str, Any]] = lambda e: e.options,
) -> Iterator[Entrant]:
    """Open every entrant in its worker, and yield each.

    with_lengths returns the options of an entrant that is ``like`` another one, which is open by then.
    """
    for ident, e in enumerate(entrants):
        with kept(e):
            if e.error is None:
                e.options = with_lengths(e)
                answer = workers[e.side].ask(do="open", id=ident, name=e.name, options=e.options)
                e.envs, e.rows, e.size, e.about = answer["envs"], answer["rows"], answer["size"], answer["about"]
        yield e


def calibrate(entrants: list[Entrant], workers: Mapping[str, Asked], seconds: float) -> Iterator[Entrant]:
    """Find how many steps of each entrant take this many seconds, which also warms it up; yield each."""
    for ident, e in enumerate(entrants):
        steps = 2
        with kept(e):
            while e.error is None and not e.steps:
                answer = workers[e.side].ask(do="burst", id=ident, steps=steps)
                if answer["wall"] >= seconds / 3 or steps >= _MOST_STEPS:
                    each = max(answer["wall"] / answer["steps"], 1e-9)
                    e.steps = max(2, min(_MOST_STEPS, round(seconds / each)))
                steps = min(_MOST_STEPS, 4 * steps)
        yield e


def race(
    entrants: list[Entrant],
    workers: Mapping[str, Asked],
    rounds: int,
    seed: int,
    tick: Callable[[], object] = lambda: None,
) -> None:
    """Measure one burst of every entrant in every round, in an order that is shuffled for each round.

    An entrant that fails keeps the error and is skipped from then on.
    """
    order, turns = random.Random(seed), list(enumerate(entrants))
    for _ in range(rounds):
        order.shuffle(turns)
        for ident, e in turns:
            with kept(e):
                if e.error is None:
                    answer = workers[e.side].ask(do="burst", id=ident, steps=e.steps)
                    e.wall.append(answer["wall"] / answer["steps"])
                    e.cpu.append(answer["cpu"] / answer["steps"])
                    if e.trips:
                        e.trip.append(median(workers[e.side].ask(do="trips", id=ident, steps=_TRIPS)["wall"]))
            tick()
