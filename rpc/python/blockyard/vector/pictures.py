"""Pictures of the games of an environment: for ``render``, for a screen and for notebooks."""

from __future__ import annotations

from typing import Any

from gymnasium.core import RenderFrame

from ..formats.spec import GameSpec
from ..rendering.frames import Frame
from ..rendering.human import Display
from ..rendering.notebook import page
from ..rendering.rgb import rgb
from ..rendering.svg import svg
from .requests import Requests

FPS = 4


class Pictures:
    """Draws games, each with a request to the server.

    Attributes:
        mode: the ``render_mode`` of the environment.
    """

    def __init__(self, requests: Requests, spec: GameSpec, mode: str | None) -> None:
        """Draw the games of an environment in this ``render_mode`` by default."""
        self._requests, self._spec, self.mode = requests, spec, mode
        self._screen = Display(fps=FPS)

    def of(self, game: int, mode: str | None = None) -> Any:
        """Return a picture of one game; see :meth:`BlockVectorEnv.picture`."""
        if mode is None:
            mode = self.mode if self.mode in ("rgb_array", "svg") else "ansi"
        if mode not in ("svg", "rgb_array"):
            return self._requests.call("render", game, {"mode": mode})
        frame = Frame.from_wire(self._requests.call("render", game, {"mode": "frame"}))
        if mode == "rgb_array":
            return rgb(frame)
        name = self._spec.id
        return svg(frame, name if self._requests.transport.handle.games == 1 else f"{name} · game {game}")

    def of_rows(self) -> tuple[RenderFrame, ...] | None:
        """Return a picture of every row's game; None if render returns none."""
        if self.mode in (None, "human"):
            return None
        handle = self._requests.transport.handle
        return tuple(shown for i in range(handle.games) for shown in [self.of(i)] * handle.rows_per_game)

    def display(self) -> None:
        """Display the first game, in a terminal or a notebook."""
        self._screen.show(lambda mode: self.of(0, mode))

    def page(self, autoreset: str) -> str:
        """Return what a notebook displays: the game and its size, and pictures of the first games."""
        handle = self._requests.transport.handle
        games = "1 game" if handle.games == 1 else f"{handle.games:,} games"
        rows = "" if handle.rows == handle.games else f" · {handle.rows:,} rows"
        words = f"{games}{rows} · {self._spec.actions:,} actions · {autoreset}"
        return page(self._spec.id, words, self.of, handle.games)
