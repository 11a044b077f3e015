"""Results of :func:`blockyard.evaluate` and :func:`blockyard.ladder`: words and numbers are those of ``agents``."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, fields
from typing import Any, NamedTuple, TypeVar

import numpy as np

from ..errors import needs
from ..transport.session import Session


class Estimate(NamedTuple):
    """A number with its 95 % confidence interval, from low to high."""

    value: float
    low: float
    high: float


class Game(NamedTuple):
    """The end of one game."""

    results: tuple[float, ...]  # of each seat, 1 for a win, -1 for a loss
    scores: tuple[int, ...]  # of each seat, in points of the contest
    steps: int  # actions of the policy
    ended: bool  # by itself; False if a limit stopped it
    print: int  # equal for games that are move for move alike


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


T = TypeVar("T")
Units = list[list[Game]]


def read(kind: Callable[..., T], report: Mapping[str, Any], **named: Any) -> T:
    """Return a dataclass of what is named, and otherwise of what a report has under the names of its attributes."""
    entries, attributes = {**report, **named}, fields(kind)  # type: ignore[arg-type]
    return kind(**{f.name: _MADE_BY.get(str(f.type), tuple)(entries[f.name]) for f in attributes})


def _estimate(entry: Mapping[str, float]) -> Estimate:
    return Estimate(*(float(entry[key]) for key in Estimate._fields))


# What makes the attributes of each type; tuples are those that remain.
_MADE_BY: dict[str, Any] = {"str": str, "int": int, "float": float, "Estimate": _estimate}


def report(kind: Any, client: Session, game: str, players: list[str], seed: int, units: Units, **more: Any) -> Any:
    """Ask the server what games come to; return that, which prints as the server words it.

    Args:
        kind: class of the result.
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
    else:
        options["prints"] = np.array([g.print for g in flat], "<u8").tobytes()
    answer = client.connection.call("report", game, options)
    result = kind.of(json.loads(answer["report"]))
    object.__setattr__(result, "_text", answer["text"].rstrip())
    return result


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
        score, low, high = _estimate(m["score"])
        elo, elo_low, elo_high = _estimate(m["elo"])
        numbers = {"score": score, "low": low, "high": high, "elo": elo, "elo_low": elo_low, "elo_high": elo_high}
        return read(cls, m | report, **numbers)


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
        rank, low, high = _estimate(a["mean_rank"])
        ours, theirs, others = (e["value"] for e in (a["points"]["mean"], b["points"]["mean"], b["mean_rank"]))
        means = {"mean_rank": rank, "low": low, "high": high, "mean_points": ours, "others_mean_points": theirs}
        sets, first = report["units"], a["first"]
        return read(cls, report, a=a["name"], b=b["name"], sets=sets, first=first, others_mean_rank=others, **means)


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
        a, limits = report["players"][0], report.get("settings", {})
        stopped = a.get("ends", {}).get("limit", 0)
        ends = {"stopped": stopped, "ended": report["games"] - stopped, "choices": a.get("turns", 0)}
        limits = {name: limits.get(name, 0) for name in ("cap", "steps")}
        return read(cls, a["points"] | report, a=a["name"], **ends, **limits)


@dataclass(frozen=True)
class Standing:
    """How a player did against all others.

    Attributes:
        name: of the player.
        games, wins, draws, losses: their numbers.
        score: wins and half the draws, as a fraction of the games.
        elo: its rating relative to the mean of all players, with its 95 % interval.
    """

    name: str
    games: int
    wins: int
    draws: int
    losses: int
    score: float
    elo: Estimate


@dataclass(frozen=True, repr=False)
class Ladder(Evaluation):
    """The result of :func:`blockyard.ladder`. Printed, it is the table of ``agents ladder``.

    Attributes:
        game: name of the game.
        seed: of the ladder.
        games: number of games.
        players: their standings, the strongest first.
        meetings: of every two players: their names, and wins, draws and losses of the first.
    """

    game: str
    seed: int
    games: int
    players: tuple[Standing, ...]
    meetings: tuple[tuple[str, str, int, int, int], ...]

    @classmethod
    def of(cls, report: Mapping[str, Any]) -> Ladder:
        """Return the standings and meetings that a report of pairs has, in its order."""
        players = [read(Standing, player) for player in report["players"]]
        meetings = [tuple(m[key] for key in ("a", "b", "wins", "draws", "losses")) for m in report["meetings"]]
        return read(cls, report, players=players, meetings=meetings)

    def plot(self, ax: Any = None) -> Any:
        """Draw the ratings with their intervals, and return the axes; by default new ones. Needs matplotlib."""
        if ax is None:
            with needs("Ladder.plot", "matplotlib", "plot"):
                from matplotlib import pyplot
            ax = pyplot.subplots(figsize=(7, 0.8 + 0.3 * len(self.players)))[1]
        elo = [p.elo for p in self.players]
        spread = [[e.value - e.low for e in elo], [e.high - e.value for e in elo]]
        ax.errorbar([e.value for e in elo], range(len(elo)), xerr=spread, fmt="o", capsize=3)
        ax.set_yticks(range(len(elo)), [p.name for p in self.players])
        ax.invert_yaxis()
        ax.set_xlabel("Elo, 95 % interval")
        ax.set_title(f"{self.game}: {self.games} games")
        return ax
