"""What is kept of games whose server may be lost: their results, each counted once, and their records."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats.records import whole_games
from .layout import Handle
from .memory import StepMemory

_NAMES = ("wins", "draws", "losses", "truncated")
Call = Callable[..., Any]


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
        """Count the games that ended in a step."""
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

    def add(self, before: dict[str, Any], after: dict[str, Any]) -> None:
        """Add what a server has counted between two answers to ``opponent_stats``."""
        for row, name in enumerate(_NAMES):
            first, last = (np.frombuffer(answer[name], "<u8") for answer in (before, after))
            self._make_room(len(last))
            self._counts[row, : len(last)] += last
            self._counts[row, : len(first)] -= first

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
