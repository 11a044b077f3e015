"""Policies of this program as opponents: they answer inside a step, so that the trainer drives its own seats only."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ..errors import BadStateError, IllegalActionError, NeedsResetError, OpponentError, RequestError
from ..formats.opponents import Lineup, Opponents, OpponentStats
from ..transport.memory import StepMemory
from ..transport.over_socket import SocketTransport, T
from .mixtures import Curriculum, Draws, Mixtures
from .seating import Ids, Seating
from .tables import NOBODY, NamedRecords, Table

Finals = list[tuple[Ids, dict[str, Any]]]


class PolicyGames(SocketTransport):
    """Games in which policies of this program are opponents, as if the server played them.

    It moves their steps, as a transport, and replaces opponents, names them and counts results, as OpponentSeats.

    Attributes:
        seating: the games.
        counts: by number of a policy: wins, draws, losses and truncated episodes of the trainer against it.
    """

    def __init__(self, seating: Seating) -> None:
        super().__init__(seating.tables[0].transport.client, seating.handle)
        self.seating, self.name = seating, seating.tables[0].transport.name
        self.counts: dict[int, NDArray[np.int64]] = {}
        self._points = (seating.options.reward or seating.spec.reward) == "score"
        self._scores = np.zeros((seating.count, self.handle.seats), "<i4")
        self._sum = StepMemory(self.handle)  # what a step returns, summed up over the moves in it
        self._finals: dict[str, NDArray[Any]] = {}  # of the episodes that the last step ended
        self._number(seating.draws)

    # -- steps ------------------------------------------------------------------------

    def show(self, memory: StepMemory, method: str, *params: Any) -> None:
        request = params[-1]
        if "mask" in request:
            self._check()
        self.seating.broken = True  # until it is done
        self.seating.reset(request)
        self.write(memory)
        self.seating.broken = False

    def step(self, actions: NDArray[np.uint16], memory: StepMemory, games: Ids | None = None) -> None:
        """Step games, by default all, with the actions of all rows."""
        self._check()
        seating, own = self.seating, actions.reshape(self.seating.count, -1)
        games = np.arange(seating.count) if games is None else games
        waiting = games[seating.over[games]]
        if len(waiting) and seating.options.mode is AutoresetMode.DISABLED:
            text = f"step: the episodes of games {waiting[:9].tolist()} are over: call reset with a reset_mask of them"
            raise NeedsResetError(text, data={"envs": waiting[:64].tolist()})
        going = games[~seating.over[games]]
        self._refuse_illegal(going, own)
        for name in ("reward", "terminated", "truncated", "illegal"):
            if name in self._sum.arrays:
                self._sum.arrays[name][:] = 0
        self._sum.score[:] = self._scores
        finals: Finals = []
        for table, mine in seating.play(going, own):
            if (over := self._add(table, mine)).any():
                finals += table.finals(mine[over])
        seating.broken = True
        seating.lengths[going] += 1
        self._finish(finals, waiting)
        self.write(memory, stepped=True)
        seating.broken = False

    def _add(self, table: Table, games: Ids) -> NDArray[np.bool_]:
        """Add a move of games; return which of them it ended."""
        total, memory = self._sum, table.memory
        total.reward[games] += memory.reward[games]
        for name in ("score", "terminated", "truncated"):
            total.arrays[name][games] = memory.arrays[name][games]
        if total.illegal is not None and memory.illegal is not None:  # False of rows that wait
            count = self.seating.count
            total.illegal.reshape(count, -1)[games] |= memory.illegal.reshape(count, -1)[games][:, table.columns]
        return self._over[games]

    @property
    def _over(self) -> NDArray[np.bool_]:
        return self._sum.terminated | self._sum.truncated

    def _check(self) -> None:
        if self.seating.broken:
            raise OpponentError("a policy or the server has failed in the middle of a step: reset() all games")

    def _refuse_illegal(self, games: Ids, own: NDArray[np.uint16]) -> None:
        """With ``illegal="error"``, refuse illegal actions of the trainer; the server would name other rows."""
        if self.seating.options.illegal != "error":
            return
        for table, mine in self.seating.split(games):
            rows, chosen = table.rows_of(mine)[:, table.columns], own[mine]
            bits = table.memory.packed_masks()[rows, chosen >> 3] >> (chosen & 7).astype(np.uint8)
            wrong = table.acting[mine][:, table.columns] & (bits & 1 == 0)
            if wrong.any():
                k, row = np.argwhere(wrong)[0].tolist()
                game, action, at = int(mine[k]), int(chosen[k, row]), int(mine[k]) * own.shape[1] + row
                raise IllegalActionError(
                    f'illegal action {action} in row {at}, environment {game}: sample from infos["action_mask"], or '
                    'pass illegal="random"',
                    data={"row": at, "action": action, "envs": [game]},
                )

    def _finish(self, finals: Finals, waiting: Ids) -> None:
        """Count the episodes that ended, and begin those that a step begins; waiting were over before."""
        seating, self._finals = self.seating, {}
        if len(ended := np.flatnonzero(self._over)):
            self._note(ended, finals)
            seating.ended(ended)
            seating.over[ended] = not seating.same_step
        if len(begun := ended if seating.same_step else waiting):
            seating.episodes[begun] += 1
            seating.begin(begun)

    def _note(self, ended: Ids, finals: Finals) -> None:
        """Keep the final positions of games, and count their results."""
        seating, players, total = self.seating, self.handle.players, self._sum
        order = np.argsort(np.concatenate([games for games, _ in finals]))
        joined = {k: np.concatenate([one[k] for _, one in finals])[order] for k in finals[0][1]}
        sitting = seating.who[ended]
        joined["opponents"] = np.where(sitting != NOBODY, sitting, joined["opponents"])
        own = {"envs": ended.astype("<u4"), "scores": total.score[ended], "lengths": seating.lengths[ended]}
        self._finals = joined | own
        for game in ended.tolist():
            result = total.reward[game]
            if total.terminated[game] and isinstance(seating.draws, Curriculum):
                best = max(x for seat, x in enumerate(result) if seat not in players)
                key = seating.tables[seating.live[game]].key
                seating.draws.ended(game, key, float(np.sign(result[players[0]] - best)))
            for number, theirs in zip(seating.who[game].tolist(), result, strict=True):
                counts = self.counts.setdefault(number, np.zeros(4, np.int64))
                for mine in players if number != NOBODY else ():
                    how = 1 + int(result[mine] < theirs) - int(result[mine] > theirs)
                    counts[3 if total.truncated[game] else how] += 1

    def write(self, memory: StepMemory, stepped: bool = False) -> None:
        """Write the trainer's rows of all games to memory, and what a step returns, if there was one."""
        seating, total = self.seating, self._sum
        for table, mine in seating.split(np.arange(seating.count)):
            table.show(mine, memory)
            who = seating.who[mine]
            memory.arrays["opponent"][mine] = np.where(who != NOBODY, who, table.playing(mine))
        before, self._scores = self._scores, memory.score.copy()
        if stepped:
            memory.reward[:] = total.score - before if self._points else total.reward
            memory.score[self._over] = total.score[self._over]
            memory.terminated[:], memory.truncated[:] = total.terminated, total.truncated
            if memory.illegal is not None:
                memory.illegal[:] = total.illegal
            return
        memory.reward[:] = 0
        for flags in (memory.terminated, memory.truncated):
            flags &= seating.over
        if memory.illegal is not None:
            memory.illegal[:] = False

    # -- opponents ------------------------------------------------------------------------

    def _number(self, draws: Draws) -> None:
        """Give all who play in these draws numbers, in their order."""
        for player in draws.players:
            self.seating.number_of(player)
        for table in self.seating.tables:
            self.seating.number(table)

    @property
    def specs(self) -> tuple[str, ...]:
        """The opponents so far."""
        return tuple(self.handle.opponents)

    def set(self, opponents: Opponents) -> None:
        """Replace opponents; see :meth:`BlockVectorEnv.set_opponents`."""
        seating = self.seating
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
                if (table := seating.known(key)) is None:
                    seating.table(key)
                elif by_seat and isinstance(draws, Mixtures):
                    changed.append((table, table.opponents.lineup))
                    table.opponents.set(by_seat)
        except BaseException:
            seating.draws = before
            for table, lineup in changed:
                for part in table.transport.parts:
                    part.call("set_opponents", lineup.wire)
                table.opponents.lineup = lineup
            raise
        for table, _ in changed:  # games that wait there have the opponents of before
            table.used[seating.live != seating.tables.index(table)] = True
        self._number(draws)

    def stats(self, reset: bool = False) -> dict[str, OpponentStats]:
        """Return the results against each opponent; see :meth:`BlockVectorEnv.opponent_stats`."""
        out = {name: OpponentStats() for name in self.specs}
        for table in self.seating.tables:
            for name, stats in table.opponents.stats(reset).items():
                out[name] += stats
        for number, counts in self.counts.items():
            if number < len(self.specs):
                out[self.specs[number]] += OpponentStats(*counts.tolist())
        if reset:
            self.counts.clear()
        return out

    def send_policy(self, policy: str) -> str:
        """Refuse a rollout."""
        raise RequestError("rollout: the server cannot ask the policies of this program; call step")

    # -- the rest of a transport ----------------------------------------------------------

    @property
    def parts(self) -> Sequence[SocketTransport]:
        """What records games."""
        return [part for table in self.seating.tables for part in self.parts_of(table)]

    def parts_of(self, table: Table) -> list[Any]:
        """Return what records the games of a table."""
        return [NamedRecords(table, part, self.seating.options.first) for part in table.transport.parts]

    def post_step(self, actions: NDArray[np.uint16], memory: StepMemory) -> Any:
        return actions.copy(), memory

    def wait(self, future: Any) -> None:
        self.step(*future)

    def finals(self, new: bool = False) -> list[tuple[dict[str, Any], int]]:
        return [({"envs": b""} | {key: array.tobytes() for key, array in self._finals.items()}, 0)]

    def share_final(self) -> None:
        return None

    def pages(self, method: str, ids: NDArray[np.uint32], *options: dict[str, Any]) -> Iterator[dict[str, Any]]:
        found: dict[int, dict[str, Any]] = {}
        for table, mine in self.seating.split(ids.astype(np.intp)):
            for game, page in zip(mine.tolist(), table.pages(method, mine, *options), strict=True):
                if method == "snapshot":  # it says where the game is played
                    page["states"] += bytes([self.seating.tables.index(table)])
                found[game] = page
        yield from (found[game] for game in ids.tolist())

    def restore(
        self, memory: StepMemory, ids: NDArray[np.uint32], states: NDArray[np.uint8], options: dict[str, int]
    ) -> None:
        marks, order = states[:, -1], self.seating.tables
        if len(marks) and marks.max() >= len(order):
            raise BadStateError("restore: a state of an environment with other opponents")
        for k in np.unique(marks).tolist():
            some = marks == k
            rows = np.ascontiguousarray(states[some, :-1])
            order[k].transport.restore(order[k].memory.reuse(), ids[some], rows, options)
            self.seating.take_place(ids[some].astype(np.intp), k, rows)
        self.write(memory)

    def clone(
        self, memory: StepMemory, src: NDArray[np.uint32], dst: NDArray[np.uint32], options: dict[str, int]
    ) -> None:
        self.restore(memory, dst, self.states(src), options)

    def call(self, method: str, *params: Any) -> Any:
        table = self.seating.tables[self.seating.live[params[0]] if method == "render" else 0]
        return table.transport.call(method, *params)

    def retry(self, request: Callable[[], T]) -> T:
        return self.seating.tables[0].transport.retry(request)

    def close(self, own_client: bool) -> None:
        for table in reversed(self.seating.tables):
            shared = table is not self.seating.tables[0] and table.transport.client is self.client
            table.opponents.free(own_client and not shared)

    free = close
