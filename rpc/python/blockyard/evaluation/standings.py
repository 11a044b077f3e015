"""The results of :func:`blockyard.evaluate`: the words and numbers of ``agents arena``."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from .intervals import Estimate, elo, mean, mean_within, per_event


class Game(NamedTuple):
    """The end of one game from the view of the policy."""

    seat: int  # the policy's
    results: tuple[float, ...]  # of each seat, 1 for a win, -1 for a loss
    scores: tuple[int, ...]  # of each seat, in points of the contest
    steps: int  # actions of the policy
    ended: bool  # by itself; False if a limit stopped it

    @property
    def won(self) -> int:
        """In a game of two seats: 1 for a win of the policy, 0 for a draw, -1 for a loss."""
        return int(np.sign(self.results[self.seat] - self.results[1 - self.seat]))


class Evaluation:
    """The result of :func:`blockyard.evaluate` or :func:`blockyard.ladder`. Printed, it is a table."""

    def as_dict(self) -> dict[str, Any]:
        """Return the attributes by name, to be written as JSON."""
        return asdict(self)  # type: ignore[call-overload, no-any-return]

    def __repr__(self) -> str:
        return str(self)


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
    def of(cls, game: str, a: str, b: str, seed: int, units: Sequence[Sequence[Game]]) -> TwoPlayerEvaluation:
        """Return the evaluation of pairs of games with the same seed, in which a and b change seats."""
        halves = [[1 + g.won for g in pair] for pair in units]
        flat = [h for pair in halves for h in pair]
        pairs = tuple(sum(sum(pair) == k for pair in halves) for k in range(5))
        score, low, high = mean_within([sum(pair) / 4 for pair in halves], 0, 1)
        ratings = elo(score, len(flat)), elo(low, len(flat)), elo(high, len(flat))
        wins, draws, losses = (flat.count(k) for k in (2, 1, 0))
        return cls(game, a, b, seed, len(flat), wins, draws, losses, score, low, high, *ratings, pairs)

    def __str__(self) -> str:
        p = self.pairs
        return (
            f"{self.game}: {self.a} against {self.b}, seed {self.seed}\n"
            f"games   {self.games}: {self.wins} wins, {self.draws} draws, {self.losses} losses\n"
            f"pairs   {p[0]} lost, {p[1]} at ½, {p[2]} at 1, {p[3]} at 1½, {p[4]} won\n"
            f"score   {100 * self.score:.2f} %, 95 % interval {100 * self.low:.2f} to {100 * self.high:.2f}\n"
            f"Elo     {self.elo:+.0f}, 95 % interval {self.elo_low:+.0f} to {self.elo_high:+.0f}"
        )


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
    def of(cls, game: str, a: str, b: str, seed: int, units: Sequence[Sequence[Game]]) -> MultiPlayerEvaluation:
        """Return the evaluation of sets of games with the same seed, in which a has each seat once."""
        seats = len(units[0])
        flat = [g for unit in units for g in unit]
        scores = np.array([g.scores for g in flat])
        ranks = 1 + (scores[:, None, :] > scores[:, :, None]).sum(axis=2)
        own = np.zeros(scores.shape, np.bool_)
        own[np.arange(len(flat)), [g.seat for g in flat]] = True
        samples = ranks[own].reshape(-1, seats).mean(axis=1)
        rank, low, high = mean_within(samples.tolist(), 1, seats)
        first = int((ranks[own] == 1).sum())
        means = [float(x.mean()) for x in (ranks[~own], scores[own], scores[~own])]
        return cls(game, a, b, seats, seed, len(units), len(flat), first, rank, low, high, *means)

    def __str__(self) -> str:
        return (
            f"{self.game} for {self.seats}: one {self.a} among {self.b}, seed {self.seed}\n"
            f"games   {self.games} in {self.sets} sets, first in {self.first}\n"
            f"rank    {self.mean_rank:.3f}, 95 % interval {self.low:.3f} to {self.high:.3f}; "
            f"the others {self.others_mean_rank:.3f}\n"
            f"points  {self.mean_points:.2f}; the others {self.others_mean_points:.2f}"
        )


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
    def of(
        cls, game: str, a: str, seed: int, units: Sequence[Sequence[Game]], cap: int, steps: int
    ) -> SinglePlayerEvaluation:
        """Return the evaluation of single games, stopped at a score of cap or after so many steps."""
        games = [unit[0] for unit in units]
        scores = [g.scores[0] for g in games]
        ended, total = sum(g.ended for g in games), sum(scores)
        return cls(
            game, a, seed, len(games), cap, steps, mean(scores), float(np.median(scores)), min(scores), max(scores),
            ended, len(games) - ended, total, per_event(total, ended), sum(g.steps for g in games),
        )  # fmt: skip

    def __str__(self) -> str:
        m, d = self.mean, self.per_end
        limits = f", stopped at score {self.cap}" if self.cap else ""
        limits += f", stopped after {self.steps} choices" if self.steps else ""
        per = f"none in a score of {self.total}: above {d.low:.0f} at 95 %"
        if self.ended:
            per = f"score {d.value:.0f}, 95 % interval {d.low:.0f} to {d.high:.0f}, as if an end came at any time alike"
        return (
            f"{self.game}: {self.a}, seed {self.seed}, {self.games} games{limits}\n{self.a}\n"
            f"  score     mean {m.value:.1f}, 95 % interval {m.low:.1f} to {m.high:.1f}; "
            f"median {self.median:.1f}, worst {self.worst}, best {self.best}\n"
            f"  games     {self.ended} ended, {self.stopped} stopped; {self.choices} choices\n"
            f"  per end   {per}"
        )
