"""Positions as the server paints them: boards of cells, pieces beside them, notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

# What a cell is to be drawn as.
Kind = Literal["empty", "hint", "ghost", "played", "lying"]


@dataclass(frozen=True)
class Board:
    """A grid of cells, row by row: a glyph and an ink for each."""

    name: str
    w: int
    h: int
    cells: bytes
    ink: bytes

    def kind(self, x: int, y: int) -> Kind:
        """Return what a cell is: empty, marked, where a piece will come to lie, of a piece in play, or filled."""
        glyph, ink = chr(self.cells[y * self.w + x]), self.ink[y * self.w + x]
        if glyph == ".":
            return "empty"
        if "a" <= glyph <= "z" and glyph != "x":
            return "ghost"
        if ink == 0:
            return "hint"
        return "played" if "A" <= glyph <= "Z" else "lying"

    def same(self, x: int, y: int, dx: int, dy: int) -> bool:
        """Whether a neighbour shows the same glyph."""
        u, v = x + dx, y + dy
        return 0 <= u < self.w and 0 <= v < self.h and self.cells[v * self.w + u] == self.cells[y * self.w + x]


@dataclass(frozen=True)
class Tray:
    """Pieces beside the boards: those to come, or those a seat (-1: nobody) has left."""

    name: str
    seat: int
    pieces: tuple[Board, ...]


@dataclass(frozen=True)
class Frame:
    """A position for people.

    Attributes:
        by_seat: cells are coloured by whose they are, not by what piece they were.
    """

    boards: tuple[Board, ...]
    trays: tuple[Tray, ...]
    notes: tuple[str, ...]
    by_seat: bool

    @classmethod
    def from_wire(cls, d: dict[str, Any]) -> Frame:
        """Read what ``render`` answers; boards that only show a piece to come become a tray."""
        boards = [_board(b) for b in d["boards"]]
        main = [b for k, b in enumerate(boards) if k == 0 or not b.name.startswith("next")]
        trays = [Tray(t["name"], t["seat"], tuple(map(_board, t["pieces"]))) for t in d.get("trays") or ()]
        if coming := [piece for b in boards if b not in main and (piece := _cropped(b))]:
            trays.insert(0, Tray("next", -1, tuple(coming)))
        pieces = [*main, *(p for t in trays for p in t.pieces)]
        by_seat = any(ord("0") <= glyph <= ord("9") for b in pieces for glyph in b.cells)
        notes = [part.strip() for note in d["notes"] for part in note.replace("|", "\n").split("\n")]
        return cls(tuple(main), tuple(trays), tuple(note for note in notes if note), by_seat)


def _board(d: dict[str, Any]) -> Board:
    return Board(d["name"], d["w"], d["h"], bytes(d["cells"]), bytes(d["ink"]))


def _cropped(b: Board) -> Board | None:
    """Return the smallest part of a board that holds all its coloured cells."""
    taken = [(k % b.w, k // b.w) for k, ink in enumerate(b.ink) if ink]
    if not taken:
        return None
    columns, rows = [x for x, _ in taken], [y for _, y in taken]
    left, top, w, h = min(columns), min(rows), max(columns) - min(columns) + 1, max(rows) - min(rows) + 1
    at = [(top + y) * b.w + left + x for y in range(h) for x in range(w)]
    cells = bytes(b.cells[k] if b.ink[k] else ord(".") for k in at)
    return Board("", w, h, cells, bytes(b.ink[k] for k in at))
