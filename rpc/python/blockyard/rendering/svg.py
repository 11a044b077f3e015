"""Displays positions in notebooks: SVG pictures that the server has drawn, and environments with their positions."""

from __future__ import annotations

import re
from collections.abc import Callable
from html import escape

from ..errors import BlockyardError, ProtocolError

_MOST = 4  # games of an environment that are shown
_TAG = re.compile(r"<[^>]*>?")
# A tag of a picture: the elements that the server draws with, and attributes that load and run nothing.
_DRAWN = re.compile(
    r"</?(svg|defs|pattern|rect|linearGradient|stop|g|path|text)"
    r"""( (?!on|style|href|src)[A-Za-z][A-Za-z0-9-]*="(?:[^"<>&]|&[a-z#0-9]+;)*")*/?>"""
)


class Svg(str):
    """SVG text that notebooks display as a picture; ``Path("game.svg").write_text(picture)`` saves it."""

    def _repr_svg_(self) -> str:
        return str(self)

    _repr_html_ = _repr_svg_

    @classmethod
    def from_server(cls, text: str) -> Svg:
        """Return the picture that a server has drawn. ProtocolError: it has code, or more than shapes and texts."""
        for tag in _TAG.findall(str(text)):
            if not _DRAWN.fullmatch(tag):
                wrong = f"render: the picture has {tag[:40]!r}, want shapes and texts only"
                raise ProtocolError(f"{wrong}: connect to a server that you trust")
        return cls(text)


Picture = Callable[[int, str], Svg]  # of a game, given its index and "svg"


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
