"""Ratings of policies, agents of the server and weights by a round robin: the numbers of ``agents ladder``."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats.arguments import positive
from ..formats.opponents import Player
from ..formats.optional import needs
from ..formats.seeding import check_seed, derive_seed
from ..transport.address import Tls
from ..vector.env import BlockVectorEnv
from ..vector.surface import asked
from .evaluate import Match
from .intervals import Estimate
from .standings import Evaluation

_SCALE = math.log(10) / 400  # turns Elo into the exponent of the logistic function


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

    def __str__(self) -> str:
        head = ("place", "player", "games", "wins", "draws", "losses", "score", "Elo", "95 % interval")
        rows: list[tuple[str, ...]] = [head]
        for k, p in enumerate(self.players):
            e, counts = p.elo, (p.games, p.wins, p.draws, p.losses)
            shown = (f"{100 * p.score:.1f} %", f"{e.value:+.0f}", f"{e.low:+.0f} to {e.high:+.0f}")
            rows.append((str(k + 1), p.name, *map(str, counts), *shown))
        widths = [2 + max(map(len, column)) for column in zip(*rows, strict=True)]
        lines = ["".join(cell.rjust(width) for cell, width in zip(row, widths, strict=True)) for row in rows]
        return "\n".join([f"{self.game}, seed {self.seed}: {self.games} games", "", *lines])

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


def ladder(
    players: Mapping[str, Player | os.PathLike[str]],
    *,
    game: str | BlockVectorEnv,
    games: int = 40,
    seed: int = 1,
    num_envs: int = 128,
    packed: bool = False,
    address: str | None = None,
    token: str | None = None,
    tls: Tls = None,
    timeout: float = 300.0,
) -> Ladder:
    """Rate players by a round robin of a game of two seats.

    Every two players meet in pairs of games on the same seed with the seats swapped. The ratings are those that make
    all results most likely. Games and numbers are those of ``agents ladder`` with the same agents and ``--seed``; only
    agents that choose at random draw other numbers.

    Args:
        players: by name: a policy, as in :func:`blockyard.evaluate`; a spec of the server, such as ``"hand:ply=1"``; or
            a file of weights as a ``Path``, which plays as ``learned:ply=1``.
        game: id of the game; or an environment, whose game, packing and server are used.
        games: number of games of every two players, even.
        seed: of the ladder.
        num_envs, packed, address, token, tls, timeout: as in :func:`blockyard.evaluate`.

    Raises:
        RequestError, UnknownGameError: the server does not know a spec or the game.
        TypeError, ValueError: an argument is malformed, or a policy returned an action that is not legal.
    """
    if not isinstance(players, Mapping):
        raise TypeError(f"players: want a dict such as {{'mine': policy, 'random': 'random'}}, got {players!r:.100}")
    if positive("games", games) % 2 or len(players) < 2:
        raise ValueError(
            f"ladder: {len(players)} players, {games} games: want at least two, and an even number of games"
        )
    chosen = {
        name: f'learned:ply=1,weights="{os.fspath(one)}"' if isinstance(one, os.PathLike) else one
        for name, one in players.items()
    }
    if not isinstance(game, str):
        packed = game.packed
    with asked(game, address, token=token, tls=tls, timeout=timeout) as (client, spec):
        if not spec.min_seats <= 2 <= spec.max_seats:
            raise ValueError(f"ladder: {spec.name} has no game of two seats")
        seeds = [derive_seed(derive_seed(check_seed(seed), i), 0) for i in range(games // 2)]
        meetings = []
        for a, b in combinations(chosen, 2):
            units = Match(chosen[a], chosen[b], spec.name, seeds, 2, None, None, packed, client).play(num_envs)
            won = [g.won for unit in units for g in unit]
            meetings.append((a, b, won.count(1), won.count(0), won.count(-1)))
    return Ladder(spec.name, seed, len(meetings) * games, _standings(list(chosen), meetings), tuple(meetings))


def _standings(names: Sequence[str], meetings: Sequence[tuple[str, str, int, int, int]]) -> tuple[Standing, ...]:
    n = len(names)
    counts, games = np.zeros((n, 3), np.int64), np.zeros((n, n))
    for a, b, wins, draws, losses in meetings:
        i, j = names.index(a), names.index(b)
        counts[i] += [wins, draws, losses]
        counts[j] += [losses, draws, wins]
        games[[i, j], [j, i]] += wins + draws + losses
    score = counts[:, 0] + counts[:, 1] / 2
    elo = ratings(games, score)
    standings = [
        Standing(name, sum(c), c[0], c[1], c[2], points / max(sum(c), 1), e)
        for name, c, points, e in zip(names, counts.tolist(), score.tolist(), elo, strict=True)
    ]
    return tuple(sorted(standings, key=lambda s: (-s.elo.value, -s.score)))


def ratings(games: NDArray[np.float64], score: NDArray[np.float64]) -> list[Estimate]:
    """Return the ratings that make results most likely, relative to their mean, with 95 % intervals.

    Every two players count as if they had drawn once more, shared among all, so that a rating is finite.

    Args:
        games: (n, n), symmetric: the number of games of every two players.
        score: (n,), the points of each: wins and half the draws.
    """
    n = len(score)
    prior = 1 / max(n - 1, 1)
    games = games + prior * ~np.eye(n, dtype=np.bool_)
    score, elo = score + (n - 1) * prior / 2, np.zeros(n)
    for _ in range(500):
        change = 0.0
        for i in range(n):
            e = 1 / (1 + np.exp(-_SCALE * (elo[i] - elo)))
            slope = float(games[i] @ (e * (1 - e))) * _SCALE
            if slope > 0:
                step = max(-200.0, min(200.0, float(score[i] - games[i] @ e) / slope))
                elo[i] += step
                change = max(change, abs(step))
        elo -= elo.mean()
        if change < 1e-6:
            break
    elo = np.round(elo, 3) + 0  # what the last steps left over decides no tie
    e = 1 / (1 + np.exp(-_SCALE * (elo[:, None] - elo)))
    weight = games * e * (1 - e) * _SCALE**2
    curvature = np.diag(weight.sum(axis=1)) - weight
    unit = np.trace(curvature) / n**2  # ratings are determined up to a constant: this fixes their mean
    variance = np.diag(np.linalg.inv(curvature + unit)) - 1 / (unit * n**2)
    half = 1.96 * np.sqrt(np.maximum(variance, 0))
    return [Estimate(*map(float, (v, v - h, v + h))) for v, h in zip(elo, half, strict=True)]
