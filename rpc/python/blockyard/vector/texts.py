"""Actions and observations as plain text: for people, logs, and policies that read and write text."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from ..formats.arguments import Ids
from .search import Search


class Texts(Search):
    """The part of BlockVectorEnv that reads and writes text."""

    @overload
    def text(self, actions: int | np.integer[Any]) -> str: ...
    @overload
    def text(self, actions: Sequence[int] | NDArray[Any]) -> list[str]: ...
    def text(self, actions: Any) -> str | list[str]:
        """Return an action as text, such as ``"r2 x4 y17 spin"``; or a list of texts for several actions.

        Raises:
            RequestError: an action is outside of the action space.
        """
        self._refuse_pending("text")
        texts: str | list[str] = self._transport.retry(
            lambda: self._transport.client.text(self.game_spec.name, actions)
        )
        return texts

    @overload
    def parse(self, texts: str) -> int: ...
    @overload
    def parse(self, texts: list[str] | tuple[str, ...]) -> NDArray[np.int64]: ...
    def parse(self, texts: str | list[str] | tuple[str, ...]) -> int | NDArray[np.int64]:
        """Return the action that a text stands for, the inverse of :meth:`text`; or int64 (n,) for several texts.

        Whether the action is legal now is another question: see ``action_masks``.

        Raises:
            RequestError: a text is no action; the message shows it, and an example of one that is.
        """
        self._refuse_pending("parse")
        return self._transport.retry(lambda: self._transport.client.parse(self.game_spec.name, texts))

    def observation_texts(self, env_ids: Ids = None, *, legal: bool = True) -> list[str]:
        """Return the observation of each row of these games as plain text without colour codes.

        A text says whose turn it is, shows the position and the pieces to come, as far as they are known, and lists
        the legal actions as :meth:`text` writes them, separated by ``"; "``.

        Args:
            env_ids: indices of games; None means all.
            legal: whether to list the legal actions.

        Raises:
            NeedsResetError: the environment was not reset yet.
        """
        self._transport.client.require("parse", "observation_texts")
        pages = self._pages("observe_text", env_ids, {"legal": bool(legal)})
        return [text for page in pages for text in page["texts"]]
