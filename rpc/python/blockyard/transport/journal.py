"""What is kept of games whose server may be lost: a checkpoint of each, the steps since, and what is recorded."""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from ..formats.checkpoint_file import runs
from .over_socket import SocketTransport

_ROOM = 4096  # bytes of a request besides its games
MOVES = 64  # numbers per game in the field ``moves``


class Again(NamedTuple):
    """A request that has changed games, which it gets when it is made again.

    One about all games of a handle is made again for all, and must not change those with a later checkpoint.
    """

    games: NDArray[np.uint32]  # (k,), indices
    request: Callable[[SocketTransport, NDArray[np.uint32]], Any]

    def some(self, which: NDArray[Any]) -> Again:
        """Return the request for some games, by their indices in :attr:`games`."""
        return self._replace(games=self.games[which])


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
        self._recordings: dict[int, bytes] = {}
        self._entries: list[Steps | Again] = []

    def add(self, entry: Steps | Again) -> None:
        """Note what was done to games."""
        self._entries.append(entry)
        self.lengths[entry.games] += 1

    def saved(
        self, ids: NDArray[np.uint32], head: bytes, games: Sequence[bytes], weights: Sequence[str], recordings: bytes
    ) -> None:
        """Note the checkpoints of some games, with their recordings: what was done to them is unnecessary now."""
        self.head, self.weights = head, tuple(weights)
        for game, one in zip(ids.tolist(), games, strict=True):
            self._saved[game] = one
            self._recordings.pop(game, None)
        for line in recordings.splitlines(keepends=True):
            self._recordings[json.loads(line)["game"]] = line
        self.lengths[ids] = 0
        left = [entry.some(self.lengths[entry.games] > 0) for entry in self._entries]
        self._entries = [entry for entry in left if len(entry.games)]

    def rebuild(self, part: SocketTransport) -> int:
        """Bring games that were just opened to where the games of the journal are; return the steps of the longest."""
        if self.head:
            part.resume(part.memory(), self.head, self._saved, self._recordings)
        steps: list[Steps] = []
        for entry in self._entries:
            if isinstance(entry, Steps):
                steps.append(entry)
            else:
                self._replay(part, steps)
                entry.request(part, entry.games)
                steps = []
        self._replay(part, steps)
        return int(self.lengths.max())

    def _replay(self, part: SocketTransport, steps: list[Steps]) -> None:
        """Let the server play steps again, as many games at a time as fit into one message."""
        if not steps:
            return
        width = MOVES if steps[0].moves.shape[1] else 0
        steps = [s._replace(moves=np.pad(s.moves, ((0, 0), (0, width - s.moves.shape[1])))) for s in steps]
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
