"""The bytes of a checkpoint: the games of an environment, with the agents that play in them."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from ..errors import BlockyardError, BusyError, CheckpointError, InternalError, ServerGoneError

MAGIC = b"BLOCKYARD CHECKPOINT\n"
VERSION = 4
_SUM = 32  # bytes of a SHA-256
_GAME = b"BYC"  # begins the bytes of a game; its length follows at 4
_LEAST = 12  # bytes of a game
_WEIGHTS = "weights:"  # begins the name of a part with weights
# What the values of JSON must be: a type, a range of integers, a list of such values, or a dict by
# key, which may have other keys too.
_COUNT = range(1 << 63)
_HEADER = {"game": str, "first": _COUNT, "package": str}
_HEAD = {"opponents": [str]}
_COUNTS = {"afterstate_calls": _COUNT, "actions": _COUNT, "illegal": _COUNT}
_CLIENT = _COUNTS | {"opponents": [str], "policies": [str]}


@contextmanager
def reading(what: str) -> Iterator[None]:
    """Turn whatever is wrong with the bytes of a checkpoint into CheckpointError; what is no matter of theirs stays."""
    try:
        yield
    except (CheckpointError, ServerGoneError, BusyError, InternalError):
        raise
    except BlockyardError as error:  # the server refuses them
        raise CheckpointError(str(error), code=error.code, name=error.name, data=error.data) from error
    except Exception as error:
        raise CheckpointError(f"checkpoint: {what} is malformed: {error!r:.200}") from error


@dataclass
class Part:
    """The games of one server, or of one block of a pool."""

    head: bytes  # what the server says of all these games together, as JSON
    games: list[bytes]  # in order


@dataclass
class Checkpoint:
    """A checkpoint in memory.

    As bytes it is :data:`MAGIC`, the length of the header (``<u8``), the header (JSON), a list of named parts, and the
    SHA-256 of everything before. A part is the length of its name (``u1``), its name, the length of its data (``<u4``)
    and its data, as within the games of the method ``checkpoint`` in ``rpc/PROTOCOL.md``. The parts are, in this order:
    ``head`` and a ``game`` for each of its games, for each of :attr:`parts`; ``weights:NAME``; ``client`` (JSON).
    """

    game: str  # with its variant
    first: int  # number of the first game
    package: str  # version of the package that wrote it
    parts: list[Part] = field(default_factory=list)
    weights: dict[str, bytes] = field(default_factory=dict)  # of opponents, by the name that specs call them
    client: list[dict[str, Any]] = field(default_factory=list)  # what the client keeps of each environment

    @property
    def games(self) -> int:
        """The number of games in all parts."""
        return sum(len(part.games) for part in self.parts)

    def to_bytes(self) -> bytes:
        """Return the checkpoint as the bytes of a file, which :meth:`from_bytes` reads."""
        header = {"version": VERSION, "package": self.package, "game": self.game, "first": self.first}
        text = json.dumps(header).encode()
        pieces = [MAGIC, struct.pack("<Q", len(text)), text]
        for part in self.parts:
            pieces += [_part("head", part.head), *(_part("game", game) for game in part.games)]
        pieces += (_part(_WEIGHTS + name, data) for name, data in self.weights.items())
        pieces.append(_part("client", json.dumps(self.client).encode()))
        body = b"".join(pieces)
        return body + hashlib.sha256(body).digest()

    @classmethod
    def from_bytes(cls, data: object) -> Checkpoint:
        """Read what :meth:`to_bytes` returned; raise CheckpointError if it is damaged, or of another version."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"checkpoint: want the bytes that checkpoint() returned, got {type(data).__name__}")
        data = bytes(data)
        if not data.startswith(MAGIC[: len(data)]) or not data:
            raise CheckpointError("these bytes are no checkpoint: pass what checkpoint() returned")
        if len(data) < len(MAGIC) + 8 + _SUM:
            raise CheckpointError(f"checkpoint: it is cut off after {len(data)} bytes; use another copy")
        with reading("its header"):
            body = data[:-_SUM]
            header, rest = _header(body)
            if hashlib.sha256(body).digest() != data[-_SUM:]:
                raise CheckpointError(
                    "checkpoint: its checksum is wrong, so it is damaged or cut off; use another copy"
                )
            return cls._read(header, rest)

    @classmethod
    def _read(cls, header: dict[str, Any], rest: bytes) -> Checkpoint:
        out = cls(**_checked(_HEADER, {name: header[name] for name in _HEADER}))
        out.client = [{key: one[key] for key in _CLIENT} for one in _checked([_CLIENT], out._take(rest))]
        if not out.parts or not out.client:
            raise ValueError("no games")
        counts = {len(_checked(_HEAD, json.loads(part.head))["opponents"]) for part in out.parts}
        for one in out.client:
            if counts != {len(one["opponents"])}:
                raise ValueError("names for another number of opponents")
        return out

    def _take(self, data: bytes) -> object:
        """Take the games and weights of named parts; return what the client keeps."""
        client = None
        for name, one in _parts(data):
            if name == "head":
                self.parts.append(Part(one, []))
            elif name == "game":
                self.parts[-1].games += split_games(one)
            elif name == "client":
                client = json.loads(one)
            elif name.startswith(_WEIGHTS):
                self.weights[name[len(_WEIGHTS) :]] = one
            else:
                raise ValueError(f"unknown part {name!r:.40}")
        return client


