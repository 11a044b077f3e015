"""The bytes of a checkpoint: the games of an environment, with the agents that play in them."""

from __future__ import annotations

import hashlib
import json
import struct
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from typing import Any

import msgpack  # type: ignore[import-untyped,unused-ignore]

from ..errors import BlockyardError, BusyError, CheckpointError, InternalError, ServerGoneError

MAGIC = b"BLOCKYARD CHECKPOINT\n"
VERSION = 6
_SUM = 32  # bytes of a SHA-256
_GAME = b"BYC"  # begins the bytes of a game; its length follows at 4
_LEAST = 12  # bytes of a game
# What values must be: of a type, in a range of integers, a list of such values, or a dict by key.
_COUNT = range(1 << 63)
_CLIENT = {"afterstate_calls": _COUNT, "actions": _COUNT, "illegal": _COUNT, "opponents": [str], "policies": [str]}
_CONTENT = {"game": str, "first": _COUNT, "package": str, "head": bytes, "games": [bytes], "weights": dict}
_CONTENT |= {"client": _CLIENT}


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
class Checkpoint:
    """A checkpoint in memory.

    As bytes it is :data:`MAGIC`, a MessagePack map of the attributes and the version of this format, and the SHA-256 of
    everything before.
    """

    game: str  # with its variant
    first: int  # number of the first game
    package: str  # version of the package that wrote it
    client: dict[str, Any]  # what the client keeps
    head: bytes = b""  # what the server says of all games together, as JSON
    games: list[bytes] = field(default_factory=list)  # in order
    weights: dict[str, bytes] = field(default_factory=dict)  # of opponents, by the name that specs call them

    def to_bytes(self) -> bytes:
        """Return the checkpoint as the bytes of a file, which :meth:`from_bytes` reads."""
        body: bytes = MAGIC + msgpack.packb({"version": VERSION} | asdict(self))
        return body + hashlib.sha256(body).digest()

    @classmethod
    def from_bytes(cls, data: object) -> Checkpoint:
        """Read what :meth:`to_bytes` returned; raise CheckpointError if it is damaged, or of another version."""
        if not isinstance(data, (bytes, bytearray, memoryview)):
            raise TypeError(f"checkpoint: want the bytes that checkpoint() returned, got {type(data).__name__}")
        data = bytes(data)
        if not data.startswith(MAGIC[: len(data)]) or not data:
            raise CheckpointError("these bytes are no checkpoint: pass what checkpoint() returned")
        if len(data) <= len(MAGIC) + _SUM:
            raise CheckpointError(f"checkpoint: it is cut off after {len(data)} bytes; use another copy")
        body = data[:-_SUM]
        if hashlib.sha256(body).digest() != data[-_SUM:]:
            raise CheckpointError("checkpoint: its checksum is wrong, so it is damaged or cut off; use another copy")
        with reading("its content"):
            return cls._of(msgpack.unpackb(body[len(MAGIC) :]))

    @classmethod
    def _of(cls, content: dict[str, Any]) -> Checkpoint:
        """Return the checkpoint of a map of its attributes; raise an error of any class if it is malformed."""
        if (version := content.pop("version")) != VERSION:
            raise CheckpointError(
                f"checkpoint: it has version {version} of the format, written by blockyard {content['package']!s:.20}; "
                f"this package reads version {VERSION}: install the package that wrote it"
            )
        out = cls(**_checked(_CONTENT, content))
        _checked([str], [*out.weights])
        _checked([bytes], [*out.weights.values()])
        if not out.games or any(split_games(game) != [game] for game in out.games):
            raise ValueError("no games, or what is none")
        if len(_checked([str], json.loads(out.head)["opponents"])) != len(out.client["opponents"]):
            raise ValueError("names for another number of opponents")
        return out


def _checked(shape: Any, value: Any) -> Any:
    """Return a value that must have this shape, see :data:`_CONTENT`; raise LookupError, TypeError or ValueError."""
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
