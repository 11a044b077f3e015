"""The methods of environments that record games."""

from __future__ import annotations

import atexit
import operator
import os
import weakref
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..formats.arguments import Ids, game_ids, positive
from ..formats.records.file import RecordFile
from ..transport.over_socket import SocketTransport
from .recording import Recording, Source, forget

Path = str | os.PathLike[str]
_ARGUMENTS = {"path", "every", "envs", "players", "max_games", "max_bytes", "append", "memory"}


class Recorded:
    """The part of BlockVectorEnv that records games."""

    num_games: int
    seats: int
    players: tuple[int, ...]
    _transport: SocketTransport
    _recording: Recording | None = None
    _sources: Sequence[Source] = ()

    def _refuse_pending(self, method: str) -> None:
        raise NotImplementedError

    def record(
        self,
        path: Path,
        every: int = 100,
        *,
        envs: Ids = None,
        players: Mapping[int, str] | str | None = None,
        max_games: int | None = None,
        max_bytes: int = 1 << 30,
        append: bool = False,
        memory: int | None = None,
    ) -> Recording:
        """Record whole games into a file, from the next episode of each game on.

        Episode k of game i is recorded if i + k is a multiple of ``every``; episodes are counted from the game's seed.
        The server notes the actions of all seats, opponents included; this process fetches finished games about once
        per second, during ``step`` and ``rollout``, and appends them to the file. Recording does not change the games.
        ``datasets view FILE`` shows them, :func:`blockyard.view` shows one in a notebook.

        Args:
            path: the file, of JSON lines; compressed if its name ends in ``.gz``.
            every: one in this many episodes is recorded; 1 records all.
            envs: indices of the games to choose from, 0 <= i < num_games; None: all.
            players: names of the client's seats in the records: one for all of them, or by seat, such as ``{0: "my
                ppo"}``. Unnamed seats are called ``"policy"``; opponents have their specs.
            max_games: recording ends after this many games; None: no bound.
            max_bytes: recording ends before the file would become longer, by default 1 GiB.
            append: whether to append to an existing file. By default an existing file is refused.
            memory: bytes of each server's memory for games in progress and games not yet fetched, 64 KiB to 1 GiB; by
                default 8 MiB, and 4 KiB for each game that is recorded at a time. If it is full, the oldest games are
                lost, and a warning tells how many.

        Returns:
            The recording: number of games, length of the file, whether it has ended and why.

        Raises:
            FileExistsError: the file exists; pass ``append=True``.
            OSError: it cannot be created; or, as BlockingIOError, another recording is writing it.
            RuntimeError: the environment is being recorded already, or a step is in progress.
            RequestError, LimitError: the server refuses an argument, or cannot record.
        """
        return start([self], path, every, envs, players, max_games, max_bytes, append, memory)

    def stop_recording(self) -> Recording:
        """Write the games that have ended so far, and end the recording. Games in progress are left out.

        Raises:
            RuntimeError: the environment was not being recorded, or a step is in progress.
        """
        self._refuse_pending("stop_recording")
        return end([self])

    @property
    def recording(self) -> Recording | None:
        """The current or last recording; None if there was none."""
        return self._recording

    def _fetch_records(self) -> None:
        """Fetch records if it is time; called after steps."""
        if self._sources and self._recording is not None:
            self._recording.poll(self._sources)

    def _end_recording(self) -> None:
        if self._recording is not None:
            self._recording.stop()
        self._set_recording(self._recording, ())

    def _set_recording(self, recording: Recording | None, sources: Sequence[Source]) -> None:
        self._recording, self._sources = recording, sources
        ref = weakref.ref(self)  # a transport does not keep its environment alive

        def fetch() -> None:
            if (env := ref()) is not None:
                env._fetch_records()

        for part in self._transport.parts:
            part.between = fetch if sources else None
        if sources:
            _recorded.add(self)
        else:
            _recorded.discard(self)

    def _begin_record(
        self, first: int, chosen: NDArray[np.uint32] | None, options: dict[str, Any], players: Any
    ) -> list[Source]:
        """Start recording on every server of this environment, whose games are numbered from first."""
        names = dict.fromkeys(self.players, players) if isinstance(players, str) else dict(players or {})
        sources: list[Source] = []
        try:
            for part in self._transport.parts:
                mine, last = dict(options), first + part.handle.games
                if chosen is not None:
                    some = chosen[(chosen >= first) & (chosen < last)] - first
                    mine["games"] = some.astype("<u4").tobytes()
                first = last
                if mine.get("games") != b"":
                    part.client.require("record", "record")
                    part.call("record", mine | {"players": {operator.index(k): v for k, v in names.items()}})
                    sources.append(Source(part, options.get("memory", 8 << 20)))
        except BaseException:
            forget(sources)
            raise
        return sources


