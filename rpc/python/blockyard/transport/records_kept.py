"""The recorded games of a server that may be lost: each reaches the file once."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from typing import Any

from ..formats.records.lines import whole_games

Call = Callable[..., Any]


class RecordsKept:
    """What is needed to go on elsewhere with a recording that ``record`` started with these options.

    Replayed games make records that were fetched before once more: their bytes hold the game and the episode.
    """

    def __init__(self, options: dict[str, Any]) -> None:
        self._options = options
        self._lines: list[bytes] = []  # fetched, not passed on
        self._since: defaultdict[int, list[bytes]] = defaultdict(list)  # fetched since the checkpoint, by game
        self._again: Counter[bytes] = Counter()  # of those, the ones that the current server makes once more
        self._lost = {"dropped": 0, "interrupted": 0}  # counted by servers that are gone
        self._counted = dict(self._lost)  # by the current one

    def start_again(self, call: Call) -> None:
        """Start the recording on another server, before the games are rebuilt."""
        call("record", self._options)
        for name, count in self._counted.items():
            self._lost[name] += count
        self._counted = dict.fromkeys(self._counted, 0)
        self._again = Counter(line for lines in self._since.values() for line in lines)

    def fetch(self, call: Call, stop: bool) -> dict[str, Any]:
        """Fetch some records; return the rest of the answer."""
        answer: dict[str, Any] = call("records", {"stop": True} if stop else {})
        self._counted = {name: answer[name] for name in self._counted}
        for line in whole_games(answer["lines"])[0]:
            if self._again[line] > 0:
                self._again[line] -= 1
                continue
            self._since[_game(line)].append(line)
            self._lines.append(line)
        return answer

    def fetch_all(self, call: Call) -> None:
        """Fetch all records of the games that have ended: a checkpoint that follows does not need them."""
        while self.fetch(call, False)["waiting"]:
            pass

    def saved(self, games: Sequence[int]) -> None:
        """Note that the checkpoints of these games are newer than all of their records that were fetched."""
        for game in games:
            self._since.pop(game, None)

    def answer(self, last: dict[str, Any]) -> dict[str, Any]:
        """Return what the method ``records`` returns: all that was fetched, and the rest of the last answer."""
        lines, self._lines = self._lines, []
        return last | {"lines": b"".join(lines)} | {name: self._lost[name] + self._counted[name] for name in self._lost}


def _game(line: bytes) -> int:
    for part in line.splitlines():
        meta = json.loads(part).get("meta")
        if meta:
            return int(meta["env"])
    return -1
