"""What notebooks show of environments."""

from __future__ import annotations

from html import escape
from typing import TYPE_CHECKING

from .errors import BlockyardError
from .svg import Svg

if TYPE_CHECKING:
    from .vector import BlockVectorEnv

_MOST = 4  # games that are shown


def game_page(env: BlockVectorEnv, game: int = 0) -> Svg | None:
    """Return a picture of a game; None where there is none to be had now. Nothing is ever raised for a look."""
    try:
        picture: Svg = env.picture(game, "svg")
    except (BlockyardError, RuntimeError):  # closed, not reset yet, or amid a step
        return None
    return picture


def page(env: BlockVectorEnv) -> str:
    """Return facts of an environment and pictures of its first games as HTML."""
    games = "a game" if env.num_games == 1 else f"{env.num_games:,} games"
    rows = "" if env.num_envs == env.num_games else f" · {env.num_envs:,} rows"
    facts = env.facts
    words = f"<b>{escape(facts.id)}</b> · {games}{rows} · {facts.actions:,} actions · {env.autoreset_mode.value}"
    pictures = [game_page(env, i) for i in range(min(_MOST, env.num_games))]
    shown = "".join(f"<div>{picture}</div>" for picture in pictures if picture)
    if not shown:
        return f"<div>{words}</div>"
    left = env.num_games - _MOST
    more = f"<div>… and {left:,} more: <code>env.picture(i, 'svg')</code></div>" if left > 0 else ""
    return f'<div>{words}</div><div style="display:flex;flex-wrap:wrap;gap:12px;margin:8px 0">{shown}</div>{more}'
