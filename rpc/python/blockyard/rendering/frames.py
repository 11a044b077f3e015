"""Positions as the server describes them for display: boards of cells, pieces beside them, notes."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

# How a cell is drawn: empty, marked, where a piece would land, part of a piece in play, filled.
Kind = Literal["empty", "hint", "ghost", "played", "lying"]


@dataclass(frozen=True)
class Board:
    """A grid of w columns and h rows of cells, row by row."""

    name: str  # "" or "board" is not shown
    w: int
    h: int
    cells: bytes  # one glyph (ASCII) per cell
    ink: bytes  # one colour index per cell; 0 is an empty cell; an empty cell with a colour is tinted with it

    def kind(self, x: int, y: int) -> Kind:
        """Return how the cell in column x, row y is drawn."""
        glyph, ink = chr(self.cells[y * self.w + x]), self.ink[y * self.w + x]
        if glyph == ".":
            return "empty"
        if "a" <= glyph <= "z" and glyph != "x":
            return "ghost"
        if ink == 0 or glyph == ":":
            return "hint"
        return "played" if "A" <= glyph <= "Z" else "lying"

    @property
    def borders(self) -> tuple[int, ...]:
        """The rows above which a zone begins: the marks of empty cells change there, and one of them is a tint."""
        found, above = [], b""
        for y in range(self.h):
            row = range(y * self.w, (y + 1) * self.w)
            free = [bytes((self.cells[k], self.ink[k])) for k in row if self.cells[k] in b".:"]
            zone = free[-1] if free else above
            if above and zone != above and (zone[1] or above[1]):
                found.append(y)
            above = zone
        return tuple(found)

    def joined(self, x: int, y: int) -> tuple[bool, ...]:
        """Return which neighbours have the same glyph: above, below, left, right."""
        k, w = y * self.w + x, self.w
        sides = ((y > 0, k - w), (y < self.h - 1, k + w), (x > 0, k - 1), (x < w - 1, k + 1))
        return tuple(inside and self.cells[at] == self.cells[k] for inside, at in sides)


@dataclass(frozen=True)
class Tray:
    """Pieces beside the boards: the next ones (seat -1), or those that a seat still holds."""

    name: str
    seat: int
    pieces: tuple[Board, ...]


@dataclass(frozen=True)
class Frame:
    """A position for display."""

    boards: tuple[Board, ...]  # from left to right
    trays: tuple[Tray, ...]  # pieces beside the boards
    notes: tuple[str, ...]  # lines of text
    by_seat: bool  # colours stand for seats, not for kinds of pieces

    @classmethod
    def from_wire(cls, d: dict[str, Any]) -> Frame:
        """Read the result of ``render``; boards that only show a next piece become a tray."""
        boards = [_board(b) for b in d["boards"]]
        main = [b for k, b in enumerate(boards) if k == 0 or not b.name.startswith("next")]
        trays = [Tray(t["name"], t["seat"], tuple(map(_board, t["pieces"]))) for t in d.get("trays") or ()]
        if upcoming := [piece for b in boards if b not in main and (piece := _cropped(b))]:
            trays.insert(0, Tray("next", -1, tuple(upcoming)))
        pieces = [*main, *(p for t in trays for p in t.pieces)]
        by_seat = any(ord("0") <= glyph <= ord("9") for b in pieces for glyph in b.cells)
        notes = [part.strip() for note in d["notes"] for part in note.replace("|", "\n").split("\n")]
        return cls(tuple(main), tuple(trays), tuple(note for note in notes if note), by_seat)


def _board(d: dict[str, Any]) -> Board:
    return Board(d["name"], d["w"], d["h"], bytes(d["cells"]), bytes(d["ink"]))


def _cropped(b: Board) -> Board | None:
    """Return the smallest part of a board that contains all its coloured cells; None if there are none."""
    if not any(b.ink):
        return None
    coloured = [k for k, ink in enumerate(b.ink) if ink]
    left, right = min(k % b.w for k in coloured), max(k % b.w for k in coloured) + 1
    rows = range(coloured[0] // b.w, coloured[-1] // b.w + 1)
    at = [y * b.w + x for y in rows for x in range(left, right)]
    cells = bytes(b.cells[k] if b.ink[k] else ord(".") for k in at)
    return Board("", right - left, len(rows), cells, bytes(b.ink[k] for k in at))
