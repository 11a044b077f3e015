"""Bursts in turns: A B C A B C, so that what disturbs the machine disturbs all alike."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from statistics import median
from typing import Any

from .crew import Worker, WorkerError


@dataclass
class Entrant:
    """One thing that is measured, and what was measured of it.

    Attributes:
        key: its name, unlike all others.
        group: the part of the table that it belongs to.
        label: what the table calls it.
        side: which worker steps it.
        name: what the worker's adapter calls it.
        options: for the adapter.
        trips: whether the times of single steps are taken too.
        envs: environment steps of a step.
        rows: observations of a step.
        size: bytes that a step shows.
        steps: steps of a burst.
        wall: wall seconds a step, a number a burst.
        cpu: processor seconds a step, of all processes, a number a burst.
        trip: seconds of the middle one of some single steps, a number a burst.
        error: why it was not measured.
    """

    key: str
    group: str
    label: str
    side: str
    name: str
    options: dict[str, Any]
    trips: bool = False
    envs: int = 0
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


def open_all(
    entrants: list[Entrant], crew: dict[str, Worker], with_lengths: Callable[[Entrant], dict[str, Any]]
) -> Iterator[Entrant]:
    """Open every entrant at its worker; one that cannot be keeps its error. Yields each.

    with_lengths gives the options of one that is ``like`` another, which is open by then.
    """
    for ident, e in enumerate(entrants):
        if e.error is None:
            try:
                if "like" in e.options:
                    e.options = with_lengths(e)
                told = crew[e.side].ask(do="open", id=ident, name=e.name, options=e.options)
                e.envs, e.rows, e.size, e.about = told["envs"], told["rows"], told["size"], told["about"]
            except WorkerError as error:
                e.error = str(error)
        yield e


def calibrate(entrants: list[Entrant], crew: dict[str, Worker], seconds: float) -> Iterator[Entrant]:
    """Find how many steps of each take about so many seconds; that warms them up as well. Yields each."""
    for ident, e in enumerate(entrants):
        try:
            steps = 2
            while e.error is None:
                told = crew[e.side].ask(do="burst", id=ident, steps=steps)
                if told["wall"] >= seconds / 3 or steps >= _MOST_STEPS:
                    each = max(told["wall"] / told["steps"], 1e-9)
                    e.steps = max(2, min(_MOST_STEPS, round(seconds / each)))
                    break
                steps = min(_MOST_STEPS, 4 * steps)
        except WorkerError as error:
            e.error = str(error)
        yield e


def race(
    entrants: list[Entrant], crew: dict[str, Worker], rounds: int, seed: int, tick: Callable[[], object] = lambda: None
) -> None:
    """Let every entrant have a burst in every round, in an order that each round shuffles anew.

    An entrant that fails keeps its error and takes no further part.
    """
    order, turns = random.Random(seed), list(enumerate(entrants))
    for _ in range(rounds):
        order.shuffle(turns)
        for ident, e in turns:
            if e.error is None:
                try:
                    one_burst(e, ident, crew[e.side])
                except WorkerError as error:
                    e.error = str(error)
            tick()


def one_burst(e: Entrant, ident: int, worker: Worker) -> None:
    """Measure one burst of an entrant."""
    told = worker.ask(do="burst", id=ident, steps=e.steps)
    e.wall.append(told["wall"] / told["steps"])
    e.cpu.append(told["cpu"] / told["steps"])
    if e.trips:
        e.trip.append(median(worker.ask(do="trips", id=ident, steps=_TRIPS)["wall"]))
