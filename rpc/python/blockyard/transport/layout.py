"""How the arrays of one step lie in memory, as the server's answer to ``open`` describes it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from ..errors import ProtocolError

Ids = NDArray[np.uint32]  # indices of games
# The arrays of every step, beside the boards, which are ``planes`` or ``bits``. ``mask`` and ``illegal`` are optional.
REQUIRED_FIELDS = ("globals", "seat", "reward", "terminated", "truncated", "score")
# Fields with one entry per row. The others have one entry per game.
ROW_FIELDS = ("planes", "bits", "globals", "mask", "seat", "illegal")


@dataclass(frozen=True)
class Field:
    """One array in the memory of a step; offset in bytes from its start, the first axis is rows or games."""

    name: str
    dtype: np.dtype[Any]
    shape: tuple[int, ...]
    offset: int

    @classmethod
    def from_wire(cls, d: dict[str, Any]) -> Field:
        """Return the field that an entry of the server's layout describes."""
        return cls(d["name"], np.dtype(d["dtype"]), tuple(d["shape"]), d["off"])

    @property
    def nbytes(self) -> int:
        """How many bytes of the slab the array takes."""
        return int(np.prod(self.shape)) * self.dtype.itemsize


@dataclass(frozen=True)
class Handle:
    """An open environment on the server."""

    number: int  # names it in requests
    games: int
    seats: int  # of each game
    players: tuple[int, ...]  # the seats that this client drives, ascending
    rows_per_game: int  # one for each driven seat; with ``rows="acting"``, for each that acts at the same time
    rows: int  # games * rows_per_game
    fields: tuple[Field, ...]  # the arrays of a step
    slab_len: int  # bytes of a step
    state_len: int  # bytes of the state of one game
    opponents: list[str] = field(default_factory=list, compare=False)  # that ``opponent`` counts; set_opponents adds

    @classmethod
    def from_wire(cls, d: dict[str, Any]) -> Handle:
        """Read the result of ``open``; raise ProtocolError if it lacks an entry, or arrays lie outside the memory."""
        try:
            fields = tuple(map(Field.from_wire, d["layout"]))
            handle = cls(
                **{name: d[name] for name in ("seats", "rows", "slab_len", "state_len")},
                number=d["h"],
                games=d["num_envs"],
                players=tuple(d["players"]),
                rows_per_game=d["rows_per_env"],
                fields=fields,
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


def span(name: str, start: int, end: int, per: int) -> slice:
    """Return where the entries of games from start to end lie in a field; per is the number of rows of a game."""
    per = per if name in ROW_FIELDS else 1
    return slice(start * per, end * per)


def resized(one: Handle, games: int) -> Handle:
    """Return the handle that a server with another number of games would have announced."""
    fields, at, per = [], 0, one.rows_per_game
    for f in one.fields:
        placed = Field(f.name, f.dtype, (span(f.name, 0, games, per).stop, *f.shape[1:]), -(-at // 64) * 64)
        fields.append(placed)
        at = placed.offset + -(-placed.nbytes // 8) * 8
    return replace(one, number=-1, games=games, rows=games * per, fields=tuple(fields), slab_len=at)
