"""Pictures of games: as text, as pixels, in notebooks, and on the screen."""

from __future__ import annotations

from typing import Any

from ..rendering.frames import Frame
from ..rendering.human import Display
from ..rendering.rgb import rgb
from ..rendering.svg import svg
from .batch import Batch
from .requests import Requests


class Pictures:
    """Draws games of an environment."""

    def __init__(self, requests: Requests, batch: Batch) -> None:
        self._requests, self._batch = requests, batch
        self._screen: Display | None = None

    def picture(self, game: int, mode: str) -> Any:
        """Return a picture of one game; see :meth:`BlockVectorEnv.picture`."""
        if mode not in ("svg", "rgb_array"):
            return self._requests.call("render", game, {"mode": mode})
        frame = Frame.from_wire(self._requests.call("render", game, {"mode": "frame"}))
        if mode == "rgb_array":
            return rgb(frame)
        name = self._batch.spec.id
        return svg(frame, name if self._batch.num_games == 1 else f"{name} · game {game}")

    def show(self) -> None:
        """Display the first game, in a terminal or a notebook."""
        if self._screen is None:
            self._screen = Display(fps=4)
        self._screen.show(lambda mode: self.picture(0, mode))