_recorded: weakref.WeakSet[Recorded] = weakref.WeakSet()  # environments with a recording in progress


def start(
    parts: Sequence[Recorded],
    path: Path,
    every: int = 100,
    envs: Ids = None,
    players: Mapping[int, str] | str | None = None,
    max_games: int | None = None,
    max_bytes: int = 1 << 30,
    append: bool = False,
    memory: int | None = None,
) -> Recording:
    """Record several environments, whose games are numbered one after the other, into one file."""
    for env in parts:
        env._refuse_pending("record")
        if env._recording is not None and env._recording.state == "recording":
            raise RuntimeError(f"record: already recording to {env._recording.path}; call stop_recording first")
    options = {"every": positive("every", every)}
    if memory is not None:
        options["memory"] = operator.index(memory)
    ids = None if envs is None else np.unique(game_ids(envs, sum(env.num_games for env in parts), "envs"))
    if ids is not None and not len(ids):
        raise ValueError("envs: got an empty list, want at least one game, or None for all")
    most = None if max_games is None else positive("max_games", max_games)
    file = RecordFile(path, append)
    sources: list[list[Source]] = []
    try:
        first = 0
        for env in parts:
            sources.append(env._begin_record(first, ids, options, players))
            first += env.num_games
        recording = Recording(file, [s for some in sources for s in some], most, positive("max_bytes", max_bytes))
    except BaseException:
        forget([s for some in sources for s in some])
        file.discard()
        raise
    for env, mine in zip(parts, sources, strict=True):
        env._set_recording(recording, mine)
    atexit.unregister(_end_all)
    atexit.register(_end_all)  # after the connection was made: so it is called before that is closed
    return recording


def start_with(envs: Sequence[Recorded], record: Path | Mapping[str, Any]) -> Recording:
    """Start what the argument ``record`` of make_vec asks for: a path, or the arguments of ``env.record``."""
    if isinstance(record, (str, os.PathLike)):
        return start(envs, record)
    if not isinstance(record, Mapping):
        raise TypeError(f"record: want a path, or a dict of the arguments of env.record, got {type(record).__name__}")
    if unknown := sorted(set(record) - _ARGUMENTS):
        raise TypeError(f"record: unknown {unknown}; want some of {sorted(_ARGUMENTS)}")
    if "path" not in record:
        raise TypeError("record: there is no path; add one, such as 'games.jsonl.gz'")
    return start(envs, **record)


def end(envs: Sequence[Recorded]) -> Recording:
    """End the recording of some environments, and return it.

    Raises:
        RuntimeError: there is none.
    """
    recording = envs[0].recording
    if recording is None:
        raise RuntimeError("stop_recording: nothing is being recorded; call record first")
    for env in envs:
        env._end_recording()
    return recording


def _end_all() -> None:
    """At exit: write what has been recorded by environments that were not closed."""
    for env in list(_recorded):
        env._end_recording()


def _forget_after_fork() -> None:
    """In a forked child: the recordings and their connections belong to the parent."""
    _recorded.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_after_fork)
