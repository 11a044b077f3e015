"""The text of recorded games: lines of JSON, one per game, or several for a very long game."""

from __future__ import annotations

import zlib
from collections.abc import Iterator
from typing import BinaryIO

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
