"""Replacing opponents some of which are policies of this program, and the results against each."""

from __future__ import annotations

from ..errors import RequestError
from ..formats.opponents import Lineup, Opponents, OpponentStats
from .mixtures import Curriculum, Mixtures
from .policies import PolicyGames
from .requests import Requests
from .tables import Table


class PolicyOpponents:
    """Replaces the opponents of games, names them, and counts results; as :class:`OpponentSeats`.

    Attributes:
        user, lineup, policy: as there.
    """

    def __init__(self, requests: Requests, games: PolicyGames) -> None:
        self._requests, self._games, self._seating = requests, games, games.seating
        self.user, self.lineup, self.policy = object(), Lineup(), None
        self._name(self._seating.draws)

    def _name(self, draws: Mixtures | Curriculum) -> None:
        """Give all players of mixtures numbers, in their order."""
        seating = self._seating
        if isinstance(draws, Mixtures):
            for mixture in draws.by_seat.values():
                for player in mixture:
                    seating.number_of(player if isinstance(player, str) else seating.policies.name(player))
        else:
            for rung in draws.rungs:
                seating.number_of(rung)
        for table in seating.order:
            seating.number(table)

    @property
    def specs(self) -> tuple[str, ...]:
        """The opponents so far."""
        return tuple(self._seating.handle.opponents)

    def set(self, opponents: Opponents) -> None:
        """Replace opponents; see :meth:`BlockVectorEnv.set_opponents`."""
        self._requests.check("set_opponents")
        seating = self._seating
        others = [seat for seat in range(seating.handle.seats) if seat not in seating.handle.players]
        draws = seating.mixtures(opponents, seating.spec, seating.handle.seats, others)
        if isinstance(draws, Mixtures):
            old = seating.draws.by_seat if isinstance(seating.draws, Mixtures) else {}
            if wrong := sorted(set(draws.by_seat) - set(others)):
                raise RequestError(f"set_opponents: you drive seat {wrong[0]}, want opponents for some of {others}")
            draws = Mixtures({**old, **draws.by_seat})
            if missing := sorted(set(others) - set(draws.by_seat)):
                raise ValueError(f"set_opponents: after a curriculum, want opponents for all seats, not for {missing}")
        elif isinstance(seating.draws, Curriculum):
            draws = seating.draws
        before, changed = seating.draws, list[tuple[Table, Lineup]]()
        seating.draws = draws
        try:
            for key in draws.keys:
                by_seat, _ = draws.server(key)
                if key in seating.tables and by_seat and isinstance(draws, Mixtures):
                    table = seating.table(key)
                    changed.append((table, table.opponents.lineup))
                    table.opponents.set(by_seat)
                seating.table(key)
        except BaseException:
            seating.draws = before
            for table, lineup in changed:
                for part in table.transport.parts:
                    part.call("set_opponents", lineup.wire)
                table.opponents.lineup = lineup
            raise
        for table, _ in changed:  # games that wait there have the opponents of before
            table.used[seating.live != seating.order.index(table)] = True
        self._name(draws)

    def stats(self, reset: bool = False) -> dict[str, OpponentStats]:
        """Return the results against each opponent; see :meth:`BlockVectorEnv.opponent_stats`."""
        self._requests.check("opponent_stats")
        out = {name: OpponentStats() for name in self.specs}
        for table in self._seating.order:
            for name, stats in table.opponents.stats(reset).items():
                out[name] += stats
        for number, counts in self._games.counts.items():
            if number < len(self.specs):
                out[self.specs[number]] += OpponentStats(*counts.tolist())
        if reset:
            self._games.counts.clear()
        return out

    def send_policy(self, policy: str) -> str:
        """Refuse a rollout."""
        raise RequestError("rollout: the server cannot ask the policies of this program; call step")

    def keep_weights(self) -> None:
        """Do nothing: each table keeps its own."""

    def close(self) -> None:
        """Do nothing: each table drops its own weights."""
