"""Games of one handle in which policies of this program play some seats, beside those that the client drives."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Collection, Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..transport.layout import ROW_FIELDS, Field, Handle, resized
from ..transport.memory import StepMemory
from ..transport.over_socket import SocketTransport
from .batch import NO_SEAT
from .opponents import OpponentSeats
from .options import Options

_ROWS = ("planes", "globals", "seat", "mask")  # of the answer to ``final``: one entry per row
_REMEMBERED = 100  # episodes of a game whose records may not have been fetched yet
_NONE = np.zeros(0, np.uint16)
NOBODY = 0xFFFF  # the number of an opponent where there is none
Key = tuple[int, ...]  # of a table: the seats that policies play; or -1 and the place in the curriculum


class Table:
    """Games of one handle; those that are played at another table wait here at the beginning of an episode."""

    def __init__(
        self,
        key: Key,
        transport: SocketTransport,
        opponents: OpponentSeats,
        policies: Collection[int],
        shared: dict[str, NDArray[Any]] | None,
    ) -> None:
        """Take over games in which policies play some seats.

        key says who plays at this table; shared is where the server leaves last observations.
        """
        self._shared = shared or None
        self.key, self.transport, self.opponents = key, transport, opponents
        handle = transport.handle
        self.seats, self.games, self.rows = np.array(handle.players), handle.games, handle.rows_per_game
        self.policies = np.isin(self.seats, list(policies))  # which rows of a game policies play
        self.columns = at = np.flatnonzero(~self.policies)  # the rows of a game that are rows of the trainer
        self._own: Any = slice(at[0], at[-1] + 1) if len(at) == at[-1] - at[0] + 1 else at  # the same, faster
        self.used = np.zeros(self.games, np.bool_)  # games that are not at the beginning of an episode
        self.episodes = np.zeros(self.games, np.int64)  # the number of each game's episode here
        self.history: dict[tuple[int, int], dict[int, str]] = {}  # by game and episode: names of policies by seat
        self.numbers = np.zeros(0, np.uint16)  # those that the environment gives the server's opponents
        self.memory = transport.ring(1)[0]  # the current position
        self._ended: list[tuple[dict[str, Any], int]] = []  # answers to ``final`` of the last step

    @property
    def acting(self) -> NDArray[np.bool_]:
        """Which rows act: bool (games, rows of a game)."""
        acting: NDArray[np.bool_] = self.memory.seat != NO_SEAT
        return acting.reshape(self.games, -1)

    @property
    def over(self) -> NDArray[np.bool_]:
        """Which episodes the last step has ended: bool (games,)."""
        over: NDArray[np.bool_] = self.memory.terminated | self.memory.truncated
        return over

    def rows_of(self, games: NDArray[np.intp]) -> NDArray[np.intp]:
        """Return the indices of the rows of games, (games, rows of a game)."""
        return games[:, None] * self.rows + np.arange(self.rows)

    def reset(self, request: dict[str, Any]) -> None:
        """Reset games as a request to ``reset`` says."""
        self.transport.show(self.memory.reuse(), "reset", request)
        games = np.frombuffer(request["mask"], np.bool_) if "mask" in request else np.ones(self.games, np.bool_)
        self.episodes[games] = 0 if request.keys() & {"seed", "seeds"} else self.episodes[games] + 1
        self.used[games] = False

    def remember(self, game: int, names: dict[int, str]) -> None:
        """Keep the names of the policies, by seat, of an episode that begins, for its record."""
        episode = int(self.episodes[game])
        self.history[game, episode] = names
        self.history.pop((game, episode - _REMEMBERED), None)

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
        if self._shared is None and self.over.any():
            self._ended = self.transport.finals()

    def _send(
        self,
        part: SocketTransport,
        memory: StepMemory,
        games: NDArray[np.intp],
        actions: NDArray[np.uint16],
        first: int,
    ) -> Callable[[], None]:
        """Begin a step of some games of one server; the result waits for its end."""
        connection, handle = part.client.connection, part.handle
        part.client.require("stream", "policies as opponents")
        sent = connection.post("send", handle.number, games.astype("<u4").tobytes(), actions.astype("<u2").tobytes())

        def wait() -> None:
            connection.wait(sent)
            left, wait_ms = len(games), min(10_000, int(500 * connection.timeout))
            while left:
                answer = connection.call("recv", handle.number, left, left, wait_ms)
                ids = np.frombuffer(answer["envs"], "<u4").astype(np.intp)
                if len(ids):
                    some = StepMemory(resized(handle, len(ids)), bytearray(answer["slab"]))
                    _scatter(some, memory, ids, handle.rows_per_game)
                    if self._shared is None and (some.terminated.any() or some.truncated.any()):
                        self._ended += [(d, first + at) for d, at in part.finals()]
                left -= len(ids)

        return wait

    def show(self, games: NDArray[np.intp], memory: StepMemory) -> None:
        """Copy the rows of games, and what is known of these games, to the arrays of the trainer."""
        at: Any = slice(None) if len(games) == self.games else games
        for name, to in memory.arrays.items():
            source = self.memory.arrays.get(name)
            if name in ROW_FIELDS and source is not None:
                source = source.reshape(self.games, self.rows, *source.shape[1:])
                to.reshape(self.games, len(self.columns), *to.shape[1:])[at] = source[at][:, self._own]
            elif name != "opponent" and source is not None:
                to[at] = source[at]

    def playing(self, games: NDArray[np.intp]) -> NDArray[np.uint16]:
        """Return the number of the server's opponent in each seat of games; 65535 where it plays none."""
        here = self.memory.arrays.get("opponent")
        return self._numbered(_NONE if here is None else here[games], len(games))

    def _numbered(self, here: NDArray[np.uint16], games: int) -> NDArray[np.uint16]:
        """Return the environment's numbers of opponents of games, (games, seats), of which there may be none."""
        out = np.full((games, self.transport.handle.seats), NOBODY, "<u2")
        if here.size:
            known = here != NOBODY
            out[known] = self.numbers[here[known]]
        return out

    def pages(self, method: str, games: NDArray[np.intp], *options: dict[str, Any]) -> Iterator[dict[str, Any]]:
        """Send a request about games; yield for each the answer about the rows of the trainer."""
        for page in self.transport.pages(method, games.astype("<u4"), *options):
            for game in range(page["count"]):
                yield self._of_game(page, game)

    def _of_game(self, page: dict[str, Any], game: int) -> dict[str, Any]:
        """Return what a page says of the trainer's rows of one of its games."""
        rows = game * self.rows + self.columns
        if "texts" in page:
            return {"count": 1, "texts": [page["texts"][row] for row in rows]}
        if "states" in page:
            length = len(page["states"]) // page["count"]
            return {"count": 1, "states": page["states"][game * length : (game + 1) * length]}
        ends = np.frombuffer(page["indptr"], "<u4").astype(np.int64)
        total, widths = int(ends[-1]), ends[rows + 1] - ends[rows]
        out: dict[str, Any] = {"count": 1, "indptr": np.cumsum([0, *widths]).astype("<u4").tobytes()}
        for key in page.keys() - {"count", "indptr"}:
            width = len(page[key]) // max(total, 1)
            out[key] = b"".join(page[key][ends[row] * width : ends[row + 1] * width] for row in rows)
        return out

    def finals(self, ended: NDArray[np.intp]) -> list[tuple[NDArray[np.intp], dict[str, NDArray[Any]]]]:
        """Return the games that the last step ended, and their final positions by the names of the method ``final``."""
        if self._shared is not None:
            at = self.rows_of(ended)[:, self.columns]
            playing = self._shared["opponent"][ended] if "opponent" in self._shared else _NONE
            taken = {k: np.ascontiguousarray(self._shared[k][at]) for k in _ROWS if k in self._shared}
            rows = {k: a.view(np.uint8).reshape(*at.shape, -1) for k, a in taken.items()}
            return [(ended, rows | {"opponents": self._numbered(playing, len(ended))})]
        out = []
        for d, first in self._ended:
            if not d["envs"]:  # of one of several servers, on which no game has ended
                continue
            games = np.frombuffer(d["envs"], "<u4").astype(np.intp) + first
            rows = {k: np.frombuffer(d[k], np.uint8).reshape(len(games), self.rows, -1) for k in _ROWS if d.get(k)}
            found = {k: a[:, self.columns] for k, a in rows.items()}
            playing = np.frombuffer(d["opponents"], "<u2").reshape(len(games), -1)
            out.append((games, found | {"opponents": self._numbered(playing, len(games))}))
        return out


