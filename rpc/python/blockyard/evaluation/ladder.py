"""Ratings of policies, agents of the server and weights by a round robin: the numbers of ``agents ladder``."""

from __future__ import annotations

import os
from collections.abc import Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np

from ..formats.arguments import positive
from ..formats.opponents import Player
from ..formats.optional import needs
from ..formats.seeding import check_seed, derive_seed
from ..transport.address import Tls
from ..vector.env import BlockVectorEnv
from ..vector.surface import asked
from .evaluate import Match
from .standings import Estimate, Evaluation, Game, report, worded


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
        players = (
            Standing(
                p["name"], p["games"], p["wins"], p["draws"], p["losses"], float(p["score"]), Estimate.of(p["elo"])
            )
            for p in report["players"]
        )
        meetings = (tuple(m[k] for k in ("a", "b", "wins", "draws", "losses")) for m in report["meetings"])
        return cls(report["game"], int(report["seed"]), report["games"], tuple(players), tuple(meetings))

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
        units: list[list[Game]] = []
        for a, b in combinations(chosen.values(), 2):
            units += Match(a, b, spec.name, seeds, 2, None, None, packed, client).play(num_envs)
        between = np.array(list(combinations(range(len(chosen)), 2)), "<u2").repeat(len(seeds), 0).tobytes()
        data, text = report(client, spec.name, list(chosen), seed, units, between=between)
    return worded(Ladder.of(data), text)
