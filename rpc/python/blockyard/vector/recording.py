"""Recording: the server writes down whole episodes, the client fetches them and keeps them in a file."""

import atexit
import os
import subprocess
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Literal

from ..errors import BlockyardError, BusyError, plain
from ..formats.records import GAME, RecordFile
from ..transport.over_socket import SocketTransport
from ..transport.server import find_server
from .batch import warn_user
from .engine import Engine

_SECONDS = 1.0  # between two fetches, if the server's memory suffices
_TRIALS = 100  # of the last fetch
State = Literal["recording", "stopped", "max_games", "max_bytes", "failed"]


class Source:
    """The recorded games of one server: where they are fetched from, and when next."""

    def __init__(self, transport: SocketTransport, memory: int) -> None:
        self.transport, self.memory = transport, memory
        self.open = True  # the server is recording, or has records left
        self.interval = _SECONDS
        self.due = time.monotonic() + self.interval
        self.dropped = self.interrupted = 0

    def fetch(self, stop: bool) -> tuple[bytes, int]:
        """Fetch finished games; return their lines, and how many are left. With stop, a busy server is tried again."""
        for trial in range(_TRIALS):
            try:
                d = self.transport.call("records", {"stop": True} if stop else {})
                break
            except BusyError:
                if not stop or trial == _TRIALS - 1:
                    raise
                time.sleep(0.05)
        self.dropped, self.interrupted = d["dropped"], d["interrupted"]
        self.open = d["recording"] or d["waiting"] > 0
        return d["lines"], d["waiting"]

    def plan(self, size: int) -> None:
        """Set when to fetch again: sooner if the games fetched took much of the server's memory."""
        wanted = self.interval * 0.25 * self.memory / max(1, size)
        self.interval = min(_SECONDS, max(0.01, min(2 * self.interval, wanted)))
        self.due = time.monotonic() + self.interval


class Recording:
    """Games being recorded into a file; :meth:`BlockVectorEnv.record` starts it.

    Attributes:
        path: the file.
        games: number of games written to it by this recording.
        size: length of the file in bytes.
        state: ``"recording"``; ``"stopped"``, by ``stop_recording`` or ``close``; ``"max_games"`` or ``"max_bytes"``:
            this bound was reached, and recording has ended; ``"failed"``: see error. In each case the file is complete
            and closed.
        error: the error that ended the recording, or None. It does not stop the environment.
    """

    def __init__(self, file: RecordFile, sources: Sequence[Source], max_games: int | None, max_bytes: int) -> None:
        self._file, self._sources = file, list(sources)
        self._max_games, self._max_bytes = max_games, max_bytes
        self._warned = False
        self.path, self.games, self.size = file.path, 0, file.size
        self.state: State = "recording"
        self.error: Exception | None = None

    @property
    def dropped(self) -> int:
        """Number of chosen episodes that are lost because the server's memory for records was full."""
        return sum(s.dropped for s in self._sources)

    @property
    def interrupted(self) -> int:
        """Number of chosen episodes left out because reset, restore or clone ended them early."""
        return sum(s.interrupted for s in self._sources)

    def flush(self) -> None:
        """Write the games that have ended so far; otherwise this happens about once per second while stepping."""
        self._collect(self._sources, stop=False)

    def poll(self, parts: Sequence[SocketTransport]) -> None:
        """Fetch from those of these servers that are due."""
        now = time.monotonic()
        for source in self._sources:
            if source.due <= now and source.transport in parts:
                self._collect([source], stop=False)

    def stop(self) -> None:
        """Write the games that have ended, and close the file. May be called again."""
        if self.state == "recording":
            self._collect(self._sources, stop=True)
        if self.state == "recording":
            self.state = "stopped"
        self._file.close()
        _open.discard(self)

    def _collect(self, sources: Sequence[Source], stop: bool) -> None:
        """Fetch and write games; with stop, all that are left. An error ends the recording, not the caller."""
        try:
            for source in sources:
                while source.open and self.state == "recording":
                    lines, left = source.fetch(stop)
                    source.plan(len(lines))
                    self._write(lines)
                    if not left:
                        break
        except BusyError:
            return  # too many responses at once: the next fetch will do
        except (BlockyardError, OSError) as error:
            self.state, self.error = "failed", error
            self._file.close()
            warn_user(f"recording to {self.path} has ended after {self.games} games: {error}")
        if self.state != "recording":
            forget(self._sources)
        elif self.dropped and not self._warned:
            self._warned = True
            warn_user(
                f"recording to {self.path}: {self.dropped} games are lost because the server's memory for records was "
                "full; pass a larger every= or memory="
            )

    def _write(self, lines: bytes) -> None:
        games = GAME.findall(lines)
        if self._max_games is not None and self.games + len(games) >= self._max_games:
            games = games[: self._max_games - self.games]
            self.state = "max_games"
        added = self._file.add(games, self._max_bytes)
        if added < len(games):
            self.state = "max_bytes"
        self.games += added
        self.size = self._file.size
        if self.state != "recording":
            self._file.close()

    def __repr__(self) -> str:
        lost = f", {self.dropped} lost" if self.dropped else ""
        return f"Recording({str(self.path)!r}, {self.state}: {self.games} games, {self.size:,} bytes{lost})"


def repair(path: Path) -> None:
    """Let a file end with a whole game, as ``blockyard repair`` does; ValueError: it is no file of recorded games."""
    done = subprocess.run([find_server(), "repair", path.absolute()], capture_output=True, text=True, check=False)
    if done.returncode:
        raise ValueError(f"record: cannot append to {path}; choose another name. {plain(done.stderr.strip())}")


def forget(sources: Sequence[Source]) -> None:
    """Let servers stop recording and drop what has not been fetched."""
    for source in sources:
        try:
            while source.open:
                source.fetch(stop=True)
        except BlockyardError:
            source.open = False


def follow(engine: Engine, recording: Recording) -> None:
    """Let an environment fetch what has been recorded when it steps."""
    engine.recording, engine.fetch = recording, partial(recording.poll, engine.transport.parts)
    _open.add(recording)
    engine.ends.append(partial(_end, recording))
    atexit.unregister(_end_all)
    atexit.register(_end_all)  # after the connection was made: so it is called before that is closed


def end(engine: Engine) -> None:
    """Write the games that have ended, and end the recording of an environment, if there is one."""
    if engine.recording is not None:
        engine.recording.stop()
    engine.fetch = None


_open: set[Recording] = set()  # those in progress, whose connections stay open until they end


def _end(recording: Recording) -> None:
    """Write what has been recorded by an environment that was collected, and was not closed."""
    if recording in _open:
        recording.stop()


def _end_all() -> None:
    """At exit: write what has been recorded by environments that were not closed."""
    for recording in list(_open):
        recording.stop()


if hasattr(os, "register_at_fork"):  # in a forked child the recordings and their connections are the parent's
    os.register_at_fork(after_in_child=_open.clear)