def _part(name: str, data: bytes) -> bytes:
    return struct.pack("<B", len(name)) + name.encode() + struct.pack("<I", len(data)) + data


def _parts(data: bytes) -> Iterator[tuple[str, bytes]]:
    """Return the names and data of all named parts; raise ValueError if they do not fill data."""
    at = 0
    while at < len(data):
        name = data[at + 1 : at + 1 + data[at]]
        at += 1 + len(name)
        (length,) = struct.unpack_from("<I", data, at)
        at += 4 + length
        if at > len(data):
            raise ValueError(f"part {name!r:.40} ends at byte {at} of {len(data)}")
        yield name.decode(), data[at - length : at]


def _checked(shape: Any, value: Any) -> Any:
    """Return a value that must have this shape, see :data:`_HEADER`; raise LookupError, TypeError or ValueError."""
    kind: Any = shape if isinstance(shape, type) else type(shape)
    if isinstance(shape, range):
        if type(value) is not int or value not in shape:
            raise ValueError(f"{value!r:.40} is no integer from {shape[0]} to {shape[-1]}")
    elif not isinstance(value, kind):
        raise TypeError(f"{value!r:.40} is no {kind.__name__}")
    elif isinstance(shape, list):
        for one in value:
            _checked(shape[0], one)
    elif isinstance(shape, dict):
        for key, inner in shape.items():
            _checked(inner, value[key])
    return value


def _header(body: bytes) -> tuple[dict[str, Any], bytes]:
    """Return the header, if it is of this version, and the rest: another one may have its checksum elsewhere."""
    start = len(MAGIC) + 8
    end = start + struct.unpack_from("<Q", body, len(MAGIC))[0]
    try:
        header = json.loads(body[start:end])
    except ValueError:  # damaged: the checksum tells
        header = None
    version = header.get("version") if isinstance(header, dict) else None
    if isinstance(version, int) and version != VERSION:
        raise CheckpointError(
            f"checkpoint: it has version {version} of the format, written by blockyard {header.get('package')!s:.20}; "
            f"this package reads version {VERSION}: install the package that wrote it"
        )
    return header if isinstance(header, dict) else {}, body[end:]


def split_games(data: bytes) -> list[bytes]:
    """Return the games that lie one after the other in data; raise ValueError if they do not fill it."""
    games, at = [], 0
    while at < len(data):
        length = struct.unpack_from("<I", data, at + 4)[0] if len(data) - at >= _LEAST else 0
        if data[at : at + 3] != _GAME or not _LEAST <= length <= len(data) - at:
            raise ValueError(f"no game at byte {at} of {len(data)}")
        games.append(data[at : at + length])
        at += length
    return games


def runs(sizes: Sequence[int], room: int) -> list[tuple[int, int]]:
    """Cut games of these bytes into ranges [start, end) of at most room bytes each, or of a single game."""
    out, start, used = [], 0, 0
    for k, size in enumerate(sizes):
        if k > start and used + size + 4 > room:
            out.append((start, k))
            start, used = k, 0
        used += size + 4
    return [*out, (start, len(sizes))]
