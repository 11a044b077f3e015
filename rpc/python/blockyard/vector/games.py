"""The games of environments that are recorded: starting and ending recordings, and fetching records on the way."""

from __future__ import annotations

import atexit
import inspect
import operator
import os
import weakref
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats.arguments import Ids, game_ids, positive
from ..formats.opponents import by_number
from ..formats.records import RecordFile
from .engine import Engine
from .options import Path
from .recording import Recording, Source, forget


class Games:
    """Records games of one environment, of which the client drives some seats.

    Attributes:
        recording: the current or last recording; None if there was none.
        sources: where its records are fetched from; empty if none is in progress.
        how: the number of the environment's first game, the games that are recorded, None for all, and the server's
            options.
    """

    how: tuple[int, NDArray[np.uint32] | None, dict[str, Any]]

    def __init__(self, engine: Engine) -> None:
        self._engine, self.players = engine, engine.transport.handle.players
        self.recording: Recording | None = None
        self.sources: Sequence[Source] = ()

    @property
    def count(self) -> int:
        """How many games are played at once, on all servers."""
        return self._engine.transport.handle.games

    def check(self) -> None:
        """Refuse to start a recording; raise RuntimeError if one is in progress, or a step is."""
        self._engine.check("record")
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
        self._engine.fetch = _weakly(self.fetch) if sources else None
        for part in self._engine.transport.parts:
            part.between = self._engine.fetch
        if sources:
            _recorded.add(self)
        else:
            _recorded.discard(self)

    def begin(self) -> list[Source]:
        """Start recording on servers, by default on all; return what was started."""
        first, chosen, options = self.how
        sources: list[Source] = []
        at = first
        try:
            for part in self._engine.transport.parts:
                mine, last = dict(options), at + part.handle.games
                if chosen is not None:
                    some = chosen[(chosen >= at) & (chosen < last)] - at
                    mine["games"] = some.astype("<u4").tobytes()
                at = last
                if mine.get("games") != b"":
                    part.call("record", mine)
                    sources.append(Source(part, options.get("memory", 8 << 20)))
        except BaseException:
            forget(sources)
            raise
        return sources


def _weakly(method: Callable[..., None]) -> Callable[..., None]:
    """Return a call of a method that does not keep its object alive, as neither games nor their transport must."""
    ref = weakref.WeakMethod(method)

    def call(*args: Any) -> None:
        if (alive := ref()) is not None:
            alive(*args)

    return call


_recorded: weakref.WeakSet[Games] = weakref.WeakSet()  # those with a recording in progress


def start(
    parts: Sequence[Games],
    path: Path,
    every: int = 100,
    envs: Ids = None,
    players: Mapping[int, str] | str | None = None,
    max_games: int | None = None,
    max_bytes: int = 1 << 30,
    append: bool = False,
    memory: int | None = None,
) -> Recording:
    """Record the games of several environments, numbered one after the other, into one file.

    Arguments as in :meth:`BlockVectorEnv.record`.
    """
    for games in parts:
        games.check()
    sent = {"every": positive("every", every)}
    if memory is not None:
        sent["memory"] = operator.index(memory)
    count, ids = sum(games.count for games in parts), None
    if envs is not None and not len(ids := np.unique(game_ids(envs, count, "envs"))):
        raise ValueError("envs: got an empty list, want at least one game, or None for all")
    most = None if max_games is None else positive("max_games", max_games)
    file = RecordFile(path, append)
    first = 0
    try:
        for games in parts:
            names = dict.fromkeys(games.players, players) if isinstance(players, str) else dict(players or {})
            by_seat = {operator.index(seat): name for seat, name in by_number(names).items()}
            games.how = (first, ids, sent | {"players": by_seat})
            games.sources = games.begin()
            first += games.count
        sources = [source for games in parts for source in games.sources]
        recording = Recording(file, sources, most, positive("max_bytes", max_bytes))
    except BaseException:
        for games in parts:
            forget(games.sources)
        file.discard()
        raise
    for games in parts:
        games.set(recording, games.sources)
    atexit.unregister(_end_all)
    atexit.register(_end_all)  # after the connection was made: so it is called before that is closed
    return recording


def arguments(record: Path | Mapping[str, Any]) -> dict[str, Any]:
    """Return what the argument ``record`` of make_vec asks for: a path, or the arguments of ``env.record``."""
    if isinstance(record, (str, os.PathLike)):
        return {"path": record}
    if not isinstance(record, Mapping):
        kind = type(record).__name__
        raise TypeError(f"record: want a path, or a dict of the arguments of env.record, got {kind}")
    names = list(inspect.signature(start).parameters)[1:]
    if unknown := sorted(set(record) - set(names)):
        raise TypeError(f"record: unknown {unknown}; want some of {sorted(names)}")
    if "path" not in record:
        raise TypeError("record: there is no path; add one, such as 'games.jsonl.gz'")
    return dict(record)


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


if hasattr(os, "register_at_fork"):  # in a forked child the recordings and their connections are the parent's
    os.register_at_fork(after_in_child=_recorded.clear)
