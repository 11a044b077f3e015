"""Files of recorded games, without a server: lines of JSON, one per game, or several for a very long game."""

import contextlib
import gzip
import io
import os
import re
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import BinaryIO

from ..errors import on_error

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]


# One game of several whole ones, which a server sends. As JSON escapes quotes in text, "more" is the field.
GAME = re.compile(rb'(?:.*"more":true.*\n)*.*\n')


def _compressed(file: BinaryIO) -> bool:
    """Whether a file begins with a gzip member; it is read from its beginning then."""
    found = file.read(2) == b"\x1f\x8b"
    file.seek(0)
    return found


class RecordFile:
    """A file of recorded games that is open for writing at its end.

    Every write adds whole games with one system call: one gzip member if the file is compressed. So the file can
    be read at any time; a process that is killed during that call may leave an incomplete game at the end.
    """

    def __init__(self, path: str | os.PathLike[str], repair: Callable[[Path], None] | None = None) -> None:
        """Create the file, compressed if its name ends in .gz; or open one, to append after its last whole game.

        repair lets an existing file, which may be replaced, end with a whole game; None refuses an existing file.
        """
        self.path = Path(os.fspath(path))
        self.created = repair is None or not self.path.exists()
        try:
            self._open("xb" if self.created else "r+b")
        except FileExistsError:
            what = "pass append=True to add games to it, or choose another name"
            raise FileExistsError(f"record: {self.path} exists: {what}") from None
        if repair and not self.created:
            with on_error(self.close):
                repair(self.path)
            self.close()
            self._open("r+b")
        self.size = self._file.seek(0, io.SEEK_END)
        self._file.seek(0)
        self.compressed = _compressed(self._file) if self.size else self.path.suffix == ".gz"
        self._file.seek(self.size)

    def _open(self, mode: str) -> None:
        """Open the file for this recording alone."""
        self._file: BinaryIO = open(self.path, mode, buffering=0)  # type: ignore[assignment]
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            self.close()
            what = f"{self.path} is being written by another recording"
            raise BlockingIOError(f"record: {what}: stop that first, or choose another name") from None

    def add(self, games: Sequence[bytes], most: int) -> int:
        """Append whole games as long as the file has at most this many bytes; return how many games were added.

        If a write fails, for example because the disk is full, the file is as before.
        """
        if not games or self._write(b"".join(games), most):
            return len(games)
        done = 0
        while done < len(games) and self._write(games[done], most):
            done += 1
        return done

    def _write(self, text: bytes, most: int) -> bool:
        data = memoryview(gzip.compress(text, 6, mtime=0) if self.compressed else text)
        if self.size + len(data) > most:
            return False
        try:
            while data:
                data = data[self._file.write(data) :]
        except BaseException:
            with contextlib.suppress(OSError):
                self._file.truncate(self.size)
                self._file.seek(self.size)
            raise
        self.size = self._file.tell()
        return True

    def close(self) -> None:
        """Close the file, which another recording may then write."""
        self._file.close()

    def discard(self) -> None:
        """Close the file, and remove it if this object created it."""
        self.close()
        if self.created:
            self.path.unlink(missing_ok=True)
