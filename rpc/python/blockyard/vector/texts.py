"""Actions and observations as plain text: for people, logs, and policies that read and write text."""

from __future__ import annotations

from typing import Any

from ..formats.arguments import Ids
from .requests import Requests


class Texts:
    """Converts actions of a game to text and back, and describes its positions."""

    def __init__(self, requests: Requests, game: str) -> None:
        self._requests, self._game = requests, game

    def text(self, actions: Any) -> Any:
        """Return actions as text; see :meth:`BlockVectorEnv.text`."""
        self._requests.check("text")
        transport = self._requests.transport
        return transport.retry(lambda: transport.client.text(self._game, actions))

    def parse(self, texts: Any) -> Any:
        """Return the actions that texts stand for; see :meth:`BlockVectorEnv.parse`."""
        self._requests.check("parse")
        transport = self._requests.transport
        return transport.retry(lambda: transport.client.parse(self._game, texts))

    def observations(self, env_ids: Ids, legal: bool) -> list[str]:
        """Return the observations of rows; see :meth:`BlockVectorEnv.observation_texts`."""
        self._requests.transport.client.require("parse", "observation_texts")
        pages = self._requests.pages("observe_text", env_ids, {"legal": bool(legal)})
        return [text for page in pages for text in page["texts"]]
