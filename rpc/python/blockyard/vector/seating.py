"""Which table each game is played at: opening tables, drawing who plays the next episode, and beginning it."""

from __future__ import annotations

import dataclasses
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ..errors import OpponentError
from ..formats.opponents import CURRICULUM, BySeat, Opponents, Player, Policy, name_of, opponents_by_seat, rungs
from ..formats.spec import GameSpec
from ..transport.over_socket import SocketTransport
from .batch import Batch
from .mixtures import Curriculum, Draws, Mixtures, checked, restored
from .opening import Opening
from .opponents import OpponentSeats
from .options import Options
from .tables import NOBODY, Key, Table, numbers_of, trainer_handle

_TRIES = 100  # episodes in a row that may end before the trainer acts
_SAVED = ("live", "who", "episodes", "lengths", "over")  # arrays that a checkpoint keeps
Ids = NDArray[np.intp]
Moves = list[tuple[Table, Ids, NDArray[np.uint16]]]  # the actions of all rows of some games of a table


class Seating:
    """The tables of an environment with policies as opponents, and who sits where in each game.

    Each episode is played at one of several tables: handles of the server with as many games, which differ in the seats
    that policies play. A game that is not played at a table waits there at the beginning of an episode.

    Attributes:
        draws: what plays the next episodes.
        handle: the layout of the trainer's rows, and the names of all opponents so far.
        policies: those that have been opponents, each with a name of its own.
        opened: called with each table that is opened later.
        broken: moves have been made, and what a step returns is not known yet.
        live: which table each game is played at.
        who: the policy in each seat by its number.
        roots: the seed of each game.
        episodes: draws of each game since it was seeded.
        lengths: steps of the episode.
        over: the episode has ended, and was not reset.
    """

    spec: GameSpec
    draws: Draws

    def __init__(self, game: str, count: int, options: Options, plain: Table | None = None) -> None:
        """Open the tables; or take over plain, the games that an environment without policies has played."""
        if options.rows != "seat":
            raise ValueError('rows="acting": policies and a curriculum need a row for each seat; leave it out')
        if options.heal:
            raise ValueError("heal: games against policies or in a curriculum cannot be repeated; leave it out")
        self._game, self.count, self.options = game, count, options
        self.policies = dict[str, Policy]()
        self.tables, self._specs = list[Table](), set[str]()
        self.opened: Callable[[Table], object] | None = None
        self.same_step, self._began = options.mode is AutoresetMode.SAME_STEP, False
        self.broken = False
        first = plain or self._open(None)
        self.tables.append(first)
        self.handle = trainer_handle(first, options)
        seats = self.handle.seats
        self.live = np.zeros(count, np.intp)
        self.who = np.full((count, seats), NOBODY, np.uint16)
        self.roots = [0] * count
        self.episodes, self.lengths = np.zeros(count, np.int64), np.zeros(count, "<u4")
        self.over = np.zeros(count, np.bool_)
        self._start = np.zeros(seats, "<i4")  # points at the beginning of a game
        if plain is None:
            for key in self.draws.keys:
                self.table(key)

    @classmethod
    def of(
        cls, game: str, options: Options, batch: Batch, transport: SocketTransport, opponents: OpponentSeats
    ) -> Seating:
        """Take over the games that an environment without policies has played so far."""
        table, games = Table((), transport, opponents, (), batch.shared_final), np.arange(batch.num_games)
        table.used[:] = True
        seating = cls(game, batch.num_games, options, table)
        seating.spec = batch.spec
        weights = {s: {m: 1.0} if isinstance(m, str) else dict(m) for s, m in opponents.lineup.wire.items()}
        seating.draws = Mixtures(weights)
        if batch.memory is not None:
            none = np.zeros(0, np.uint32)
            transport.clone(table.memory, none, none, {})  # changes nothing and returns all positions
            states = transport.states(games.astype("<u4"))
            seating.take_place(games, 0, states)
            seating._began = True
            seating.roots, seating.episodes = numbers_of(states)[0].tolist(), table.episodes.copy()
        return seating

    # -- tables -----------------------------------------------------------------------

    def mixtures(self, opponents: Opponents, spec: GameSpec, seats: int, others: Sequence[int]) -> Draws:
        """Return what plays episodes with these opponents; others are the seats that a single one is for."""
        if opponents == CURRICULUM:
            return Curriculum(rungs(spec.id), list(others), np.zeros(self.count, np.int64))
        mixtures = Mixtures(opponents_by_seat(opponents, seats, others))
        self._specs.update(player for player in mixtures.players if isinstance(player, str))
        if same := sorted(self._specs & self.policies.keys()):
            raise ValueError(f"opponents: {same[0]!r} is a policy and a spec; give the policy another name, as .name")
        return mixtures

    def _open(self, key: Key | None) -> Table:
        """Open a table; by default the first, whose draws are those of the options."""

        def choose(spec: GameSpec, seats: int) -> BySeat:
            nonlocal key
            if key is None:
                self.spec, self.draws = spec, self.mixtures(self.options.opponents, spec, seats, range(1, seats))
                key = next(iter(self.draws.keys))
            by_seat, policies = self.draws.server(key)
            opening.needs_mask = bool(policies)
            driven = [seat for seat in range(seats) if seat not in by_seat]
            own = [seat for seat in driven if seat not in policies]
            if (limit := options.max_episode_steps) and spec.turn == "alternating":
                # A step of the trainer takes the moves of policies too.
                before = sum(seat < own[0] for seat in policies)
                opening.wire["max_episode_steps"] = -(-limit * len(driven) // len(own)) + before
            return by_seat

        mode = AutoresetMode.SAME_STEP if self.same_step else AutoresetMode.DISABLED
        options = dataclasses.replace(self.options, autoreset_mode=mode, reward="result")
        if self.tables and len(self.tables[0].transport.parts) == 1:
            options = dataclasses.replace(options, client=self.tables[0].transport.client, address=None)
        opening = Opening(self._game, options, choose)
        transport = opening.transport(self.count)
        assert key is not None
        try:
            shared = transport.share_final() if self.same_step and transport.name == "shm" else None
            opponents = OpponentSeats(transport, self.spec.name, opening.lineup, opening.user)
            return Table(key, transport, opponents, self.draws.server(key)[1], shared)
        except BaseException:
            transport.close(options.client is None)
            raise

    def known(self, key: Key) -> Table | None:
        """Return a table; None if it is not open."""
        return next((table for table in self.tables if table.key == key), None)

    def table(self, key: Key) -> Table:
        """Return a table, which is opened if it is new."""
        if (table := self.known(key)) is None:
            table = self._open(key)
            self.tables.append(table)
            self.number(table)
            if self.opened is not None:
                self.opened(table)
            if self._began:
                table.reset({"seeds": np.array(self.roots, "<u8").tobytes()})
        return table

    def number(self, table: Table) -> None:
        """Give the opponents of a table numbers."""
        table.numbers = np.array([self.number_of(name) for name in table.opponents.specs], np.uint16)

    def name(self, policy: Policy) -> str:
        """Return the name of a policy, with a number if another one or a spec has it."""
        for name, known in self.policies.items():
            if known is policy:
                return name
        first = name_of(policy)
        names = itertools.chain([first], (f"{first}#{k}" for k in itertools.count(2)))
        name = next(name for name in names if name not in self.policies and name not in self._specs)
        self.policies[name] = policy
        return name

    def number_of(self, player: Player) -> int:
        """Return the number of an opponent, which may be new."""
        name = player if isinstance(player, str) else self.name(player)
        if name not in self.handle.opponents:
            self.handle.opponents.append(name)
        return self.handle.opponents.index(name)

    def split(self, games: Ids) -> Iterator[tuple[Table, Ids]]:
        """Split games by the tables at which they are played."""
        live = self.live[games]
        for k, table in enumerate(self.tables):
            if len(mine := games[live == k]):
                yield table, mine

    @property
    def place(self) -> NDArray[np.int64] | None:
        """The rung of each game in the curriculum, int64 (games,); None without one."""
        return self.draws.place if isinstance(self.draws, Curriculum) else None

    # -- episodes -----------------------------------------------------------------------

    def reset(self, request: dict[str, Any]) -> None:
        """Begin new episodes as a request to ``reset`` says."""
        chosen = np.frombuffer(request["mask"], np.bool_) if "mask" in request else np.ones(self.count, np.bool_)
        self._began = True
        games = np.flatnonzero(chosen)
        if "seed" in request or "seeds" in request:
            for table in self.tables:
                table.reset(request)
            seeds = np.frombuffer(request["seeds"], "<u8").tolist() if "seeds" in request else None
            for game in games.tolist():
                self.roots[game] = seeds[game] if seeds else (request["seed"] + self.options.first + game) % (1 << 64)
            self.episodes[games] = 0
            self._start[:] = self.tables[0].memory.score[games[0]]
        else:
            self.episodes[games] += 1
            for table, mine in self.split(games):
                table.used[mine] = True
        self.begin(games)

    def begin(self, games: Ids) -> None:
        """Begin an episode of games, up to the first choice of the trainer."""
        for _ in range(_TRIES):
            for game in games.tolist():
                key, policies = self.draws.draw(game, self.roots[game], int(self.episodes[game]))
                self.live[game] = self.tables.index(self.table(key))
                self.who[game] = NOBODY
                for seat, policy in policies.items():
                    self.who[game, seat] = self.number_of(policy)
            for table, mine in self.split(games):
                table.memory.score[mine] = self._start
                stale = np.zeros(self.count, np.bool_)
                stale[mine] = table.used[mine]
                if stale.any():
                    table.reset({"mask": stale.tobytes()})
                if table.policies.any():
                    for game in mine.tolist():
                        sitting = enumerate(self.who[game].tolist())
                        table.remember(game, {s: self.handle.opponents[n] for s, n in sitting if n != NOBODY})
            self.over[games], self.lengths[games] = False, 0
            moves = self.play(games[~self.trainer_acts(games)], None)
            games = np.concatenate([np.zeros(0, np.intp), *(mine[table.over[mine]] for table, mine in moves)])
            self.ended(games)
            if not len(games):
                return
            self.episodes[games] += 1
        raise OpponentError(f"{_TRIES} episodes in a row ended before the trainer could act")

    def play(self, games: Ids, own: NDArray[np.uint16] | None) -> Iterator[tuple[Table, Ids]]:
        """Move in games until they are over or the trainer acts; yield the games of each move that was made.

        The trainer's own actions, (games, rows), are part of the first moves.
        """
        while len(games):
            moves, own = self._ask(games, own), None
            self.broken = True
            for wait in [table.send(mine, actions) for table, mine, actions in moves]:
                wait()
            over = np.zeros(self.count, np.bool_)
            for table, mine, _ in moves:
                over[mine] = table.over[mine]
                yield table, mine
            games = games[~over[games]]
            games = games[~self.trainer_acts(games)]

    def ended(self, games: Ids) -> None:
        """Note that the episodes of games have ended: with SAME_STEP the server has begun the next."""
        if self.same_step:
            for table, mine in self.split(games):
                table.episodes[mine] += 1
                table.used[mine] = False

    def trainer_acts(self, games: Ids) -> NDArray[np.bool_]:
        """Whether a seat of the trainer acts now: bool (len(games),)."""
        acts = np.zeros(self.count, np.bool_)
        for table, mine in self.split(games):
            acts[mine] = table.acting[mine][:, table.columns].any(axis=1)
        return acts[games]

    def _ask(self, games: Ids, own: NDArray[np.uint16] | None) -> Moves:
        """Return the next moves in games: of the policies, each called once, and of the trainer."""
        moves, calls = Moves(), dict[int, list[tuple[Table, Ids, NDArray[np.uint16], NDArray[np.bool_]]]]()
        for table, mine in self.split(games):
            actions = np.zeros((len(mine), table.rows), "<u2")
            if own is not None:
                actions[:, table.columns] = own[mine]
            moves.append((table, mine, actions))
            if not table.policies.any():
                continue
            need = table.acting[mine] & table.policies
            numbers = self.who[mine][:, table.seats]
            for number in np.unique(numbers[need]).tolist():
                where = need & (numbers == number)
                calls.setdefault(number, []).append((table, table.rows_of(mine)[where], actions, where))
        for number, places in calls.items():
            name = self.handle.opponents[number]
            seen = [{k: a[rows] for k, a in t.memory.observation().items()} for t, rows, _, _ in places]
            obs = {k: np.concatenate([one[k] for one in seen]) for k in seen[0]} if len(seen) > 1 else seen[0]
            bits = np.concatenate([t.memory.packed_masks()[rows] for t, rows, _, _ in places])
            mask = np.unpackbits(bits, axis=1, count=self.spec.actions, bitorder="little").view(np.bool_)
            chosen, at = checked(self.policies[name](obs, mask), mask, f"opponent {name!r}"), 0
            for _, rows, actions, where in places:
                actions[where] = chosen[at : at + len(rows)]
                at += len(rows)
        return moves

    def take_place(self, games: Ids, k: int, states: NDArray[np.uint8]) -> None:
        """Note that games are played at table k now, in positions of these states."""
        table = self.tables[k]
        _, table.episodes[games], self.lengths[games] = numbers_of(states)
        table.used[games], self.live[games] = True, k
        self.over[games] = table.over[games]
        for game in games.tolist():
            for seat in range(self.handle.seats):
                if seat not in table.seats[table.policies]:
                    self.who[game, seat] = NOBODY
                elif self.who[game, seat] == NOBODY and isinstance(self.draws, Mixtures):
                    policy = self.draws.policy(seat, self.roots[game], int(self.episodes[game]))
                    self.who[game, seat] = self.number_of(policy)

    # -- checkpoints --------------------------------------------------------------------

    def saved(self) -> dict[str, Any]:
        """Return what a checkpoint keeps, except the games."""
        tables = [{"key": t.key, "used": t.used.tolist(), "episodes": t.episodes.tolist()} for t in self.tables]
        arrays = {name: getattr(self, name).tolist() for name in _SAVED}
        names = {"names": self.handle.opponents, "roots": [str(root) for root in self.roots]}
        return {"tables": tables, "draws": self.draws.saved(self.name), **arrays, **names}

    def resume(self, saved: dict[str, Any]) -> list[Table]:
        """Take over what :meth:`saved` returned; return the tables whose games continue."""
        others = [seat for seat in range(self.handle.seats) if seat not in self.handle.players]
        self.draws = restored(saved["draws"], self.policies, others, self.spec.id)
        self.roots, self._began = [int(root) for root in saved["roots"]], True
        out = [self.table(tuple(one["key"])) for one in saved["tables"]]
        for table, one in zip(out, saved["tables"], strict=True):
            table.used[:], table.episodes[:] = one["used"], one["episodes"]
        self.tables = [*out, *(table for table in self.tables if table not in out)]
        self.handle.opponents[:] = saved["names"]
        for name in _SAVED:
            getattr(self, name)[:] = saved[name]
        return out
