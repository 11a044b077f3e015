"""Files of recorded games, without a server: lines of JSON, one per game, or several for a very long game."""

from __future__ import annotations

import contextlib
import gzip
import io
import json
import os
import shutil
import tempfile
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, BinaryIO

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

_CHUNK = 1 << 16
_GZIP = 31  # wbits of zlib for a gzip member
MAGIC = b"\x1f\x8b"  # the first bytes of a gzip member


class DamagedError(ValueError):
    """A file that is not one of recorded games, or is damaged in the middle."""


def whole_games(text: bytes) -> tuple[list[bytes], bytes]:
    """Cut text into games, each the bytes of its lines; return them, and what follows the last whole game."""
    games: list[bytes] = []
    start = at = 0
    while (end := text.find(b"\n", at)) >= 0:
        line, at = text[at : end + 1], end + 1
        if b'"more":true' not in line:  # quotes inside a JSON string are escaped, so this is the field
            games.append(text[start:at])
            start = at
    return games, text[start:]


class Reader:
    """Reads the games of a file, plain or of gzip members, chunk by chunk."""

    def __init__(self, file: BinaryIO, start: int = 0) -> None:
        """Start at an offset, which is the start of a gzip member in a compressed file."""
        file.seek(0)
        self.compressed = file.read(2) == MAGIC
        file.seek(start)
        self._file = file
        self.rest = b""  # what follows the last whole game so far
        self.member_end = start  # behind the last complete gzip member; in a plain file, what has been read
        self.cut = False  # whether the file ends inside a gzip member, known at the end

    def __iter__(self) -> Iterator[tuple[list[bytes], bool]]:
        """Yield whole games, each the bytes of its lines, and whether a member ends here (in a plain file: always)."""
        for piece, ends in self._pieces():
            games, self.rest = whole_games(self.rest + piece)
            yield games, ends

    def _pieces(self) -> Iterator[tuple[bytes, bool]]:
        if not self.compressed:
            while piece := self._file.read(_CHUNK):
                self.member_end += len(piece)
                yield piece, True
            return
        rest = self._file.read(_CHUNK)
        while rest:
            member, used = zlib.decompressobj(_GZIP), 0
            while not member.eof:
                if not rest:
                    self.cut = True
                    return
                try:
                    piece = member.decompress(rest)
                except zlib.error as error:
                    raise DamagedError(f"the gzip data is damaged behind byte {self.member_end}: {error}") from None
                used += len(rest) - len(member.unused_data)
                rest = member.unused_data
                if not member.eof:
                    yield piece, False
                    rest = self._file.read(_CHUNK)
            self.member_end += used
            yield piece, True
            rest = rest or self._file.read(_CHUNK)


def games_of(file: BinaryIO) -> Iterator[bytes]:
    """Yield the games of a file; an incomplete last game is left out."""
    reader = Reader(file)
    for games, _ in reader:
        yield from games
    if reader.rest.rstrip().endswith(b"}") and b'"more":true' not in reader.rest:
        yield reader.rest  # the last line of a plain file may have no line end


class RecordFile:
    """A file of recorded games that is open for writing at its end.

    Every write adds whole games with one system call: one gzip member if the file is compressed. So the file can
    be read at any time; a process that is killed during that call may leave an incomplete game at the end.
    """

    def __init__(self, path: str | os.PathLike[str], append: bool = False) -> None:
        """Create the file, compressed if its name ends in .gz; or open one, to append after its last whole game."""
        self.path = Path(os.fspath(path))
        self.created = not (append and self.path.exists())
        try:
            self._file: BinaryIO = open(self.path, "xb" if self.created else "r+b", buffering=0)
        except FileExistsError:
            what = "pass append=True to add games to it, or choose another name"
            raise FileExistsError(f"record: {self.path} exists: {what}") from None
        try:
            self._lock()
            if not self.created and _mend(self.path, self._file):
                self._file.close()
                self._file = open(self.path, "r+b", buffering=0)
                self._lock()
            self.size = self._file.seek(0, io.SEEK_END)
            self._file.seek(0)
            self.compressed = self._file.read(2) == MAGIC if self.size else self.path.suffix == ".gz"
            self._file.seek(self.size)
        except BaseException:
            self._file.close()
            raise

    def _lock(self) -> None:
        if fcntl is None:
            return
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
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
        """Close the file. May be called again."""
        self._file.close()

    def discard(self) -> None:
        """Close the file, and remove it if this object created it."""
        self.close()
        if self.created:
            self.path.unlink(missing_ok=True)


def _mend(path: Path, file: BinaryIO) -> bool:
    """Remove an incomplete game at the end of a file; return whether path is a new file now."""
    whole, first, reader = 0, True, Reader(file)
    try:
        for games, ends in reader:
            if first and games:
                _check_first(games[0])
                first = False
            if ends and not reader.rest:
                whole = reader.member_end
            if first and len(reader.rest) > 1 << 24:
                raise DamagedError("it has a line of more than 16 MiB")
        if first and reader.rest and not reader.rest.startswith(b'{"game":'):  # not even the start of a game
            _check_first(reader.rest)
    except DamagedError as error:
        what = f"cannot append to {path}: {error}"
        raise DamagedError(f"record: {what}; choose another name, or see datasets check") from None
    if reader.rest or reader.cut:
        _rewrite(path, file, whole)
        return True
    return False


def _is_game(line: bytes) -> bool:
    try:
        record = json.loads(line)
    except ValueError:
        return False
    return isinstance(record, dict) and "game" in record and "choices" in record


def _check_first(game: bytes) -> None:
    line = game.partition(b"\n")[0]
    if not _is_game(line):
        raise DamagedError(f"its first line is not a recorded game: {line[:60]!r}")


def _rewrite(path: Path, file: BinaryIO, whole: int) -> None:
    """Replace the file by its first bytes and the whole games behind them."""
    fd, name = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name}.")
    try:
        with os.fdopen(fd, "wb") as out:
            shutil.copymode(path, name)
            file.seek(0)
            while (left := whole - out.tell()) and (piece := file.read(min(left, _CHUNK))):
                out.write(piece)
            reader = Reader(file, whole)
            target: Any = gzip.GzipFile(fileobj=out, mode="wb", mtime=0) if reader.compressed else out
            for games, _ in reader:
                target.write(b"".join(games))
            if _is_game(reader.rest):  # whole, but without a line end
                target.write(reader.rest + b"\n")
            if target is not out:
                target.close()
        os.replace(name, path)
    except BaseException:
        Path(name).unlink(missing_ok=True)
        raise
