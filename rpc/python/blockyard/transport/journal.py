"""The journal from which games are rebuilt when their server is lost: a checkpoint of each, and the steps since."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..formats.checkpoint_file import runs
from .over_socket import SocketTransport

_ROOM = 4096  # bytes of a request besides its games

Again = Callable[[SocketTransport], Any]  # makes a request that changes games once more


class Steps(NamedTuple):
    """A step of some games."""

    games: NDArray[np.uint32]  # (k,), indices
    actions: NDArray[np.uint16]  # (k, rows_per_game)
    moves: NDArray[np.uint16]  # (k, 16), as in the field ``moves``, of the opponents; (k, 0) without opponents

    def some(self, which: NDArray[Any]) -> Steps:
        """Return these entries."""
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
            room = part.client.limits.get("max_message", 1 << 20) - len(self.head) - _ROOM
            sizes = [len(saved) + len(self._drafts.get(game, b"")) for game, saved in enumerate(self._saved)]
            for start, end in runs(sizes, room):
                ids, games = np.arange(start, end, dtype="<u4").tobytes(), b"".join(self._saved[start:end])
                drafts = b"".join(self._drafts.get(game, b"") for game in range(start, end))
                part.show(part.memory(), "resume", ids, self.head, games, {"drafts": drafts} if drafts else {})
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
