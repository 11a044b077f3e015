"""What is kept of games whose server may be lost: a checkpoint of each, the steps since, results and records."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..formats.checkpoint_file import runs
from ..formats.records import whole_games
from .layout import Handle
from .memory import StepMemory
from .over_socket import SocketTransport

_NAMES = ("wins", "draws", "losses", "truncated")
_ROOM = 4096  # bytes of a request besides its games
MOVES = 64  # numbers per game in the field ``moves``

Call = Callable[..., Any]
Again = Callable[[SocketTransport], Any]  # makes a request that changes games once more


class Steps(NamedTuple):
    """A step of some games."""

    games: NDArray[np.uint32]  # (k,), indices
    actions: NDArray[np.uint16]  # (k, rows_per_game)
    moves: NDArray[np.uint16]  # (k, n), the field ``moves`` of the opponents without zeros at its end; or (k, 0)

    def some(self, which: NDArray[Any]) -> Steps:
        """Return the steps of some games, by their indices in :attr:`games`."""
        return Steps(self.games[which], self.actions[which], self.moves[which])


class Journal:
    """The last checkpoint of each game of a handle, and all steps and requests since that have changed games."""

    def __init__(self, games: int) -> None:
        self.head = b""  # what the server says of all checkpoints together; empty if there are none yet
        self.weights: tuple[str, ...] = ()  # names of the uploaded weights that the checkpoints need
        self.lengths = np.zeros(games, np.int64)  # of the entries of each game since its checkpoint
        self._saved: list[bytes] = [b""] * games
        self._drafts: dict[int, bytes] = {}
        self._entries: list[Steps | Again] = []

    def add(self, entry: Steps | Again) -> None:
        """Note what was done: a step, or a request that changes all games."""
        self._entries.append(entry)
        if isinstance(entry, Steps) and len(entry.games) < len(self.lengths):
            self.lengths[entry.games] += 1
        else:
            self.lengths += 1

    def saved(
        self, ids: NDArray[np.uint32], head: bytes, games: Sequence[bytes], weights: Sequence[str], drafts: bytes
    ) -> None:
        """Note the checkpoints of some games, with their records in progress: their steps are unnecessary now.

        Requests other than steps are kept for the other games, and must change nothing if they are repeated.
        """
        self.head, self.weights = head, tuple(weights)
        for game, one in zip(ids.tolist(), games, strict=True):
            self._saved[game] = one
            self._drafts.pop(game, None)
        for line in drafts.splitlines(keepends=True):
            self._drafts[json.loads(line)["game"]] = line
        self.lengths[ids] = 0
        entries, self._entries = self._entries, []
        for entry in entries if self.lengths.any() else ():
            if isinstance(entry, Steps):
                entry = entry.some(self.lengths[entry.games] > 0)
            if not isinstance(entry, Steps) or len(entry.games):
                self._entries.append(entry)

    def rebuild(self, part: SocketTransport) -> int:
        """Bring games that were just opened to where the games of the journal are; return the steps of the longest."""
        if self.head:
            part.resume(part.memory(), self.head, self._saved, self._drafts)
        steps: list[Steps] = []
        for entry in self._entries:
            if isinstance(entry, Steps):
                steps.append(entry)
            else:
                self._replay(part, steps)
                entry(part)
                steps = []
        self._replay(part, steps)
        return int(self.lengths.max())

    def _replay(self, part: SocketTransport, steps: list[Steps]) -> None:
        """Let the server play steps again, as many games at a time as fit into one message."""
        if not steps:
            return
        steps = [step._replace(moves=_padded(step.moves)) for step in steps]
        log = Steps(*map(np.concatenate, zip(*steps, strict=True)))
        log = log.some(np.argsort(log.games, kind="stable"))  # those of one game stay in their order
        counts = np.bincount(log.games, minlength=len(self.lengths))
        ends = np.cumsum(counts)
        each = 2 * (log.actions.shape[1] + log.moves.shape[1])
        room = part.client.limits.get("max_message", 1 << 20) - _ROOM
        for first, last in runs((each * counts + 4).tolist(), room):
            rows = slice(int(ends[first] - counts[first]), int(ends[last - 1]))
            if rows.start < rows.stop:
                ids, lengths = np.arange(first, last, dtype="<u4"), counts[first:last].astype("<u4")
                moves = log.moves[rows].tobytes()
                part.call("replay", ids.tobytes(), lengths.tobytes(), log.actions[rows].tobytes(), moves)


def _padded(moves: NDArray[np.uint16]) -> NDArray[np.uint16]:
    return np.pad(moves, ((0, 0), (0, MOVES - moves.shape[1]))) if moves.shape[1] else moves


class Tally:
    """The finished episodes against each opponent, as ``opponent_stats`` counts them, from the results of steps."""

    def __init__(self, handle: Handle) -> None:
        self._counts = np.zeros((len(_NAMES), 0), np.uint64)
        self._playing = np.zeros((handle.games, handle.seats), "<u2")
        self._players = list(handle.players)
        self._others = [seat for seat in range(handle.seats) if seat not in handle.players]

    def show(self, memory: StepMemory, games: NDArray[np.uint32] | slice = slice(None)) -> None:
        """Note which opponents play in these games now."""
        if self._others:
            self._playing[games] = memory.arrays["opponent"]

    def step(self, memory: StepMemory, games: NDArray[np.uint32]) -> None:
        """Count the results of games that ended in a step, and note the opponents of those that began."""
        ended = memory.terminated | memory.truncated
        if self._others and ended.any():
            result = memory.arrays["result"][ended]
            mine, theirs = result[:, None, self._players], result[:, self._others, None]
            rows = np.where(memory.terminated[ended][:, None, None], 1 + np.sign(theirs - mine).astype(int), 3)
            numbers = np.broadcast_to(self._playing[games][ended][:, self._others, None], rows.shape)
            self._make_room(int(numbers.max()) + 1)
            np.add.at(self._counts, (rows, numbers), np.uint64(1))
        self.show(memory, games)

    def _make_room(self, opponents: int) -> None:
        if (more := opponents - self._counts.shape[1]) > 0:
            self._counts = np.pad(self._counts, ((0, 0), (0, more)))

    def add(self, counted: dict[str, Any]) -> None:
        """Add what a server has counted, its answer to ``opponent_stats``."""
        self._make_room(counted["count"])
        for row, name in enumerate(_NAMES):
            self._counts[row, : counted["count"]] += np.frombuffer(counted[name], "<u8")

    def answer(self, reset: bool) -> dict[str, Any]:
        """Return the answer to ``opponent_stats``; reset starts again from zero."""
        rows = zip(_NAMES, self._counts, strict=True)
        answer = {"count": self._counts.shape[1], **{name: row.astype("<u8").tobytes() for name, row in rows}}
        if reset:
            self._counts = np.zeros((len(_NAMES), 0), np.uint64)
        return answer


class RecordsKept:
    """What is needed to go on elsewhere with a recording that ``record`` started with these options.

    Replayed games make records that were fetched before once more: their bytes hold the game and the episode.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._lines: list[bytes] = []  # fetched, not passed on
        self._since: defaultdict[int, list[bytes]] = defaultdict(list)  # fetched since the checkpoint, by game
        self._again: Counter[bytes] = Counter()  # of those, the ones that the current server makes once more
        self._lost: Counter[str] = Counter()  # games dropped and interrupted by servers that are gone
        self._counted: dict[str, int] = {}  # by the current one

    def start_again(self, call: Call) -> None:
        """Start the recording on another server, before the games are rebuilt."""
        call("record", self._options)
        self._lost.update(self._counted)
        self._counted = {}
        self._again = Counter(line for lines in self._since.values() for line in lines)

    def fetch(self, call: Call, stop: bool = False) -> dict[str, Any]:
        """Fetch some records; return the rest of the answer."""
        answer: dict[str, Any] = call("records", {"stop": True} if stop else {})
        self._counted = {name: answer[name] for name in ("dropped", "interrupted")}
        for line in whole_games(answer["lines"])[0]:
            if self._again[line] > 0:
                self._again[line] -= 1
                continue
            self._since[_game(line)].append(line)
            self._lines.append(line)
        return answer

    def fetch_all(self, call: Call) -> None:
        """Fetch all records of the games that have ended: a checkpoint that follows does not need them."""
        while self.fetch(call)["waiting"]:
            pass

    def saved(self, games: Sequence[int]) -> None:
        """Note that the checkpoints of these games are newer than all of their records that were fetched."""
        for game in games:
            self._since.pop(game, None)

    def answer(self, last: dict[str, Any]) -> dict[str, Any]:
        """Return what the method ``records`` returns: all that was fetched, and the rest of the last answer."""
        lines, self._lines = self._lines, []
        counts = {name: count + self._lost[name] for name, count in self._counted.items()}
        return last | {"lines": b"".join(lines)} | counts


def _game(line: bytes) -> int:
    metas = (json.loads(part).get("meta") for part in line.splitlines())
    return next((int(meta["env"]) for meta in metas if meta), -1)
