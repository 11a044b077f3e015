"""The games of environments that are recorded: starting and ending recordings, and fetching records on the way."""

from __future__ import annotations

import atexit
import operator
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, fields
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats.arguments import Ids, game_ids, positive
from ..formats.opponents import by_number
from ..formats.records.file import RecordFile
from .recording import Recording, Source, forget
from .requests import Requests

Path = str | os.PathLike[str]


@dataclass(frozen=True)
class RecordOptions:
    """What is recorded, and where; each attribute is described at :meth:`BlockVectorEnv.record`."""

    path: Path
    every: int = 100
    envs: Ids = None
    players: Mapping[int, str] | str | None = None
    max_games: int | None = None
    max_bytes: int = 1 << 30
    append: bool = False
    memory: int | None = None

    @classmethod
    def of(cls, record: Path | Mapping[str, Any]) -> RecordOptions:
        """Return what the argument ``record`` of make_vec asks for: a path, or the arguments of ``env.record``."""
        if isinstance(record, (str, os.PathLike)):
            return cls(record)
        if not isinstance(record, Mapping):
            kind = type(record).__name__
            raise TypeError(f"record: want a path, or a dict of the arguments of env.record, got {kind}")
        names = {field.name for field in fields(cls)}
        if unknown := sorted(set(record) - names):
            raise TypeError(f"record: unknown {unknown}; want some of {sorted(names)}")
        if "path" not in record:
            raise TypeError("record: there is no path; add one, such as 'games.jsonl.gz'")
        return cls(**record)


class Games:
    """Records games of one environment.

    Attributes:
        recording: the current or last recording; None if there was none.
        sources: where its records are fetched from; empty if none is in progress.
    """

    def __init__(self, requests: Requests, players: tuple[int, ...]) -> None:
        """Prepare to record games of which the client drives these seats."""
        self._requests, self._players = requests, players
        self.recording: Recording | None = None
        self.sources: Sequence[Source] = ()
        self._begin: Callable[[Sequence[Any]], list[Source]]

    @property
    def count(self) -> int:
        """The number of games."""
        return self._requests.transport.handle.games

    def check(self) -> None:
        """Refuse to start a recording; raise RuntimeError if one is in progress, or a step is."""
        self._requests.check("record")
        if self.recording is not None and self.recording.state == "recording":
            raise RuntimeError(f"record: already recording to {self.recording.path}; call stop_recording first")

    def fetch(self) -> None:
        """Fetch records if it is time; called after steps."""
        if self.sources and self.recording is not None:
            self.recording.poll(self.sources)

    def end(self) -> None:
        """Write the games that have ended, and end the recording."""
        if self.recording is not None:
            self.recording.stop()
        self.set(self.recording, ())

    def set(self, recording: Recording | None, sources: Sequence[Source]) -> None:
        """Take part in a recording, with the records of these sources; none of them ends it."""
        self.recording, self.sources = recording, sources
        ref = weakref.ref(self)  # a transport does not keep the games of an environment alive

        def fetch() -> None:
            if (games := ref()) is not None:
                games.fetch()

        for part in self._requests.transport.parts:
            part.between = fetch if sources else None
        if sources:
            _recorded.add(self)
        else:
            _recorded.discard(self)

    def begin(
        self, first: int, chosen: NDArray[np.uint32] | None, options: dict[str, Any], players: Any
    ) -> list[Source]:
        """Start recording on every server, whose games are numbered from first; return what was started."""
        names = dict.fromkeys(self._players, players) if isinstance(players, str) else by_number(dict(players or {}))
        self._begin = partial(self._begin_parts, first, chosen, options, names)
        return self._begin(self._requests.transport.parts)

    def join(self, parts: Sequence[Any]) -> None:
        """Record more games of this environment too: those of another table."""
        if self.sources and self.recording is not None:
            more = self._begin(parts)
            self.recording.add(more)
            self.sources = [*self.sources, *more]

    def _begin_parts(
        self,
        first: int,
        chosen: NDArray[np.uint32] | None,
        options: dict[str, Any],
        names: dict[int, str],
        parts: Sequence[Any],
    ) -> list[Source]:
        sources: list[Source] = []
        at = first
        try:
            for part in parts:
                mine, last = dict(options), at + part.handle.games
                if chosen is not None:
                    some = chosen[(chosen >= at) & (chosen < last)] - at
                    mine["games"] = some.astype("<u4").tobytes()
                at = first if last == first + self.count else last  # another table has the same games
                if mine.get("games") != b"":
                    part.client.require("record", "record")
                    part.call("record", mine | {"players": {operator.index(k): v for k, v in names.items()}})
                    sources.append(Source(part, options.get("memory", 8 << 20)))
        except BaseException:
            forget(sources)
            raise
        return sources


_recorded: weakref.WeakSet[Games] = weakref.WeakSet()  # those with a recording in progress


def start(parts: Sequence[Games], options: RecordOptions) -> Recording:
    """Record the games of several environments, numbered one after the other, into one file."""
    for games in parts:
        games.check()
    sent = {"every": positive("every", options.every)}
    if options.memory is not None:
        sent["memory"] = operator.index(options.memory)
    count, ids = sum(games.count for games in parts), None
    if options.envs is not None and not len(ids := np.unique(game_ids(options.envs, count, "envs"))):
        raise ValueError("envs: got an empty list, want at least one game, or None for all")
    most = None if options.max_games is None else positive("max_games", options.max_games)
    file = RecordFile(options.path, options.append)
    sources: list[list[Source]] = []
    try:
        first = 0
        for games in parts:
            sources.append(games.begin(first, ids, sent, options.players))
            first += games.count
        every = [s for some in sources for s in some]
        recording = Recording(file, every, most, positive("max_bytes", options.max_bytes))
    except BaseException:
        forget([s for some in sources for s in some])
        file.discard()
        raise
    for games, mine in zip(parts, sources, strict=True):
        games.set(recording, mine)
    atexit.unregister(_end_all)
    atexit.register(_end_all)  # after the connection was made: so it is called before that is closed
    return recording


def end(parts: Sequence[Games]) -> Recording:
    """End the recording of the games of some environments, and return it; raise RuntimeError if there is none."""
    recording = parts[0].recording
    if recording is None:
        raise RuntimeError("stop_recording: nothing is being recorded; call record first")
    for games in parts:
        games.end()
    return recording


def _end_all() -> None:
    """At exit: write what has been recorded by environments that were not closed."""
    for games in list(_recorded):
        games.end()


def _forget_after_fork() -> None:
    """In a forked child: the recordings and their connections belong to the parent."""
    _recorded.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