def _scatter(some: StepMemory, memory: StepMemory, games: NDArray[np.intp], rows: int) -> None:
    for name, to in memory.arrays.items():
        if name in ROW_FIELDS:
            to.reshape(-1, rows, *to.shape[1:])[games] = some.arrays[name].reshape(len(games), rows, *to.shape[1:])
        else:
            to[games] = some.arrays[name]


def numbers_of(states: NDArray[np.uint8]) -> tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.uint32]]:
    """Return the seed of games, the number of the episode and its steps: at 16, 24 and 40 of a state."""
    words = np.ascontiguousarray(states[:, 16:44]).view("<u4")
    return words[:, :2].copy().view("<u8")[:, 0], words[:, 2].astype(np.int64), words[:, 6]


def trainer_handle(table: Table, options: Options) -> Handle:
    """Return the layout of the trainer's rows of a table. A state has one more byte, which says at which it is."""
    one, own = table.transport.handle, tuple(table.seats[table.columns].tolist())
    fields = [f for f in one.fields if options.mask or f.name != "mask"]
    if "opponent" not in {f.name for f in fields}:
        fields.append(Field("opponent", np.dtype("<u2"), (one.games, one.seats), 0))
    mine = dataclasses.replace(
        one, players=own, rows_per_game=len(own), fields=tuple(fields), state_len=one.state_len + 1, opponents=[]
    )
    return resized(mine, one.games)


class NamedRecords:
    """What records the games of one table on one server: policies have their names in the records.

    Attributes:
        client, handle: of the games.
    """

    def __init__(self, table: Table, part: SocketTransport, first: int) -> None:
        """Pass requests on; first is the number of the environment's first game."""
        self._table, self._part, self._first = table, part, first
        self.client, self.handle = part.client, part.handle
        self.between: Any = None

    def call(self, method: str, *params: Any) -> Any:
        """Call a method; of records, those that name their episodes' policies are completed."""
        answer = self._part.call(method, *params)
        if method == "records" and self._table.policies.any():
            answer["lines"] = b"".join(map(self._named, answer["lines"].splitlines(keepends=True)))
        return answer

    def _named(self, line: bytes) -> bytes:
        record = json.loads(line)
        if "agents" not in record:
            return line
        meta = record["meta"]
        who = self._table.history.get((int(meta["env"]) - self._first, int(meta["episode"])), {})
        record["agents"] = [who.get(seat, name) for seat, name in enumerate(record["agents"])]
        return json.dumps(record, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
