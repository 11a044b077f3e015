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


class Members:
    """Reads a file of text, plain or of gzip members, chunk by chunk.

    Attributes:
        compressed: whether the file consists of gzip members.
        member_end: offset behind the last complete gzip member; in a plain file, of what has been read.
        cut: whether the file ends inside a gzip member, known at the end.
    """

    def __init__(self, file: BinaryIO, start: int = 0) -> None:
        """Start at an offset, which is the start of a gzip member in a compressed file."""
        file.seek(0)
        self.compressed = file.read(2) == MAGIC
        file.seek(start)
        self._file, self.member_end, self.cut = file, start, False

    def __iter__(self) -> Iterator[tuple[bytes, bool]]:
        """Yield pieces of the text, and whether each ends a member (in a plain file: always).

        Raise DamagedError if the compressed data is invalid.
        """
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
    """Yield the games of a file, each as the bytes of its lines; an incomplete last game is left out.

    Raise DamagedError if the compressed data is invalid.
    """
    rest = b""
    for piece, _ in Members(file):
        games, rest = whole_games(rest + piece)
        yield from games
    if rest.strip() and rest.rstrip().endswith(b"}") and b'"more":true' not in rest:
        yield rest  # the last line of a plain file may have no line end
