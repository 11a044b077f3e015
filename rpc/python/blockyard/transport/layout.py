"""How the arrays of one step lie in memory, as the server's answer to ``open`` describes it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from ..errors import ProtocolError

# The arrays of every step, beside the boards, which are ``planes`` or ``bits``. ``mask`` and ``illegal`` are optional.
REQUIRED_FIELDS = ("globals", "seat", "reward", "terminated", "truncated", "score")
# Fields with one entry per row. The others have one entry per game.
ROW_FIELDS = ("planes", "bits", "globals", "mask", "seat", "illegal")


@dataclass(frozen=True)
class Field:
    """One array in the memory of a step.

    Attributes:
        name: such as ``"reward"``.
        dtype: little-endian.
        shape: the first axis is rows or games.
        offset: bytes from the start of the memory.
    """

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int

    @classmethod
    def from_wire(cls, d: dict[str, Any]) -> Field:
        """Read an entry of a layout; KeyError, TypeError or ValueError if it is malformed."""
        return cls(d["name"], np.dtype(d["dtype"]), tuple(d["shape"]), d["off"])

    @property
    def nbytes(self) -> int:
        """Length of the array in bytes."""
        return int(np.prod(self.shape)) * self.dtype.itemsize


@dataclass(frozen=True)
class Handle:
    """An open environment on the server.

    Attributes:
        number: names the environment in requests.
        games: number of games.
        seats: seats of each game.
        players: the seats that this client drives, ascending.
        rows_per_game: rows of each game: one for each driven seat; with ``rows="acting"``, one for each that acts at
            the same time.
        rows: games * rows_per_game.
        fields: the arrays of a step.
        slab_len: bytes of a step.
        state_len: bytes of the state of one game.
        opponents: the specs that the field ``opponent`` counts; grows with ``set_opponents``.
    """

    number: int
    games: int
    seats: int
    players: tuple[int, ...]
    rows_per_game: int
    rows: int
    fields: tuple[Field, ...]
    slab_len: int
    state_len: int
    opponents: list[str] = field(default_factory=list, compare=False)

    @classmethod
    def from_wire(cls, d: dict[str, Any]) -> Handle:
        """Read the result of ``open``.

        Raise ProtocolError if an entry is missing, or the arrays do not fit into the memory.
        """
        try:
            fields = tuple(map(Field.from_wire, d["layout"]))
            handle = cls(
                number=d["h"],
                games=d["num_envs"],
                seats=d["seats"],
                players=tuple(d["players"]),
                rows_per_game=d["rows_per_env"],
                rows=d["rows"],
                fields=fields,
                slab_len=d["slab_len"],
                state_len=d["state_len"],
                opponents=list(d.get("opponents") or ()),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ProtocolError(f"open: the server's answer lacks an entry: {error!r}") from error
        for f in fields:
            if f.offset < 0 or f.offset + f.nbytes > handle.slab_len:
                raise ProtocolError(f"open: field {f.name} lies outside the {handle.slab_len} bytes of a step")
        names = {f.name for f in fields}
        if missing := set(REQUIRED_FIELDS) - names | ({"planes"} if names.isdisjoint({"planes", "bits"}) else set()):
            raise ProtocolError(f"open: the memory of a step has no field {sorted(missing)}")
        return handle


def joined(handles: Sequence[Handle]) -> Handle:
    """Return the handle that one server with the games of all these handles would have announced."""
    return resized(handles[0], sum(h.games for h in handles))


def resized(one: Handle, games: int) -> Handle:
    """Return the handle that a server with another number of games would have announced."""
    rows = games * one.rows_per_game
    fields, at = [], 0
    for f in one.fields:
        shape = (rows if f.name in ROW_FIELDS else games, *f.shape[1:])
        placed = Field(f.name, f.dtype, shape, -(-at // 64) * 64)
        fields.append(placed)
        at = placed.offset + -(-placed.nbytes // 8) * 8
    numbers = (one.rows_per_game, rows)
    return Handle(-1, games, one.seats, one.players, *numbers, tuple(fields), at, one.state_len, one.opponents)
