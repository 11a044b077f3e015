"""Who plays the next episode of each game: policies of this program, the server's opponents, or the curriculum."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import CheckpointError
from ..formats.opponents import BySeat, Player, Policy, opponents_by_seat, rungs
from ..formats.seeding import derive_seed
from .tables import Key

_STREAM = 3 << 58  # of the draws of an episode, apart from the server's
GAMES_TO_MOVE = 10  # on a rung before a game leaves it
UP, DOWN = 0.6, 0.4  # share of the last games won


@dataclass
class Mixtures:
    """What plays each seat that has opponents, drawn for each episode from the seed of its game."""

    by_seat: BySeat  # weights by spec or policy

    def __post_init__(self) -> None:
        self._policies = {s: {p: w for p, w in m.items() if callable(p)} for s, m in self.by_seat.items()}
        self._specs = {s: {p: w for p, w in m.items() if not callable(p)} for s, m in self.by_seat.items()}

    @property
    def players(self) -> Iterable[Player]:
        """All that may play."""
        return itertools.chain(*self.by_seat.values())

    @property
    def keys(self) -> Iterator[Key]:
        """The tables that are needed."""
        seats = sorted(seat for seat, policies in self._policies.items() if policies)
        for played in itertools.product(*((False, True) if self._specs[seat] else (True,) for seat in seats)):
            yield tuple(itertools.compress(seats, played))

    def server(self, key: Key) -> tuple[BySeat, set[int]]:
        """Return the server's opponents at a table, and the seats of policies."""
        return {s: m for s, m in self._specs.items() if s not in key}, set(key)

    def draw(self, game: int, root: int, episode: int) -> tuple[Key, dict[int, Policy]]:
        """Return the table of an episode of a game with this seed, and the policy of each of its seats."""
        chosen = {}
        for seat, policies in self._policies.items():
            total, mine = sum(self.by_seat[seat].values()), sum(policies.values())
            if mine == total or (mine and _share(root, episode, seat, 0) * total < mine):
                chosen[seat] = self.policy(seat, root, episode)
        return tuple(sorted(chosen)), chosen

    def policy(self, seat: int, root: int, episode: int) -> Policy:
        """Return which of the policies of a seat plays an episode, if one does."""
        policies: dict[Policy, float] = self._policies[seat]
        if len(policies) > 1:
            at = _share(root, episode, seat, 1) * sum(policies.values())
            for policy, weight in policies.items():
                if at < weight:
                    return policy
                at -= weight
        return next(reversed(policies))

    def saved(self, name: Callable[[Policy], str]) -> dict[str, Any]:
        """Return what a checkpoint keeps; name returns the name of a policy."""
        return {
            "by_seat": {
                str(seat): [[name(p), w, True] if callable(p) else [p, w, False] for p, w in mixture.items()]
                for seat, mixture in self.by_seat.items()
            }
        }


def _share(root: int, episode: int, seat: int, draw: int) -> float:
    """Return a number from 0 to 1, 1 excluded, that is drawn for a seat in an episode."""
    return (derive_seed(derive_seed(root, _STREAM + episode), 2 * seat + draw) >> 11) * 2.0**-53


@dataclass
class Curriculum:
    """A rung of a ladder of opponents for each game, which goes up when it wins and down when it loses."""

    rungs: list[str]  # specs, the weakest first
    others: list[int]  # the seats that have opponents
    place: NDArray[np.int64]  # (games,), the rung of each game
    last: list[list[float]] = field(default_factory=list)  # by game: its last results on its rung

    def __post_init__(self) -> None:
        self.last = self.last or [[] for _ in self.place]

    @property
    def players(self) -> Iterable[Player]:
        """All that may play."""
        return self.rungs

    @property
    def keys(self) -> Iterator[Key]:
        """The tables that are needed now."""
        return ((-1, place) for place in sorted(set(self.place.tolist())))

    def server(self, key: Key) -> tuple[BySeat, set[int]]:
        """Return the server's opponents at a table, and the seats of policies: none."""
        return {seat: {self.rungs[key[1]]: 1.0} for seat in self.others}, set()

    def draw(self, game: int, root: int, episode: int) -> tuple[Key, dict[int, Policy]]:
        """Return the table of a game's next episode."""
        return (-1, int(self.place[game])), {}

    def ended(self, game: int, key: Key, result: float) -> None:
        """Move a game that has won enough of its last games, or too few; result is 1, 0 or -1 for the trainer."""
        place = int(self.place[game])
        if key != (-1, place):
            return
        last = self.last[game]
        last.append((1 + np.sign(result)) / 2)
        del last[:-GAMES_TO_MOVE]
        share = sum(last) / len(last)
        if len(last) == GAMES_TO_MOVE and not DOWN <= share < UP:
            to = min(max(place + (1 if share >= UP else -1), 0), len(self.rungs) - 1)
            self.place[game] = to
            if to != place:
                last.clear()

    def saved(self, name: Callable[[Policy], str]) -> dict[str, Any]:
        """Return what a checkpoint keeps."""
        return {"rungs": self.rungs, "others": self.others, "place": self.place.tolist(), "last": self.last}


Draws = Mixtures | Curriculum


def restored(saved: Mapping[str, Any], policies: Mapping[str, Policy], others: list[int], game: str) -> Draws:
    """Return what was saved of games in which the seats of others have opponents.

    Raise CheckpointError if it has a policy that is not among these, by its name, and ValueError if it does not fit.
    """
    if "rungs" in saved:
        draws = Curriculum(rungs(game), others, np.array(saved["place"], np.int64), saved["last"])
        if [saved["rungs"], saved["others"]] != [draws.rungs, others] or draws.place.max() >= len(draws.rungs):
            raise ValueError(f"rungs {saved['rungs']} for the seats {saved['others']}, want {draws.rungs} for {others}")
        return draws
    names = {name for mixture in saved["by_seat"].values() for name, _, policy in mixture if policy}
    if missing := sorted(names - policies.keys()):
        raise CheckpointError(
            f"the checkpoint has the opponents {missing}, policies that are not here: name them so, and pass them in "
            f"opponents=; here are {sorted(policies)}"
        )
    by_seat = {int(s): {policies[p] if policy else p: w for p, w, policy in m} for s, m in saved["by_seat"].items()}
    if sorted(by_seat) != others:
        raise ValueError(f"opponents of the seats {sorted(by_seat)}, want {others}")
    return Mixtures(opponents_by_seat(by_seat, 2 + max(others)))


def checked(answer: Any, mask: NDArray[np.bool_], who: str = "policy") -> NDArray[Any]:
    """Return what a policy answered as an array.

    Raise ValueError if these are not legal actions, one for each row.
    """
    actions: NDArray[Any] = np.asarray(answer.detach().cpu() if hasattr(answer, "detach") else answer)
    if actions.shape != (len(mask),) or actions.dtype.kind not in "iu":
        raise ValueError(
            f"{who}: it returned {actions.dtype} {actions.shape}, want one integer per row, ({len(mask)},)"
        )
    known = (actions >= 0) & (actions < mask.shape[1])
    legal = known & mask[np.arange(len(mask)), np.where(known, actions, 0)]
    if not legal.all():
        row = int(np.flatnonzero(~legal)[0])
        raise ValueError(
            f"{who}: it returned action {actions[row]} in row {row}, which is not legal: choose among the "
            f"{np.count_nonzero(mask[row])} actions for which mask[{row}] is True"
        )
    return actions
