"""What notebooks display for environments."""

from __future__ import annotations

from collections.abc import Callable
from html import escape

from ..errors import BlockyardError
from .svg import Svg

_MOST = 4  # games that are shown

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
