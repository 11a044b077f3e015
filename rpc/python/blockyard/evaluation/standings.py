"""The results of :func:`blockyard.evaluate`, as the server reports them: the words and numbers of ``agents arena``."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..transport.session import Session


class Estimate(NamedTuple):
    """A number with its 95 % confidence interval, from low to high."""

    value: float
    low: float
    high: float

    @classmethod
    def of(cls, report: Mapping[str, float]) -> Estimate:
        """Return the value and the interval that a report has, as floats."""
        return cls(*(float(report[k]) for k in ("value", "low", "high")))


class Game(NamedTuple):
    """The end of one game."""

    results: tuple[float, ...]  # of each seat, 1 for a win, -1 for a loss
    scores: tuple[int, ...]  # of each seat, in points of the contest
    steps: int  # actions of the policy
    ended: bool  # by itself; False if a limit stopped it


class Evaluation:
    """The result of :func:`blockyard.evaluate` or :func:`blockyard.ladder`. Printed, it is a table."""

    _text = ""

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes by name, to be written as JSON."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]

    def __str__(self) -> str:
        return self._text

    def __repr__(self) -> str:
        return str(self)


E = TypeVar("E", bound=Evaluation)


def worded(result: E, text: str) -> E:
    """Return a result that prints as this text."""
    object.__setattr__(result, "_text", text.rstrip())
    return result


def report(
    client: Session, game: str, players: Sequence[str], seed: int, units: Sequence[Sequence[Game]], **more: Any
) -> tuple[dict[str, Any], str]:
    """Ask the server what games come to; return the report of ``agents/JSON.md`` and its text.

    Args:
        client: a session.
        game: name of the game.
        players: their names.
        seed: of the games.
        units: games with the same seed: in game k, one player has seat k and another one all others.
        more: further options of the method, such as ``between``.
    """
    flat = [g for unit in units for g in unit]
    options = {"players": list(players), "seed": seed, "seats": len(units[0]), **more}
    options["scores"] = np.array([g.scores for g in flat], "<i4").tobytes()
    options["results"] = np.array([g.results for g in flat], "<f4").tobytes()
    if options["seats"] == 1:
        options["actions"] = np.array([g.steps for g in flat], "<u4").tobytes()
        options["stopped"] = np.array([not g.ended for g in flat], "|u1").tobytes()
    answer = client.connection.call("report", game, options)
    return json.loads(answer["report"]), str(answer["text"])


@dataclass(frozen=True, repr=False)
class TwoPlayerEvaluation(Evaluation):
    """A policy against an opponent, in pairs of games with the same seed and the seats swapped.

    Attributes:
        game: name of the game.
        a: name of the policy.
        b: spec of the opponent.
        seed: seed of the evaluation.
        games: number of games; wins, draws and losses of the policy add up to it.
        score: wins and half the draws, as a fraction of games.
        low, high: its 95 % interval; the pairs are the samples.
        elo: the rating difference that belongs to the score; finite, because games show no larger difference.
        elo_low, elo_high: its 95 % interval.
        pairs: number of pairs in which the policy won 0, ½, 1, 1½ and 2 points.
    """

    game: str
    a: str
    b: str
    seed: int
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    low: float
    high: float
    elo: float
    elo_low: float
    elo_high: float
    pairs: tuple[int, ...]

    @classmethod
    def of(cls, report: Mapping[str, Any]) -> TwoPlayerEvaluation:
        """Return the evaluation that a report of pairs is."""
        m = report["meetings"][0]
        counts = m["wins"], m["draws"], m["losses"]
        numbers = *Estimate.of(m["score"]), *Estimate.of(m["elo"])
        seed, pairs = int(report["seed"]), tuple(m["pairs"])
        return cls(report["game"], m["a"], m["b"], seed, report["games"], *counts, *numbers, pairs)


@dataclass(frozen=True, repr=False)
class MultiPlayerEvaluation(Evaluation):
    """A policy among several seats of an opponent, in sets of games in which it has every seat once.

    The rank of a seat is 1 plus the number of seats with a higher score.

    Attributes:
        game: name of the game.
        a: name of the policy.
        b: spec of the opponent of all other seats.
        seats: seats of each game.
        seed: seed of the evaluation.
        sets: number of sets.
        games: number of games.
        first: games in which no seat had a higher score than the policy.
        mean_rank: of the policy; 1 is the best.
        low, high: its 95 % interval; the sets are the samples.
        others_mean_rank: over the seats of the opponent.
        mean_points, others_mean_points: scores per game, in points of the contest.
    """

    game: str
    a: str
    b: str
    seats: int
    seed: int
    sets: int
    games: int
    first: int
    mean_rank: float
    low: float
    high: float
    others_mean_rank: float
    mean_points: float
    others_mean_points: float

    @classmethod
    def of(cls, report: Mapping[str, Any]) -> MultiPlayerEvaluation:
        """Return the evaluation that a report of sets is."""
        a, b = report["players"]
        counts = report["seats"], int(report["seed"]), report["units"], report["games"], a["first"]
        means = (Estimate.of(e).value for e in (b["mean_rank"], a["points"]["mean"], b["points"]["mean"]))
        return cls(report["game"], a["name"], b["name"], *counts, *Estimate.of(a["mean_rank"]), *means)


@dataclass(frozen=True, repr=False)
class SinglePlayerEvaluation(Evaluation):
    """A policy in a game of one seat, on one seed per game.

    Attributes:
        game: name of the game.
        a: name of the policy.
        seed: seed of the evaluation.
        games: number of games.
        cap: score at which a game was stopped; 0 for no limit.
        steps: actions after which a game was stopped; 0 for no limit.
        mean: score per game with its 95 % interval; a stopped game counts with its score so far.
        median, worst, best: of the scores.
        ended: games that ended by themselves.
        stopped: games that cap or steps stopped.
        total: score of all games together.
        per_end: total over ended with its 95 % interval, as if a game were equally likely to end at any time:
            compare it instead of the mean if games were stopped. If no game ended, value is a lower bound at 95 %.
        choices: actions in all games together.
    """

    game: str
    a: str
    seed: int
    games: int
    cap: int
    steps: int
    mean: Estimate
    median: float
    worst: int
    best: int
    ended: int
    stopped: int
    total: int
    per_end: Estimate
    choices: int

    @classmethod
    def of(cls, report: Mapping[str, Any]) -> SinglePlayerEvaluation:
        """Return the evaluation that a report of single games is."""
        a, limits, games = report["players"][0], report.get("settings", {}), report["games"]
        points, stopped = a["points"], a.get("ends", {}).get("limit", 0)
        cap, steps = int(limits.get("cap", 0)), int(limits.get("steps", 0))
        mean, per_end = Estimate.of(points["mean"]), Estimate.of(points["per_end"])
        return cls(
            report["game"], a["name"], int(report["seed"]), games, cap, steps, mean, float(points["median"]),
            points["worst"], points["best"], games - stopped, stopped, points["total"], per_end, a.get("turns", 0),
        )  # fmt: skip
