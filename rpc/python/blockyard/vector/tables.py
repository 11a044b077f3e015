"""Games of one handle in which policies of this program play some seats, beside those that the client drives."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Collection, Iterator, Sequence
from typing import Any

import numpy as np
from gymnasium.vector import AutoresetMode
from numpy.typing import NDArray

from ..formats.opponents import BySeat
from ..formats.spec import GameSpec
from ..transport.layout import ROW_FIELDS, resized
from ..transport.memory import StepMemory
from ..transport.over_socket import SocketTransport
from .batch import Batch
from .illegal import IllegalActions
from .opening import Opening
from .opponents import OpponentSeats
from .options import Options
from .requests import Requests

_NO_SEAT = 255  # in StepMemory.seat: the row need not act


class TableOpening(Opening):
    """Opens games in which the server plays only some of the seats with opponents.

    Attributes:
        policies: the seats that policies play, ascending.
    """

    def __init__(self, game: str, options: Options, choose: Callable[[GameSpec, int], tuple[BySeat, set[int]]]) -> None:
        """Prepare to open; choose returns the server's opponents, and the seats of policies, for a number of seats."""
        same = options.mode is AutoresetMode.SAME_STEP
        mode = AutoresetMode.SAME_STEP if same else AutoresetMode.DISABLED
        super().__init__(game, dataclasses.replace(options, autoreset_mode=mode, reward="result"))
        self._choose, self.policies = choose, set[int]()

    def _opponents(self, spec: GameSpec, seats: int) -> BySeat:
        """Return the server's opponents; a step of the trainer takes the moves of policies too, so its limit grows."""
        by_seat, self.policies = self._choose(spec, seats)
        self._needs_mask = bool(self.policies)
        driven = [seat for seat in range(seats) if seat not in by_seat]
        own = [seat for seat in driven if seat not in self.policies]
        if (limit := self._options.max_episode_steps) and spec.turn == "alternating":
            before = sum(seat < own[0] for seat in self.policies)
            self._wire["max_episode_steps"] = -(-limit * len(driven) // len(own)) + before
        return by_seat


class Table:
    """Games of one handle; those of a policy's opponents that sit in other games wait here at their beginning.

    Attributes:
        key: what tells it from other tables.
        transport: moves its steps.
        opponents: the server's opponents in it.
        memory: its current position.
        columns: its rows in a game that are rows of the trainer.
        seats: the seats of its rows, ascending.
        policies: bool (rows of a game,), which of them policies play.
        used: bool (games,), games that are not at the beginning of an episode.
        numbers: uint16, the number that the environment gives each opponent of the server.
    """

    def __init__(self, key: object, opening: TableOpening, transport: SocketTransport, options: Options) -> None:
        """Take over games that were opened."""
        batch = Batch(opening.spec, transport.handle, IllegalActions("random"), packed=options.packed, with_mask=True,
                      same_step=options.mode is AutoresetMode.SAME_STEP)  # fmt: skip
        opponents = OpponentSeats(Requests(transport), batch, opening.lineup, opening.user)
        self._init(key, transport, opponents, opening.policies)

    @classmethod
    def of(cls, key: object, transport: SocketTransport, opponents: OpponentSeats) -> Table:
        """Return the games that an environment without policies has played."""
        table = cls.__new__(cls)
        table._init(key, transport, opponents, set())
        table.used[:] = True
        return table

    def _init(self, key: object, transport: SocketTransport, opponents: OpponentSeats, policies: Collection[int]) -> None:
        self.key, self.transport, self.opponents = key, transport, opponents
        handle = transport.handle
        self.seats, self.games, self.rows = np.array(handle.players), handle.games, handle.rows_per_game
        self.policies = np.isin(self.seats, list(policies))
        self.columns = np.flatnonzero(~self.policies)
        self.used = np.zeros(self.games, np.bool_)
        self.numbers = np.zeros(0, np.uint16)
        self.memory = transport.ring(1)[0]
        self._ended: list[tuple[dict[str, Any], int]] = []  # answers to ``final`` of the last step

    @property
    def acting(self) -> NDArray[np.bool_]:
        """Which rows act: bool (games, rows of a game)."""
        return (self.memory.seat != _NO_SEAT).reshape(self.games, -1)

    def rows_of(self, games: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the indices of the rows of games, (games, rows of a game)."""
        return games[:, None] * self.rows + np.arange(self.rows)

    # -- stepping -----------------------------------------------------------------------

    def reset(self, request: dict[str, Any]) -> None:
        """Reset games as the request says."""
        self.transport.show(self.memory.reuse(), "reset", request)

    def send(self, games: NDArray[np.intp], actions: NDArray[np.uint16]) -> Callable[[], object]:
        """Begin a step of some games with the actions of their rows, and return what waits for its end."""
        self.used[games], self._ended = True, []
        memory = self.memory.reuse()
        if len(games) == self.games:
            future = self.transport.post_step(actions.reshape(-1), memory)
            return lambda: self._wait(future)
        waits, first = [], 0
        for part, place in zip(self.transport.parts, self.transport.places(memory), strict=True):
            mine = (games >= first) & (games < first + part.handle.games)
            if mine.any():
                waits.append(self._send(part, place, games[mine] - first, actions[mine], first))
            first += part.handle.games
        return lambda: [wait() for wait in waits]

    def _wait(self, future: Any) -> None:
        self.transport.wait(future)
        if self.memory.terminated.any() or self.memory.truncated.any():
            self._ended = self.transport.finals()

    def _scatter(some: StepMemory, memory: StepMemory, games: NDArray[np.intp], rows: int) -> None:
    """Copy the arrays of some games to those of all."""
    for name, to in memory.arrays.items():
        if name in ROW_FIELDS:
            to.reshape(-1, rows, *to.shape[1:])[games] = some.arrays[name].reshape(len(games), rows, *to.shape[1:])
        else:
            to[games] = some.arrays[name]


def open_table(
    key: object,
    game: str,
    num_envs: int,
    options: Options,
    choose: Callable[[GameSpec, int], tuple[BySeat, set[int]]],
) -> tuple[Table, TableOpening]:
    """Open games; choose as in :class:`TableOpening`."""
    opening = TableOpening(game, options, choose)
    transport = opening.transport(num_envs)
    try:
        return Table(key, opening, transport, options), opening
    except BaseException:
        transport.close(options.client is None)
        raise


def joined_finals(games: Sequence[NDArray[np.intp]], found: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Return final positions of several tables as one answer to ``final``, in ascending order of the games."""
    order = np.argsort(np.concatenate(games))
    out = {k: np.concatenate([one[k] for one in found])[order] for k in found[0]}
    return {"envs": np.concatenate(games)[order].astype("<u4"), **out}
