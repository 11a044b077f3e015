"""Renders positions as SVG, and environments with their positions as HTML: what notebooks display."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from html import escape

from ..errors import BlockyardError
from .colours import LIGHT, Theme
from .frames import Board, Frame, Tray

_PAD, _GAP, _HIGH = 18, 22, 430  # pixels: margin, between columns, largest height of a board
_MOST = 4  # games of an environment that are shown
_FONT = "system-ui,'Segoe UI',Roboto,'Helvetica Neue','Noto Sans','DejaVu Sans',sans-serif"


class Svg(str):
    """SVG text that notebooks display as a picture; ``Path("game.svg").write_text(picture)`` saves it."""

    def _repr_svg_(self) -> str:
        return str(self)

    _repr_html_ = _repr_svg_


Picture = Callable[[int, str], Svg]  # of a game, given its index and "svg"


def svg(frame: Frame, title: str = "", theme: Theme = LIGHT) -> Svg:
    """Return a position as an SVG picture, below a line of text."""
    return _Drawing(frame, title, theme).whole()


class _Drawing:
    """The parts of a picture, and its size so far, in pixels."""

    def __init__(self, frame: Frame, title: str, theme: Theme) -> None:
        self.frame, self.title, self.theme = frame, title, theme
        self.cell = max(4, min(22, _HIGH // max((b.h for b in frame.boards), default=1)))
        self.parts: list[str] = []
        self.width = self.height = 0.0

    def whole(self) -> Svg:
        top = _PAD + (24 if self.title else 0)
        if self.title:
            self.text(_PAD, _PAD + 13, self.title, size=15, weight=650)
        left: float = _PAD
        names = any(self.named(b) for b in self.frame.boards)
        for board in self.frame.boards:
            if self.named(board):
                self.text(left, top + 12, board.name, size=12.5, colour=self.theme.muted)
            wide, high = self.board(board, left, top + (20 if names else 0))
            left += max(wide, self.length(board.name, 12.5) if self.named(board) else 0) + _GAP
            self.height = max(self.height, top + (20 if names else 0) + high)
        self.width = max(self.width, left - _GAP)
        if trays := [t for t in self.frame.trays if t.pieces]:
            self.trays(trays, left, top + (20 if names else 0))
        y = self.height + 4
        for note in self.frame.notes:
            y += 18
            self.text(_PAD, y, note, size=12.5, colour=self.theme.muted)
        self.height = max(self.height, y) if self.frame.notes else self.height
        return self.sheet(round(self.width + _PAD), round(self.height + _PAD))

    def sheet(self, w: int, h: int) -> Svg:
        t, body = self.theme, "".join(self.parts)
        # A page may contain many pictures, so the id of the gradient depends on the content.
        name = "by" + hashlib.sha256(body.encode()).hexdigest()[:10]
        label = escape(", ".join(filter(None, [self.title, *self.frame.notes])) or "a position", quote=True)
        return Svg(
            f'<svg xmlns="http://www.w3.org/2000/svg" width="{w}" height="{h}" viewBox="0 0 {w} {h}" role="img" '
            f'aria-label="{label}" font-family="{_FONT}">'
            f'<defs><linearGradient id="{name}" x2="0" y2="1"><stop stop-color="#fff" stop-opacity=".2"/>'
            '<stop offset=".5" stop-color="#fff" stop-opacity="0"/><stop offset=".5" stop-opacity="0"/>'
            '<stop offset="1" stop-opacity=".1"/></linearGradient></defs>'
            f'<rect x=".5" y=".5" width="{w - 1}" height="{h - 1}" rx="14" fill="{t.paper}" stroke="{t.line}"/>'
            + body.replace("url(#light)", f"url(#{name})")
            + "</svg>"
        )

    def named(self, board: Board) -> bool:
        return board.name not in ("", "board") and not (len(self.frame.boards) == 1 and self.title)

    @staticmethod
    def length(text: str, size: float) -> float:
        return 0.6 * size * len(text)

    def text(self, x: float, y: float, text: str, size: float = 13, weight: int = 400, colour: str = "") -> None:
        self.width = max(self.width, x + self.length(text, size))
        style = f'font-size="{size}" font-weight="{weight}" fill="{colour or self.theme.text}"'
        self.parts.append(f'<text x="{_n(x)}" y="{_n(y)}" {style}>{escape(text)}</text>')

    def rect(self, x: float, y: float, w: float, h: float, style: str) -> None:
        self.parts.append(f'<rect x="{_n(x)}" y="{_n(y)}" width="{_n(w)}" height="{_n(h)}" {style}/>')

    def path(self, d: str, style: str) -> None:
        self.parts.append(f'<path {style} d="{d}"/>')

    def board(self, b: Board, x: float, y: float) -> tuple[float, float]:
        px, t = self.cell, self.theme
        w, h = b.w * px + 6, b.h * px + 6
        self.rect(x + 0.5, y + 0.5, w - 1, h - 1, f'rx="7" fill="{t.well}" stroke="{t.line}"')
        gap = max(1.0, round(px / 22))
        empty = [
            _rounded(x + 3 + u * px + gap / 2, y + 3 + v * px + gap / 2, px - gap, px - gap, px * 0.13)
            for v in range(b.h)
            for u in range(b.w)
        ]
        self.path("".join(empty), f'fill="{t.ink[0]}"')
        self.cells(b, x + 3, y + 3, px)
        for row in b.borders:
            self.path(f"M{_n(x + 3)} {_n(y + 3 + row * px)}h{_n(b.w * px)}", f'stroke="{t.muted}"')
        return w, h

    def cells(self, b: Board, x: float, y: float, px: float, plain: bool = False) -> None:
        gap, t = max(1.0, round(px / 22)) if px >= 8 else 0.75, self.theme
        for v in range(b.h):
            for u in range(b.w):
                kind, ink = b.kind(u, v), b.ink[v * b.w + u]
                at = (x + u * px, y + v * px)
                colour = self.theme.cell(ink, self.frame.by_seat)
                if plain:
                    if ink and kind not in ("empty", "hint"):
                        self.block(b, u, v, *at, px, gap, colour, rim=False)
                elif kind == "ghost":
                    self.ghost(b, u, v, *at, px, colour)
                elif kind in ("empty", "hint") and (ink or kind == "hint"):
                    shape = _rounded(at[0] + gap / 2, at[1] + gap / 2, px - gap, px - gap, px * 0.13)
                    tint, opacity = (colour, ".16") if ink else (t.shade, ".55")
                    self.path(shape, f'fill="{tint}" fill-opacity="{opacity}"')
                elif kind != "empty":
                    self.block(b, u, v, *at, px, gap, colour, rim=kind == "played")

    def block(
        self, b: Board, u: int, v: int, x: float, y: float, px: float, gap: float, colour: str, rim: bool
    ) -> None:
        joined = self.frame.by_seat
        up, down, left, right = b.joined(u, v) if joined else (False,) * 4
        half, r = gap / 2, px * 0.16
        x0, y0 = x + (0 if left else half), y + (0 if up else half)
        x1, y1 = x + px - (0 if right else half), y + px - (0 if down else half)
        corners = tuple(0.0 if p or q else r for p, q in ((up, left), (up, right), (down, right), (down, left)))
        shape = _rounded(x0, y0, x1 - x0, y1 - y0, corners)
        self.path(shape, f'fill="{colour}"')
        if joined:
            d = px * 0.30
            inner = _rounded(x + d, y + d, px - 2 * d, px - 2 * d, px * 0.1)
            self.path(inner, 'fill="#fff" fill-opacity=".2"')
            return
        self.path(shape, 'fill="url(#light)"')
        if rim:
            line = max(1.0, px * 0.07)
            inner = _rounded(x0 + line, y0 + line, x1 - x0 - 2 * line, y1 - y0 - 2 * line, r * 0.8)
            self.path(inner, f'fill="none" stroke="#fff" stroke-opacity=".78" stroke-width="{_n(line)}"')

    def ghost(self, b: Board, u: int, v: int, x: float, y: float, px: float, colour: str) -> None:
        """Draw a cell where a piece would land: hatched, with a line around the whole piece."""
        every, lines = px / 3, []
        d = -px + every / 2
        while d < px:
            start = (x, y + px + d) if d < 0 else (x + d, y + px)
            end = (x + d + px, y) if d < 0 else (x + px, y + d)
            lines.append(f"M{_n(start[0])} {_n(start[1])}L{_n(end[0])} {_n(end[1])}")
            d += every
        edges = ((x, y, "h"), (x, y + px, "h"), (x, y, "v"), (x + px, y, "v"))
        lonely = zip(edges, b.joined(u, v), strict=True)
        around = "".join(f"M{_n(left)} {_n(top)}{to}{_n(px)}" for (left, top, to), joined in lonely if not joined)
        thin, thick = _n(max(0.8, px * 0.06)), _n(max(1.5, px * 0.1))
        self.rect(x, y, px, px, f'fill="{colour}" fill-opacity=".22"')
        self.path("".join(lines), f'stroke="{colour}" stroke-opacity=".75" stroke-width="{thin}"')
        if around:
            self.path(around, f'stroke="{colour}" stroke-width="{thick}" stroke-linecap="square"')

    def trays(self, trays: list[Tray], left: float, top: float) -> None:
        """Draw pieces to the right of the boards: those of a seat in rows, others in a column."""
        y = top
        for tray in trays:
            if tray.seat < 0:
                self.text(left, y + 12, tray.name, size=12.5, colour=self.theme.muted)
                y = self.stack(tray, left, y + 22)
                continue
            self.rect(left, y + 4, 8, 8, f'rx="4" fill="{self.theme.seat[tray.seat % 4]}"')
            self.text(left + 14, y + 12, f"seat {tray.seat} · {tray.name}", size=12.5, colour=self.theme.muted)
            y = self.rows(tray, left, y + 22)
        self.height = max(self.height, y - 8)

    def stack(self, tray: Tray, left: float, y: float) -> float:
        size = max(6.0, self.cell * 0.62)
        for piece in tray.pieces:
            self.cells(piece, left, y, size, plain=True)
            self.width = max(self.width, left + piece.w * size)
            y += piece.h * size + size * 0.9
        return y + 8

    def rows(self, tray: Tray, left: float, y: float) -> float:
        size, max_width = max(5.0, min(8.0, self.cell * 0.4)), 190.0
        x, high = left, 0.0
        for piece in tray.pieces:
            w, h = piece.w * size, piece.h * size
            if x > left and x + w > left + max_width:
                x, y, high = left, y + high + size, 0.0
            self.cells(piece, x, y, size, plain=True)
            self.width = max(self.width, x + w)
            x, high = x + w + size * 1.2, max(high, h)
        return y + high + 20


def _n(v: float) -> str:
    return f"{v:.2f}".rstrip("0").rstrip(".")


def _rounded(x: float, y: float, w: float, h: float, r: float | tuple[float, ...]) -> str:
    """Return the path of a rectangle with round corners.

    r is the radius of all corners, or of each: top left, top right, bottom right, bottom left.
    """
    a, b, c, d = (r, r, r, r) if isinstance(r, float) else r
    arc = [f"a{_n(k)} {_n(k)} 0 0 1 {dx}{_n(k)} {dy}{_n(k)}" if k else "" for k, dx, dy in
           ((b, "", ""), (c, "-", ""), (d, "-", "-"), (a, "", "-"))]  # fmt: skip
    lines = (w - a - b, h - b - c, c + d - w, d + a - h)
    sides = "".join(f"{'hv'[k % 2]}{_n(lines[k])}{arc[k]}" for k in range(4))
    return f"M{_n(x + a)} {_n(y)}{sides}z"


def game_picture(picture: Picture, game: int = 0) -> Svg | None:
    """Return a picture of a game; None if there is none now. A notebook must not fail because it displays something."""
    try:
        return picture(game, "svg")
    except (BlockyardError, RuntimeError):  # closed, not reset yet, or in the middle of a step
        return None


def page(title: str, facts: str, picture: Picture, games: int) -> str:
    """Return HTML with a title, a line of facts, and pictures of the first games."""
    words = f"<b>{escape(title)}</b> · {escape(facts)}"
    pictures = [game_picture(picture, i) for i in range(min(_MOST, games))]
    shown = "".join(f"<div>{svg}</div>" for svg in pictures if svg)
    if not shown:
        return f"<div>{words}</div>"
    left = games - _MOST
    more = f"<div>… and {left:,} more: <code>env.picture(i, 'svg')</code></div>" if left > 0 else ""
    return f'<div>{words}</div><div style="display:flex;flex-wrap:wrap;gap:12px;margin:8px 0">{shown}</div>{more}'
